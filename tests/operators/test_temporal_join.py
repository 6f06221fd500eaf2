"""Temporal joins against a search through all versions, for random watermarks and batches."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.join_kind import JoinKind
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.join.temporal_join import TemporalJoin
from tests.operators.harness import Change, Engine, Row, delta_of, entries_left
from tests.operators.test_interval_join import SECOND, START
from tests.operators.test_window_aggregate import micros
from tests.seeds import seeds

KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)
LEFT = pa.schema([("k", pa.string()), ("lt", pa.timestamp("us")), ("a", pa.int32()), KIND])
RIGHT = pa.schema([("rk", pa.string()), ("rt", pa.timestamp("us")), ("b", pa.int32()), KIND])


def join(kind: JoinKind, proctime: bool = False) -> TemporalJoin:
    times = (None, None) if proctime else ("lt", "rt")
    return TemporalJoin(LEFT, RIGHT, kind, ("k",), ("rk",), *times)


def joined(kind: JoinKind, rows: list[Row], changes: list[Change], by_time: bool) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        versions = [c for c in changes if c[1]["rk"] == row["k"] and (not by_time or c[1]["rt"] <= row["lt"])]
        if by_time:
            versions.sort(key=lambda change: change[1]["rt"])
        last = versions[-1] if versions and row["k"] is not None else None
        if last is not None and last[0].adds:
            found[(*row.values(), *last[1].values())] += 1
        elif kind is JoinKind.LEFT:
            found[(*row.values(), None, None, None)] += 1
    return found


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("proctime", [False, True])
def test_random_rows(tmp_path: Path, seed: int, proctime: bool) -> None:
    rng = random.Random(seed)
    kind = rng.choice([JoinKind.INNER, JoinKind.LEFT])
    engine = Engine((join(kind, proctime),), tmp_path, 2, rng)
    waiting: list[Row] = []
    log: list[Change] = []
    at = 0
    for number in range(10):
        left: list[Row] = []
        right: list[Change] = []
        for _ in range(rng.choice([0, 2, 8])):
            time = START + SECOND * (at + rng.randrange(0, 30))
            key, v = rng.choice(["a", "b", "c", None]), rng.randrange(100)
            if rng.random() < 0.5:
                left.append({"k": key, "lt": time, "a": v})
            else:
                change = rng.choice([RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE])
                right.append((change, {"rk": key or "d", "rt": time, "b": v}))
        at += rng.randrange(0, 15)
        now = END_OF_TIME if number == 9 else micros(START + SECOND * at) - 1
        log += right
        waiting += left
        deltas = delta_of([(RowKind.INSERT, row) for row in left], LEFT), delta_of(right, RIGHT)
        out = engine.batch(*deltas, watermark=now, tasks=rng.choice([1, 3]))
        ready = [row for row in waiting if proctime or micros(row["lt"]) <= now]
        expected = joined(kind, ready, log, by_time=not proctime)
        assert Counter(tuple(row.values())[:-1] for row in out.to_pylist()) == expected
        waiting = [row for row in waiting if row not in ready]
    assert set(entries_left(engine)) <= {"versions"}


def test_old_versions_are_removed(tmp_path: Path) -> None:
    engine = Engine((join(JoinKind.INNER),), tmp_path)
    for second in range(5):
        change = (RowKind.INSERT, {"rk": "a", "rt": START + second * SECOND, "b": second})
        engine.batch(delta_of([], LEFT), delta_of([change], RIGHT), watermark=micros(START + second * SECOND))
    assert entries_left(engine) == {"versions": 1}


def test_a_version_without_time_is_an_error(tmp_path: Path) -> None:
    engine = Engine((join(JoinKind.INNER),), tmp_path)
    with pytest.raises(RowkindError, match="NULL_ROWTIME"):
        engine.batch(delta_of([], LEFT), delta_of([(RowKind.INSERT, {"rk": "a", "rt": None, "b": None})], RIGHT))


@pytest.mark.parametrize("together", [False, True])
def test_a_delete_that_has_only_its_key_says_no_time_and_is_counted(tmp_path: Path, together: bool) -> None:
    engine = Engine((join(JoinKind.INNER),), tmp_path)
    versions: list[Change] = [
        (RowKind.INSERT, {"rk": "a", "rt": START + second * SECOND, "b": second}) for second in (0, 5)
    ]
    tombstone: Change = (RowKind.DELETE, {"rk": "a", "rt": None, "b": None})
    for changes in [[*versions, tombstone]] if together else [versions, [tombstone]]:
        engine.batch(delta_of([], LEFT), delta_of(changes, RIGHT))
    asked = [(RowKind.INSERT, {"k": "a", "lt": START + second * SECOND, "a": second}) for second in (3, 7)]
    found = engine.batch(delta_of(asked, LEFT), delta_of([], RIGHT), watermark=micros(START + 10 * SECOND))
    assert [(row["a"], row["b"]) for row in found.to_pylist()] == [(3, 0), (7, 5)]
    assert engine.counters["deletes_without_time"] == 1
