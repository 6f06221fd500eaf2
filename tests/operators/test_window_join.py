"""Window joins against all pairs of rows that came in time, for every kind of join."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.join_kind import JoinKind
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.timers import LATE
from rowkind.operators.window.window_join import WindowJoin, WindowSide
from tests.operators.harness import Change, Engine, Row, delta_of, entries_left
from tests.operators.test_interval_join import Less
from tests.operators.test_window_aggregate import MINUTE, START, micros
from tests.seeds import seeds

KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)
TIME = pa.timestamp("us")
LEFT = pa.schema([("ls", TIME), ("le", TIME), ("k", pa.string()), ("a", pa.int32()), KIND])
RIGHT = pa.schema([("rs", TIME), ("re", TIME), ("rk", pa.string()), ("b", pa.int32()), KIND])


def close(row: Row) -> int:
    return micros([*row.values()][1]) - 1000


def joined(kind: JoinKind, left: list[Row], right: list[Row], less: bool) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    lone = {id(b) for b in right}
    for a in left:
        same = [b for b in right if a["k"] is not None and (a["ls"], a["le"], a["k"]) == (b["rs"], b["re"], b["rk"])]
        same = [b for b in same if not less or a["a"] < b["b"]]
        lone -= {id(b) for b in same}
        if kind.filters:
            found[tuple(a.values())] += bool(same) is (kind is JoinKind.SEMI)
            continue
        found.update((*a.values(), *b.values()) for b in same)
        if not same and kind.unmatched[0]:
            found[(*a.values(), None, None, None, None)] += 1
    if kind.unmatched[1]:
        found.update((None, None, None, None, *b.values()) for b in right if id(b) in lone)
    return +found


@pytest.mark.parametrize("seed", seeds(6))
def test_random_windows(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    kind, less = rng.choice(list(JoinKind)), rng.random() < 0.3
    sides = WindowSide(LEFT, ("ls", "le", "k"), "le"), WindowSide(RIGHT, ("rs", "re", "rk"), "re")
    engine = Engine((WindowJoin(*sides, kind, Less() if less else None),), tmp_path, 2, rng)
    rows: tuple[list[Row], list[Row]] = ([], [])
    minute, late, before = 0, 0, -(2**63)
    for number in range(8):
        changes: tuple[list[Change], list[Change]] = ([], [])
        for _ in range(rng.choice([0, 2, 10])):
            side = rng.randrange(2)
            if rows[side] and rng.random() < 0.2:
                changes[side].append((RowKind.DELETE, rows[side].pop(rng.randrange(len(rows[side])))))
                continue
            start = START + MINUTE * (minute + rng.randrange(-1, 2))
            values = (start, start + MINUTE, rng.choice(["x", "y", None]), rng.randrange(3))
            row = dict(zip((LEFT, RIGHT)[side].names, values, strict=False))
            changes[side].append((RowKind.INSERT, row))
            if close(row) > before:
                rows[side].append(row)
            else:
                late += 1
        minute += rng.randrange(0, 2)
        now = max(before, END_OF_TIME if number == 7 else micros(START + MINUTE * minute) - rng.choice([0, 1000, 1001]))
        out = engine.batch(delta_of(changes[0], LEFT), delta_of(changes[1], RIGHT), watermark=now)
        ready = [[row for row in side if close(row) <= now] for side in rows]
        found = Counter(tuple(row.values())[:-1] for row in out.to_pylist())
        assert found == joined(kind, ready[0], ready[1], less)
        rows = ([r for r in rows[0] if close(r) > now], [r for r in rows[1] if close(r) > now])
        before = now
    assert engine.counters[LATE] == late
    assert entries_left(engine) == {}
