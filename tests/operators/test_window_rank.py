"""Top-N of windows against a sort of the rows that came in time."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.timers import LATE
from rowkind.operators.window.window_rank import WindowRank
from rowkind.state.contract import Order
from tests.operators.harness import Change, Engine, Row, delta_of, entries_left
from tests.operators.test_window_aggregate import MINUTE, START, last_of, micros
from tests.seeds import seeds

INPUT = pa.schema(
    [
        ("start", pa.timestamp("us")),
        ("end", pa.timestamp("us")),
        ("g", pa.string()),
        ("v", pa.int32()),
        ("id", pa.int64()),
        pa.field(KIND_COLUMN, pa.int8(), nullable=False),
    ]
)


def ranked(rows: list[Row], first: int, last: int, descending: bool) -> Counter[tuple[Any, ...]]:
    """Rows are in order of arrival; NULL is the smallest value."""
    found: Counter[tuple[Any, ...]] = Counter()
    for key in {(r["end"], r["g"]) for r in rows}:
        members = [r for r in rows if (r["end"], r["g"]) == key]
        members.sort(key=lambda r: (r["v"] is not None, r["v"] or 0), reverse=descending)
        if descending:  # ties stay in order of arrival
            members.sort(key=lambda r: (r["v"] is None, -(r["v"] or 0)))
        found.update((*r.values(), n) for n, r in enumerate(members, 1) if first <= n <= last)
    return found


@pytest.mark.parametrize("seed", seeds(6))
def test_random_windows(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    retracts, descending = rng.random() < 0.4, rng.random() < 0.5
    first, last = rng.choice([(1, 1), (1, 3), (2, 4)])
    order = (Order("v", descending),)
    operator = WindowRank(INPUT, ("start", "end", "g"), order, first, last, pa.field("rn", pa.int64()), "end", "ts")
    engine = Engine((operator,), tmp_path, 2, rng)
    rows: list[Row] = []
    minute, late, ids, before = 0, 0, 0, -(2**63)
    for number in range(10):
        changes: list[Change] = []
        for _ in range(rng.choice([0, 1, 5, 20])):
            if retracts and rows and rng.random() < 0.25:
                changes.append((RowKind.DELETE, rows.pop(rng.randrange(len(rows)))))
                continue
            start = START + MINUTE * (minute + rng.randrange(-2, 3))
            ids += 1
            row = {
                "start": start,
                "end": start + MINUTE,
                "g": rng.choice("ab"),
                "v": rng.choice([None, 1, 2, 3]),
                "id": ids,
            }
            changes.append((RowKind.INSERT, row))
            if last_of(row) > before:
                rows.append(row)
            else:
                late += 1
        minute += rng.randrange(0, 2)
        now = END_OF_TIME if number == 9 else micros(START + MINUTE * minute) - rng.choice([0, 1000, 1001])
        now = max(now, before)
        out = engine.batch(delta_of(changes, INPUT), watermark=now, tasks=rng.choice([1, 3]))
        found = Counter(tuple(r.values())[:-1] for r in out.to_pylist())
        assert found == ranked([r for r in rows if last_of(r) <= now], first, last, descending)
        rows, before = [r for r in rows if last_of(r) > now], now
    assert engine.counters[LATE] == late
    assert entries_left(engine) == {}
