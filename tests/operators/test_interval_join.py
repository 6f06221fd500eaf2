"""Interval joins against all pairs within the bounds, for random watermarks and batches."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rowkind.errors import RowkindError
from rowkind.join_kind import JoinKind
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.changes import Bools
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.join.interval_join import IntervalJoin, IntervalSide
from tests.operators.harness import Engine, Row, delta_of, entries_left
from tests.operators.test_window_aggregate import micros
from tests.seeds import seeds

START = datetime(2024, 3, 1)
SECOND = timedelta(seconds=1)
KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)
LEFT = pa.schema([("k", pa.string()), ("lt", pa.timestamp("us")), ("a", pa.int32()), KIND])
RIGHT = pa.schema([("rk", pa.string()), ("rt", pa.timestamp("us")), ("b", pa.int32()), KIND])


class Less:
    """a < b"""

    columns = ("a", "b")

    def evaluate(self, pairs: pa.Table) -> Bools:
        return pc.less(pairs.column("a"), pairs.column("b")).fill_null(False).to_numpy()  # type: ignore[no-any-return]


def join(kind: JoinKind, lower: int, upper: int, residual: Less | None = None) -> IntervalJoin:
    left = IntervalSide(LEFT, ("k",), "lt", upper * 1_000_000)
    right = IntervalSide(RIGHT, ("rk",), "rt", -lower * 1_000_000)
    return IntervalJoin(left, right, kind, residual)


def expected(
    kind: JoinKind, left: list[Row], right: list[Row], lower: int, upper: int, less: bool
) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    lone = {id(r) for r in right}
    for a in left:
        partners = [
            b
            for b in right
            if a["k"] is not None
            and a["k"] == b["rk"]
            and a["lt"] + lower * SECOND <= b["rt"] <= a["lt"] + upper * SECOND
            and (not less or a["a"] < b["b"])
        ]
        lone -= {id(b) for b in partners}
        found.update((*a.values(), *b.values()) for b in partners)
        if not partners and kind.unmatched[0]:
            found[(*a.values(), None, None, None)] += 1
    if kind.unmatched[1]:
        found.update((None, None, None, *b.values()) for b in right if id(b) in lone)
    return found


@pytest.mark.parametrize("seed", seeds(6))
def test_random_rows(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice([JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL])
    lower, upper = rng.choice([(-10, 10), (0, 20), (-15, -5), (0, 0), (5, 30)])
    less = rng.random() < 0.3
    engine = Engine((join(kind, lower, upper, Less() if less else None),), tmp_path, 2, rng)
    left: list[Row] = []
    right: list[Row] = []
    out: Counter[tuple[Any, ...]] = Counter()
    at, now = 0, micros(START) - 1
    for number in range(10):
        new: tuple[list[Row], list[Row]] = ([], [])
        for _ in range(rng.choice([0, 2, 8])):
            # never late: no row is before the watermark
            time = START + SECOND * (at + rng.randrange(0, 30))
            key, v = rng.choice(["a", "b", None]), rng.randrange(3)
            if rng.random() < 0.5:
                new[0].append({"k": key, "lt": time, "a": v})
            else:
                new[1].append({"rk": key, "rt": time, "b": v})
        left += new[0]
        right += new[1]
        deltas = [delta_of([(RowKind.INSERT, r) for r in rows], s) for rows, s in zip(new, (LEFT, RIGHT), strict=True)]
        at += rng.randrange(0, 15)
        now = END_OF_TIME if number == 9 else micros(START + SECOND * at) - 1
        rows = engine.batch(*deltas, watermark=now, tasks=rng.choice([1, 3])).to_pylist()
        assert all(r[KIND_COLUMN] == RowKind.INSERT for r in rows)
        out.update(tuple(r.values())[:-1] for r in rows)
        inner = expected(JoinKind.INNER, left, right, lower, upper, less)
        assert Counter({k: n for k, n in out.items() if k[1] is not None and k[4] is not None}) == inner
    assert out == expected(kind, left, right, lower, upper, less)
    assert entries_left(engine) == {}


def test_an_unmatched_row_is_padded_when_time_has_passed_its_bound(tmp_path: Path) -> None:
    engine = Engine((join(JoinKind.LEFT, 0, 10),), tmp_path)
    row = delta_of([(RowKind.INSERT, {"k": "a", "lt": START, "a": 1})], LEFT)
    nothing = delta_of([], LEFT), delta_of([], RIGHT)
    bound = micros(START + 10 * SECOND)
    assert engine.batch(row, nothing[1], watermark=bound - 1).num_rows == 0
    assert engine.batch(*nothing, watermark=bound).num_rows == 1
    assert engine.batch(*nothing, watermark=END_OF_TIME).num_rows == 0


def test_a_row_that_is_too_late_meets_what_is_kept_and_no_other_late_row(tmp_path: Path) -> None:
    engine = Engine((join(JoinKind.FULL, -10, 10),), tmp_path)
    kept = delta_of([(RowKind.INSERT, {"rk": "a", "rt": START + 5 * SECOND, "b": 1})], RIGHT)
    late_left = delta_of([(RowKind.INSERT, {"k": "a", "lt": START, "a": 2})], LEFT)
    late_right = delta_of([(RowKind.INSERT, {"rk": "a", "rt": START, "b": 3})], RIGHT)
    passed = micros(START + 12 * SECOND)
    assert engine.batch(delta_of([], LEFT), kept, watermark=passed).num_rows == 0
    rows = engine.batch(late_left, late_right, watermark=passed).to_pylist()
    assert sorted((r["a"], r["b"]) for r in rows if r["a"]) == [(2, 1)]
    assert [r["b"] for r in rows if r["a"] is None] == [3]


def test_a_row_without_time_is_an_error(tmp_path: Path) -> None:
    engine = Engine((join(JoinKind.INNER, 0, 1),), tmp_path)
    row = delta_of([(RowKind.INSERT, {"k": "a", "lt": None, "a": 1})], LEFT)
    with pytest.raises(RowkindError, match="NULL_ROWTIME"):
        engine.batch(row, delta_of([], RIGHT))
