"""Windows of rows, against a count of all windows that hold each time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN
from rowkind.operators.window.assign import WindowAssign, WindowKind

SECOND = timedelta(seconds=1)


def assigned(windows: WindowAssign, times: list[datetime | None], zone: str = "UTC") -> list[tuple[Any, ...]]:
    kind = pa.timestamp("us", tz="UTC") if windows.local else pa.timestamp("us")
    rows = pa.RecordBatch.from_pydict(
        {"id": list(range(len(times))), "ts": pa.array(times, kind), KIND_COLUMN: pa.array([0] * len(times), pa.int8())}
    )
    made = windows.assign(rows, zone)
    assert made.schema.names == ["id", "ts", "window_start", "window_end", "window_time", KIND_COLUMN]
    assert made.column("window_time").type == kind
    return [tuple(row[c] for c in ("id", "window_start", "window_end")) for row in made.to_pylist()]


@given(
    kind=st.sampled_from(WindowKind),
    times=st.lists(st.datetimes(datetime(1969, 12, 31), datetime(1970, 1, 2)), max_size=5),
    step=st.integers(1, 50),
    count=st.integers(1, 6),
    offset=st.integers(-100, 100),
)
def test_every_window_that_holds_a_time(
    kind: WindowKind, times: list[datetime], step: int, count: int, offset: int
) -> None:
    size = step * (1 if kind is WindowKind.TUMBLE else count)
    second = 1_000_000
    windows = WindowAssign(kind, "ts", size * second, step * second, offset * second, False)
    expected = set()
    for number, time in enumerate(times):
        whole = (time - datetime(1970, 1, 1)) // SECOND
        for start in range(whole - size, whole + 1):
            lengths = range(step, size + 1, step) if kind is WindowKind.CUMULATE else [size]
            grid = step if kind is WindowKind.HOP else size
            begin = datetime(1970, 1, 1) + start * SECOND
            for length in lengths:
                if (start - offset) % grid == 0 and begin <= time < begin + length * SECOND:
                    expected.add((number, begin, begin + length * SECOND))
    found = assigned(windows, list(times))
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_windows_over_instants_are_days_of_the_zone() -> None:
    day = 24 * 3600 * 1_000_000
    windows = WindowAssign(WindowKind.TUMBLE, "ts", day, day, 0, True)
    berlin = datetime(2024, 3, 31, 23, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert assigned(windows, [berlin], "Europe/Berlin") == [(0, datetime(2024, 3, 31), datetime(2024, 4, 1))]
    assert assigned(windows, [berlin], "Asia/Tokyo") == [(0, datetime(2024, 4, 1), datetime(2024, 4, 2))]


def test_a_row_without_time_is_an_error() -> None:
    with pytest.raises(RowkindError, match="NULL_ROWTIME"):
        assigned(WindowAssign(WindowKind.TUMBLE, "ts", 1000, 1000, 0, False), [None])
