"""Normalisation against a dictionary, and the table of its rules."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.changes import STALE, SUPPRESSED
from rowkind.operators.normalize import COALESCED, Normalize
from tests.operators.harness import Change, Engine, Table, delta_of
from tests.seeds import seeds

KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)
INPUT = pa.schema([pa.field("k", pa.int64(), nullable=False), ("v", pa.string()), ("m", pa.float64()), KIND])
FILTERED = INPUT.append(pa.field("pass", pa.bool_()))


def row(k: int, v: str | None = None, m: float | None = None, **more: Any) -> dict[str, Any]:
    return {"k": k, "v": v, "m": m, **more}


def upsert(k: int, v: str | None, m: float | None = None, **more: Any) -> Change:
    return RowKind.INSERT, row(k, v, m, **more)


def delete(k: int, **more: Any) -> Change:
    return RowKind.DELETE, row(k, **more)


def changelog(rows: pa.Table) -> list[tuple[str, int, str | None]]:
    return [(RowKind(r[KIND_COLUMN]).symbol, r["k"], r["v"]) for r in rows.to_pylist()]


def run(engine: Engine, *changes: Change, clock_ms: int = 0) -> list[tuple[str, int, str | None]]:
    [operator] = engine.operators
    return changelog(engine.batch(delta_of(changes, operator.input_schemas[0]), clock_ms=clock_ms))


def test_rules(tmp_path: Path) -> None:
    engine = Engine([Normalize(INPUT, ("k",))], tmp_path)
    assert run(engine, upsert(1, "a")) == [("+I", 1, "a")]
    assert run(engine, upsert(1, "a")) == []
    assert run(engine, upsert(1, "b")) == [("-U", 1, "a"), ("+U", 1, "b")]
    assert run(engine, delete(1)) == [("-D", 1, "b")]
    assert run(engine, delete(1)) == []
    assert engine.counters == {SUPPRESSED: 1, STALE: 1}


def test_update_before_counts_as_delete(tmp_path: Path) -> None:
    engine = Engine([Normalize(INPUT, ("k",), update_before=False)], tmp_path)
    assert run(engine, upsert(1, "a")) == [("+I", 1, "a")]
    assert run(engine, upsert(1, "b")) == [("+U", 1, "b")]
    assert run(engine, (RowKind.UPDATE_BEFORE, row(1, "b"))) == [("-D", 1, "b")]


def test_last_row_of_a_batch_wins(tmp_path: Path) -> None:
    engine = Engine([Normalize(INPUT, ("k",))], tmp_path)
    assert run(engine, upsert(1, "a"), delete(1), upsert(1, "c"), upsert(2, "x"), delete(2)) == [("+I", 1, "c")]
    assert run(engine, delete(1), upsert(1, "c")) == []
    assert engine.counters[SUPPRESSED] == 1
    assert engine.counters[COALESCED] == 4


def test_equal_rows_keep_downstream_state_alive_under_a_ttl(tmp_path: Path) -> None:
    engine = Engine([Normalize(INPUT, ("k",), ttl_ms=100)], tmp_path)
    assert run(engine, upsert(1, "a"), clock_ms=1000) == [("+I", 1, "a")]
    assert run(engine, upsert(1, "a"), clock_ms=1050) == [("-U", 1, "a"), ("+U", 1, "a")]
    assert run(engine, upsert(1, "a"), clock_ms=1149) == [("-U", 1, "a"), ("+U", 1, "a")]
    assert run(engine, upsert(1, "b"), clock_ms=1249) == [("+I", 1, "b")]
    assert run(engine, delete(1), clock_ms=1349) == []


def test_pushed_filter_still_deletes(tmp_path: Path) -> None:
    engine = Engine([Normalize(FILTERED, ("k",), filter="pass")], tmp_path)
    assert run(engine, upsert(1, "no", **{"pass": False})) == []
    assert run(engine, upsert(1, "a", **{"pass": True})) == [("+I", 1, "a")]
    assert run(engine, upsert(1, "b", **{"pass": True})) == [("-U", 1, "a"), ("+U", 1, "b")]
    assert run(engine, upsert(1, "c", **{"pass": None})) == [("-D", 1, "b")]
    assert run(engine, delete(1, **{"pass": None})) == []


@pytest.mark.parametrize("seed", seeds(8))
def test_random_upserts(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    filtered = rng.random() < 0.4
    operator = Normalize(
        FILTERED if filtered else INPUT, ("k",), "pass" if filtered else None, update_before=rng.random() < 0.5
    )
    engine = Engine([operator], tmp_path, rng.choice([1, 3]), rng)
    table = Table(("k",), upsert=not operator.update_before)
    model: dict[Any, Any] = {}
    for _ in range(6):
        changes: list[Change] = []
        for _ in range(rng.choice([0, 1, 10, 50])):
            k = rng.randrange(12)
            more = {"pass": rng.choice([True, True, False, None])} if filtered else {}
            if rng.random() < 0.3:
                changes.append(delete(k, **more))
                model.pop(k, None)
            else:
                change = upsert(k, rng.choice([None, "a", "b"]), rng.choice([None, 0.5, float("nan")]), **more)
                changes.append(change)
                model[k] = change[1]
        table.apply(engine.batch(delta_of(changes, operator.input_schemas[0]), tasks=rng.choice([1, 2, 4])))
        expected = {
            (k,): {"k": k, "v": r["v"], "m": "NaN" if r["m"] is not None and r["m"] != r["m"] else r["m"]}
            for k, r in model.items()
            if not filtered or r["pass"]
        }
        assert table.rows == expected
