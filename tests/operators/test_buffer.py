"""The buffer of a sink: the last row of each key, held across batches until it is time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.buffer import Buffer
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.normalize import COALESCED
from tests.operators.harness import Change, Engine, delta_of, entries_left
from tests.seeds import seeds

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64()), (KIND_COLUMN, pa.int8())])
SECOND = 1_000_000
NEVER = 10**6


def engine(root: Path, max_rows: int = 100, seconds: int = NEVER, net: bool = False, partitions: int = 1) -> Engine:
    return Engine((Buffer(SCHEMA, ("k",), max_rows, seconds * SECOND, net),), root, partitions)


def put(key: str | None, value: int, kind: RowKind = RowKind.UPDATE_AFTER) -> Change:
    return kind, {"k": key, "v": value}


def gone(key: str) -> Change:
    return RowKind.DELETE, {"k": key, "v": None}


def batch(of: Engine, *changes: Change, second: int = 0, **more: Any) -> list[tuple[Any, ...]]:
    out = of.batch(delta_of(changes, SCHEMA), clock_ms=second * 1000, **more)
    return [(row["k"], row["v"] if row[KIND_COLUMN] != RowKind.DELETE else None) for row in out.to_pylist()]


def test_rows_are_held_across_batches_until_there_are_enough_keys(tmp_path: Path) -> None:
    buffer = engine(tmp_path, max_rows=3)
    assert batch(buffer, put("a", 1), put("b", 1)) == []
    assert batch(buffer, put("a", 2), put("a", 3)) == []
    assert entries_left(buffer) == {"held": 2}
    assert batch(buffer, put("b", 4), put("c", 4)) == [("a", 3), ("b", 4), ("c", 4)]
    assert entries_left(buffer) == {}
    assert batch(buffer) == []
    assert buffer.counters[COALESCED] == 3


def test_a_key_waits_for_the_interval_at_most_and_is_told_when(tmp_path: Path) -> None:
    buffer = engine(tmp_path, seconds=10)
    assert batch(buffer, put("a", 1), second=1) == []
    assert buffer.due == 11 * SECOND
    assert batch(buffer, put("a", 2), put("b", 2), second=9) == []
    assert buffer.due == 11 * SECOND
    assert batch(buffer, second=11) == [("a", 2), ("b", 2)]
    assert buffer.due is None
    assert batch(buffer, put("a", 3), second=12) == []
    assert buffer.due == 22 * SECOND


def test_everything_is_written_at_the_end_of_a_bounded_input(tmp_path: Path) -> None:
    buffer = engine(tmp_path, partitions=2)
    assert batch(buffer, put("a", 1), put("b", 1), put(None, 1)) == []
    assert sorted(map(str, batch(buffer, watermark=END_OF_TIME))) == ["('a', 1)", "('b', 1)", "(None, 1)"]


def test_the_last_kind_counts(tmp_path: Path) -> None:
    buffer = engine(tmp_path, max_rows=2)
    assert batch(buffer, put("a", 1)) == []
    assert batch(buffer, gone("a")) == []
    assert batch(buffer, gone("b"), put("b", 5)) == [("a", None), ("b", 5)]


def test_behind_a_stateful_operator_a_batch_is_weighed(tmp_path: Path) -> None:
    """Rows come in any order there: a row that is taken back and one that is put are told apart by their weights."""
    buffer = engine(tmp_path, max_rows=2, net=True)
    assert batch(buffer, put("a", 2), put("a", 1, RowKind.UPDATE_BEFORE)) == []
    assert batch(buffer, put("b", 7), put("b", 7, RowKind.DELETE)) == []
    assert batch(buffer, put("b", 8)) == [("a", 2), ("b", 8)]


@pytest.mark.parametrize("seed", seeds(8))
def test_what_is_written_in_the_end_is_the_last_row_of_each_key(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    buffer = engine(tmp_path, rng.randint(1, 8), rng.randint(1, 6), partitions=rng.randint(1, 3))
    buffer.rng = rng
    wanted: dict[Any, int | None] = {}
    found: dict[Any, int | None] = {}
    for second in range(20):
        keys = rng.choices("abcdefghij", k=rng.randint(0, 6))
        changes = [gone(k) if rng.random() < 0.3 else put(k, rng.randint(0, 99)) for k in keys]
        wanted |= {row["k"]: row["v"] for _, row in changes}
        out = batch(buffer, *changes, second=second)
        assert len({key for key, _ in out}) == len(out)
        found |= dict(out)
    found |= dict(batch(buffer, second=20, watermark=END_OF_TIME))
    assert found == wanted
