"""Sessions against a recomputation, for random watermarks, batches and retractions."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.changes import STALE
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.timers import LATE
from rowkind.operators.window.session_window import Sessions
from tests.operators.harness import Change, Engine, Row, delta_of, entries_left
from tests.operators.test_window_aggregate import micros
from tests.seeds import seeds

START = datetime(2024, 3, 1)
SECOND = timedelta(seconds=1)
GAP = 10 * SECOND
INPUT = pa.schema(
    [
        ("k", pa.string()),
        ("ts", pa.timestamp("us")),
        ("v", pa.int32()),
        pa.field(KIND_COLUMN, pa.int8(), nullable=False),
    ]
)
Made = Counter[tuple[object, ...]]


def engine_of(tmp_path: Path, rng: random.Random | None = None) -> Engine:
    operator = Sessions(INPUT, ("k",), "ts", GAP // timedelta(microseconds=1))
    return Engine((operator,), tmp_path, 2, rng or random.Random(0))


def sessions(rows: list[Row]) -> list[list[Row]]:
    """Rows by session."""
    found: list[list[Row]] = []
    for row in sorted(rows, key=lambda r: (r["k"] or "", r["k"] is None, r["ts"])):
        last = found[-1][-1] if found else None
        if last is not None and last["k"] == row["k"] and row["ts"] <= last["ts"] + GAP:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def close_of(session: list[Row]) -> int:
    return micros(session[-1]["ts"] + GAP) - 1000


def windows(session: list[Row]) -> Made:
    start, end = session[0]["ts"], session[-1]["ts"] + GAP
    last = end - timedelta(milliseconds=1)
    return Counter((r["k"], r["ts"], r["v"], start, end, last) for r in session)


def emitted(delta: pa.Table) -> Made:
    assert set(delta.column(KIND_COLUMN).to_pylist()) <= {int(RowKind.INSERT)}
    return Counter(tuple(row.values())[:-1] for row in delta.to_pylist())


@pytest.mark.parametrize("seed", seeds(6))
def test_random_sessions(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    retracts = rng.random() < 0.4
    engine = engine_of(tmp_path, rng)
    rows: list[Row] = []
    at, late, before = 0, 0, -(2**63)
    for number in range(12):
        changes: list[Change] = []
        stored = {tuple(row.values()) for row in rows}
        for _ in range(rng.choice([0, 1, 4, 15])):
            if retracts and rows and rng.random() < 0.2:
                changes.append((RowKind.DELETE, rows.pop(rng.randrange(len(rows)))))
            else:
                time = START + SECOND * (at + rng.randrange(-40, 40))
                row = {"k": rng.choice(["a", "b", None]), "ts": time, "v": rng.randrange(2)}
                rows.append(row)
                changes.append((RowKind.INSERT, row))
        at += rng.randrange(0, 25)
        now = END_OF_TIME if number == 11 else micros(START + SECOND * at) - 1000 * rng.choice([0, 1])
        out = engine.batch(delta_of(changes, INPUT), watermark=now, tasks=rng.choice([1, 3]))
        expected: Made = Counter()
        kept: list[Row] = []
        for session in sessions(rows):
            close = close_of(session)
            if close > now:
                kept += session
            elif close > before or any(tuple(r.values()) in stored for r in session):
                expected += windows(session)
            else:
                late += len(session)
        assert emitted(out) == expected
        rows, before = kept, now
    assert engine.counters[LATE] == late
    assert not engine.counters[STALE]
    assert entries_left(engine) == {}


def row(key: str, seconds: float, v: int = 0) -> Change:
    return RowKind.INSERT, {"k": key, "ts": START + SECOND * seconds, "v": v}


def test_a_row_between_two_sessions_makes_them_one(tmp_path: Path) -> None:
    engine = engine_of(tmp_path)
    engine.batch(delta_of([row("a", 0), row("a", 18)], INPUT), watermark=micros(START))
    engine.batch(delta_of([row("a", 9)], INPUT), watermark=micros(START + 20 * SECOND))
    out = engine.batch(delta_of([], INPUT), watermark=micros(START + 28 * SECOND))
    assert {(r["window_start"], r["window_end"]) for r in out.to_pylist()} == {(START, START + 28 * SECOND)}
    assert out.num_rows == 3


def test_rows_one_gap_apart_are_together_and_more_are_not(tmp_path: Path) -> None:
    engine = engine_of(tmp_path)
    rows = [row("a", 0), row("a", 10), row("a", 20.001)]
    out = engine.batch(delta_of(rows, INPUT), watermark=END_OF_TIME)
    ends = sorted(r["window_end"] for r in out.to_pylist())
    assert ends == [START + 20 * SECOND] * 2 + [START + 30.001 * SECOND]


def test_a_late_row_that_joins_an_open_session_is_not_late(tmp_path: Path) -> None:
    engine = engine_of(tmp_path)
    engine.batch(delta_of([row("a", 20)], INPUT), watermark=micros(START + 25 * SECOND))
    engine.batch(delta_of([row("a", 11), row("a", 2), row("b", 11)], INPUT), watermark=micros(START + 25 * SECOND))
    assert engine.counters[LATE] == 1
    assert engine.batch(delta_of([], INPUT), watermark=END_OF_TIME).num_rows == 3
