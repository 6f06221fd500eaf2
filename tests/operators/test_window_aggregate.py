"""Aggregates of windows against a recomputation from the rows that came in time, for random watermarks and batches."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.kinds import RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.changes import STALE
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.timers import LATE
from rowkind.operators.window.window_aggregate import WindowAggregate
from tests.operators.harness import Change, Engine, Row, Table, delta_of, entries_left
from tests.operators.test_aggregate import CALLS, INPUT, assert_same, fits, oracle, random_row
from tests.seeds import seeds

START = datetime(2024, 3, 1)
MINUTE = timedelta(minutes=1)
WINDOWED = pa.schema([("start", pa.timestamp("us")), ("end", pa.timestamp("us")), *INPUT])
KEYS = ("start", "end", "g")
COUNT = AggregateCall("COUNT", None, pa.int64(), "n")


def micros(time: datetime) -> int:
    return int((time.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def last_of(row: Row) -> int:
    return micros(row["end"]) - 1000


def windowed(rng: random.Random, minute: int, row: Row) -> Row:
    start = START + MINUTE * minute
    return {"start": start, "end": start + rng.choice([1, 1, 3]) * MINUTE, **row}


class Windows:
    """Rows in windows around a time that moves on; some are taken back or replaced, some are late."""

    def __init__(self, rng: random.Random, append_only: bool) -> None:
        self.rng, self.append_only, self.rows = rng, append_only, list[Row]()
        self.minute = 0

    def changes(self, count: int) -> list[Change]:
        return [change for _ in range(count) for change in self._change()]

    def _change(self) -> list[Change]:
        if self.append_only or not self.rows or self.rng.random() < 0.6:
            row = random_row(self.rng)
            row["f"] = row["f"] if row["f"] is None or math.isfinite(row["f"]) else 0.5
            minute = self.minute + self.rng.randrange(-2, 5)
            self.rows.append(windowed(self.rng, minute, row))
            return [(RowKind.INSERT, self.rows[-1])]
        old = self.rows.pop(self.rng.randrange(len(self.rows)))
        if self.rng.random() < 0.5:
            return [(RowKind.DELETE, old)]
        new = {**old, "s": "new", "i": 4}
        self.rows.append(new)
        return [(RowKind.UPDATE_BEFORE, old), (RowKind.UPDATE_AFTER, new)]


@pytest.mark.parametrize("seed", seeds(6))
def test_random_windows(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    append_only = rng.random() < 0.4
    calls = tuple(rng.sample(CALLS, rng.randrange(0, 8)))
    operator = WindowAggregate(WINDOWED, KEYS, calls, "end", "ts", append_only)
    engine = Engine((operator,), tmp_path, rng.choice([1, 2, 3]), rng)
    source = Windows(rng, append_only)
    log: list[Change] = []
    before, late, now = -(2**63), 0, None
    for number in range(10):
        held = list(source.rows)
        changes = source.changes(rng.choice([0, 1, 3, 20, 60]))
        in_time = [change for change in changes if last_of(change[1]) > before]
        if not fits([row for kind, row in (*log, *in_time) if kind.adds], KEYS):
            source.rows = held
            changes, in_time = [], []
        late += len(changes) - len(in_time)
        log += in_time
        source.minute += rng.randrange(0, 3)
        moved = micros(START + MINUTE * source.minute) - rng.choice([0, 1, 1000, 1001])
        now = END_OF_TIME if number == 9 else rng.choice([now, max(now or moved, moved)])
        after = now if now is not None else before
        out = Table(KEYS)
        out.apply(engine.batch(delta_of(changes, WINDOWED), watermark=now, tasks=rng.choice([1, 2, 5])))
        closing = [change for change in log if before < last_of(change[1]) <= after]
        assert_same(out, oracle(closing, KEYS, calls))
        log = [change for change in log if last_of(change[1]) > after]
        before = after
    assert engine.counters[LATE] == late
    assert not engine.counters[STALE]
    assert entries_left(engine) == {}


def test_a_window_closes_when_the_watermark_reaches_its_last_millisecond(tmp_path: Path) -> None:
    engine = Engine((WindowAggregate(WINDOWED, KEYS, (COUNT,), "end", "ts", True),), tmp_path)
    row = windowed(random.Random(1), 0, random_row(random.Random(1)))
    last = last_of(row)
    assert engine.batch(delta_of([(RowKind.INSERT, row)] * 3, WINDOWED), watermark=last - 1).num_rows == 0
    assert engine.batch(delta_of([(RowKind.INSERT, row)], WINDOWED), watermark=last).column("n").to_pylist() == [4]
    assert engine.batch(delta_of([(RowKind.INSERT, row)], WINDOWED), watermark=last).num_rows == 0
    assert engine.counters[LATE] == 1


def test_a_window_without_a_watermark_stays_open(tmp_path: Path) -> None:
    engine = Engine((WindowAggregate(WINDOWED, KEYS, (COUNT,), "end", "ts", True),), tmp_path)
    row = windowed(random.Random(1), 0, random_row(random.Random(1)))
    assert engine.batch(delta_of([(RowKind.INSERT, row)], WINDOWED)).num_rows == 0
    assert engine.batch(delta_of([], WINDOWED), watermark=END_OF_TIME).num_rows == 1


def test_processing_time_windows_close_by_the_clock_and_say_when(tmp_path: Path) -> None:
    engine = Engine((WindowAggregate(WINDOWED, KEYS, (COUNT,), "end", "pt", True, proctime=True),), tmp_path)
    row = {**random_row(random.Random(1)), "start": START, "end": START + MINUTE}
    begin = micros(START) // 1000
    assert engine.batch(delta_of([(RowKind.INSERT, row)], WINDOWED), clock_ms=begin).num_rows == 0
    assert engine.due == last_of(row)
    out = engine.batch(delta_of([], WINDOWED), clock_ms=begin + 60_000)
    assert out.column("n").to_pylist() == [1]
    assert engine.due is None


def test_a_row_without_time_is_an_error(tmp_path: Path) -> None:
    engine = Engine((WindowAggregate(WINDOWED, KEYS, (COUNT,), "end", "ts", True),), tmp_path)
    row = {**random_row(random.Random(1)), "start": None, "end": None}
    with pytest.raises(RowkindError, match="NULL_ROWTIME") as caught:
        engine.batch(delta_of([(RowKind.INSERT, row)], WINDOWED))
    assert caught.value.params == {"column": "ts"}
