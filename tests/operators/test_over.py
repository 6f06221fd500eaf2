"""Aggregates OVER frames against window functions of DuckDB: random rows, batches, watermarks and clocks."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.over.by_any_order import OverAnyOrder
from rowkind.operators.over.by_time import Over
from rowkind.operators.rank.top_n import Rank
from rowkind.operators.timers import LATE
from rowkind.state.contract import Order
from tests.operators.harness import Engine, Row, canonical, delta_of, entries_left
from tests.operators.tables import KIND, Bag, Changing
from tests.operators.test_window_aggregate import START, micros
from tests.seeds import seeds

DUCK = duckdb.connect(config={"threads": 1})
SECOND = timedelta(seconds=1)
COLUMNS: list[tuple[str, pa.DataType]] = [
    ("k", pa.string()),
    ("ts", pa.timestamp("us")),
    ("v", pa.int32()),
    ("d", pa.float64()),
    ("s", pa.string()),
    ("f", pa.bool_()),
    ("id", pa.int64()),
]
INPUT = pa.schema([*COLUMNS, KIND])

AGGREGATES = {
    "COUNT(*) OVER w": AggregateCall("COUNT", None, pa.int64(), "n"),
    "COUNT(v) FILTER (WHERE f) OVER w": AggregateCall("COUNT", "v", pa.int64(), "nf", filter="f"),
    "SUM(v) OVER w": AggregateCall("SUM", "v", pa.int32(), "sum"),
    "SUM(d) OVER w": AggregateCall("SUM", "d", pa.float64(), "sumd"),
    "STDDEV_POP(d) OVER w": AggregateCall("STDDEV_POP", "d", pa.float64(), "spread"),
    "TRUNC(SUM(v) OVER w / COUNT(v) OVER w)": AggregateCall("AVG", "v", pa.int32(), "avg"),
    "MIN(v) OVER w": AggregateCall("MIN", "v", pa.int32(), "least"),
    "MAX(s) OVER w": AggregateCall("MAX", "s", pa.string(), "most"),
    "COUNT(DISTINCT s) OVER w": AggregateCall("COUNT", "s", pa.int64(), "ns", distinct=True),
    "SUM(DISTINCT v) FILTER (WHERE f) OVER w": AggregateCall("SUM", "v", pa.int32(), "sumv", distinct=True, filter="f"),
    "FIRST_VALUE(s IGNORE NULLS) OVER w": AggregateCall("FIRST_VALUE", "s", pa.string(), "first"),
    "LAST_VALUE(v IGNORE NULLS) OVER w": AggregateCall("LAST_VALUE", "v", pa.int32(), "last"),
}
LISTS = {
    "STRING_AGG(s, '|') OVER w": AggregateCall("LISTAGG", "s", pa.string(), "text", separator="|"),
    "LIST(v) OVER w": AggregateCall("ARRAY_AGG", "v", pa.list_(pa.int32()), "list"),
}
LAGS = {
    "LAG(v) OVER o": AggregateCall("LAG", "v", pa.int32(), "lag"),
    "LAG(s, 3, s) OVER o": AggregateCall("LAG", "s", pa.string(), "lag3", offset=3, default="s"),
}
LEAD = {"LEAD(v, 2) OVER o": AggregateCall("LAG", "v", pa.int32(), "lead", offset=-2)}
OF_PEERS = (
    "LAST_VALUE({}) OVER (PARTITION BY k, ts ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
)


def chosen(rng: random.Random, *calls: dict[str, AggregateCall]) -> dict[str, AggregateCall]:
    every = {text: call for some in calls for text, call in some.items()}
    return {text: every[text] for text in rng.sample(list(every), rng.randrange(1, 6))}


def row(rng: random.Random, at: float, number: int) -> Row:
    return {
        "k": rng.choice(["a", "b", None]),
        "ts": START + SECOND * at,
        "v": rng.choice([None, *range(-3, 9)]),
        "d": rng.choice([None, -1.5, 0.25, 1e6, 3.0]),
        "s": rng.choice([None, "x", "y", "zz"]),
        "f": rng.choice([None, True, False]),
        "id": number,
    }


def answers(rows: list[Row], texts: list[str], order: str, frame: str, of_rows: str) -> Counter[tuple[Any, ...]]:
    """What DuckDB gives for the rows. Lags are computed first; `of_rows` says what becomes of them."""
    given = pa.Table.from_pylist(rows, pa.schema([*COLUMNS, ("clock", pa.int64())]))
    lags = {text: f"lag{at}" for at, text in enumerate(texts) if text.endswith("OVER o")}
    shown = [of_rows.format(lags[text]) if text in lags else text for text in texts]
    early = ", ".join(["*", *(f"{text} AS {name}" for text, name in lags.items())])
    names = ", ".join(name for name, _ in COLUMNS)
    found = DUCK.execute(
        f"SELECT {names}, {', '.join(shown)} FROM "
        f"(SELECT {early} FROM given WINDOW o AS (PARTITION BY k ORDER BY {order})) "
        f"WINDOW w AS (PARTITION BY k ORDER BY {frame})"
    ).fetchall()
    assert given.num_rows == len(found)
    return Counter(tuple(map(canonical, values)) for values in found)


def bag(out: pa.Table) -> Counter[tuple[Any, ...]]:
    assert set(out.column(KIND_COLUMN).to_pylist()) <= {int(RowKind.INSERT)}
    return Counter(tuple(map(canonical, list(row.values())[:-1])) for row in out.to_pylist())


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("bound", ["all rows", "rows", "all times", "times"])
def test_event_time(tmp_path: Path, seed: int, bound: str) -> None:
    rng = random.Random(f"{seed} {bound}")
    n = rng.choice([0, 1, 3, 10])
    by_rows, preceding, frame = {
        "all rows": (True, None, "ts, id ROWS UNBOUNDED PRECEDING"),
        "rows": (True, n, f"ts, id ROWS {n} PRECEDING"),
        "all times": (False, None, "ts RANGE UNBOUNDED PRECEDING"),
        "times": (False, n * 1_000_000, f"ts RANGE INTERVAL {n} SECOND PRECEDING"),
    }[bound]
    # Of rows of one time any may be the first for DuckDB.
    calls = chosen(
        rng,
        AGGREGATES if by_rows else _without_endings(),
        LISTS if by_rows else {},
        LAGS if bound == "all times" else {},
    )
    operator = Over(INPUT, ("k",), tuple(calls.values()), by_rows, preceding, "ts")
    engine = Engine((operator,), tmp_path, 2, rng)
    rows: list[Row] = []
    before, at, late = -(2**63), 0, 0
    for number in range(10):
        fresh = [row(rng, at + rng.randrange(-4, 8), len(rows) + late + i) for i in range(rng.choice([0, 1, 5, 20]))]
        for made in fresh:
            if micros(made["ts"]) > before:
                rows.append(made)
            else:
                late += 1
        fresh_ids = [made["id"] for made in fresh]
        assert fresh_ids == sorted(fresh_ids)
        at += rng.randrange(0, 6)
        now = END_OF_TIME if number == 9 else max(before, micros(START + SECOND * at) - rng.choice([0, 1]))
        out = engine.batch(
            delta_of([(RowKind.INSERT, r) for r in fresh], INPUT), watermark=now, tasks=rng.choice([1, 3])
        )
        passed = [r for r in rows if micros(r["ts"]) <= now]
        expected = answers(passed, list(calls), "ts, id", frame, OF_PEERS)
        assert bag(out) == Counter({r: n for r, n in expected.items() if micros(r[1]) > before})
        times = out.column("ts").to_pylist()
        per_key = {
            k: [t for t, own in zip(times, out.column("k").to_pylist(), strict=True) if own == k]
            for k in ("a", "b", None)
        }
        assert all(found == sorted(found) for found in per_key.values())
        before = now
    assert engine.counters[LATE] == late
    left = entries_left(engine)
    assert "rows" not in left
    assert "closings" not in left
    if bound == "times":
        assert left == {}


def _without_endings() -> dict[str, AggregateCall]:
    return {text: call for text, call in AGGREGATES.items() if call.function not in ("FIRST_VALUE", "LAST_VALUE")}


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("bound", ["all", "rows", "times"])
def test_arrival(tmp_path: Path, seed: int, bound: str) -> None:
    rng = random.Random(f"{seed} {bound}")
    n = rng.choice([0, 1, 3, 10])
    by_rows, preceding, frame = {
        "all": (rng.random() < 0.5, None, "id ROWS UNBOUNDED PRECEDING"),
        "rows": (True, n, f"id ROWS {n} PRECEDING"),
        "times": (False, n * 1000, f"clock RANGE {n} PRECEDING"),
    }[bound]
    first = AGGREGATES if bound != "times" else _without_endings()
    calls = chosen(rng, first, LISTS if bound != "times" else {}, LAGS if bound == "all" else {})
    engine = Engine((Over(INPUT, ("k",), tuple(calls.values()), by_rows, preceding, None),), tmp_path, 2, rng)
    rows: list[Row] = []
    clock = 0
    for number in range(10):
        clock += rng.randrange(1, 6)
        fresh = [row(rng, 0, len(rows) + i) | {"clock": clock} for i in range(rng.choice([0, 1, 5, 20]))]
        rows += fresh
        ended = END_OF_TIME if number == 9 else None
        delta = delta_of([(RowKind.INSERT, {n: r[n] for n, _ in COLUMNS}) for r in fresh], INPUT)
        out = engine.batch(delta, clock_ms=clock, watermark=ended, tasks=rng.choice([1, 3]))
        ids = {made["id"] for made in fresh}
        expected = answers(rows, list(calls), "id", frame, "{}")
        assert bag(out) == Counter({r: n for r, n in expected.items() if r[6] in ids})
        if bound == "times" and fresh and number < 9:
            assert engine.due is None or engine.due <= (clock + n) * 1000
    if bound == "times":
        assert entries_left(engine) == {}


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("bound", ["all", "rows", "equal"])
@pytest.mark.parametrize("kept", ["appends", "changes", "key"])
def test_any_order(tmp_path: Path, seed: int, bound: str, kept: str) -> None:
    rng = random.Random(f"{seed} {bound} {kept}")
    n = rng.choice([0, 1, 3])
    by_rows, preceding, frame = {
        "all": (True, None, "v DESC NULLS LAST, id ROWS UNBOUNDED PRECEDING"),
        "rows": (True, n, f"v DESC NULLS LAST, id ROWS {n} PRECEDING"),
        "equal": (False, None, "v DESC NULLS LAST RANGE UNBOUNDED PRECEDING"),
    }[bound]
    calls = chosen(rng, AGGREGATES if by_rows else _without_endings(), LISTS if by_rows else {}, LAGS, LEAD)
    order = (Order("v", descending=True), Order("id"))
    ranked = Rank(
        INPUT,
        ("k",),
        order if by_rows or any(call.function == "LAG" for call in calls.values()) else order[:1],
        append_only=kept == "appends",
        identity=("id",) if kept == "key" else None,
        upsert_key=("id",) if kept == "key" else None,
    )
    if not by_rows and len(ranked.order) == 2:
        frame = "v DESC NULLS LAST, id RANGE UNBOUNDED PRECEDING"
    engine = Engine((OverAnyOrder(ranked, tuple(calls.values()), by_rows, preceding),), tmp_path, 2, rng)
    ids = iter(range(1000))
    table = Changing(rng, lambda: row(rng, 0, next(ids)), ("id",), appends=kept == "appends")
    found = Bag()
    for _ in range(6):
        changes = table.changes(rng.choice([0, 1, 4, 12]))
        found.apply(engine.batch(delta_of(changes, INPUT), tasks=rng.choice([1, 3])))
        assert found.rows == answers(table.rows, list(calls), "v DESC NULLS LAST, id", frame, "{}")


def test_rows_are_put_in_order(tmp_path: Path) -> None:
    engine = Engine((Over(INPUT, (), (), True, None, "ts"),), tmp_path, partitions=1)
    rng = random.Random(1)
    rows = [row(rng, at, number) for number, at in enumerate([5, 3, 9, 3])]
    delta = delta_of([(RowKind.INSERT, made) for made in rows], INPUT)
    out = engine.batch(delta, watermark=micros(START + 6 * SECOND), tasks=1)
    assert out.column("id").to_pylist() == [1, 3, 0]
    rest = engine.batch(delta_of([], INPUT), watermark=END_OF_TIME)
    assert rest.column("id").to_pylist() == [2]
    assert entries_left(engine) == {}


def test_a_row_without_time_is_an_error(tmp_path: Path) -> None:
    engine = Engine((Over(INPUT, (), (), True, None, "ts"),), tmp_path)
    made = row(random.Random(0), 0, 0) | {"ts": None}
    with pytest.raises(RowkindError, match="NULL_ROWTIME"):
        engine.batch(delta_of([(RowKind.INSERT, made)], INPUT))


def test_a_sum_beyond_its_type_is_an_error(tmp_path: Path) -> None:
    engine = Engine((Over(INPUT, (), (AGGREGATES["SUM(v) OVER w"],), True, 3, "ts"),), tmp_path)
    rows = [row(random.Random(0), 0, n) | {"v": 2**31 - 1} for n in range(2)]
    with pytest.raises(RowkindError, match="SUM_OVERFLOW"):
        engine.batch(delta_of([(RowKind.INSERT, made) for made in rows], INPUT), watermark=END_OF_TIME)


def test_idle_rows_of_a_range_are_removed_when_time_has_passed(tmp_path: Path) -> None:
    engine = Engine((Over(INPUT, ("k",), (AGGREGATES["COUNT(*) OVER w"],), False, 5_000_000, "ts"),), tmp_path)
    made = row(random.Random(0), 0, 0)
    engine.batch(delta_of([(RowKind.INSERT, made)], INPUT), watermark=micros(START))
    assert entries_left(engine)["tail"] == 1
    engine.batch(delta_of([], INPUT), watermark=micros(START + 5 * SECOND))
    assert entries_left(engine) == {}
