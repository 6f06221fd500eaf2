"""TUMBLE, HOP and CUMULATE: each row with its windows, row by row and without state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.operators.changes import Ints
from rowkind.operators.timers import MILLISECOND, check_times, closes, micros


class WindowKind(StrEnum):
    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"


@dataclass(frozen=True, slots=True)
class WindowAssign:
    """Lengths in microseconds; `step` is the slide of HOP or the step of CUMULATE. Rows in several windows repeat.

    Windows over instants (`local`) begin and end by the wall clock of the zone.
    """

    kind: WindowKind
    time: str
    size: int
    step: int
    offset: int
    local: bool
    names: tuple[str, str, str] = ("window_start", "window_end", "window_time")

    def assign(self, rows: pa.RecordBatch, zone: str) -> pa.RecordBatch:
        """The rows with start, end and time of their windows before their last column, which is the kind."""
        times = rows.column(self.time)
        check_times(times, self.time)
        row, start, end = self._windows(micros(wall_clock(times, zone) if self.local else times))
        taken = rows.take(pa.array(row))
        at = rows.num_columns - 1
        ends = pa.array(end).cast(pa.timestamp("us"))
        last = pa.array(closes(ends, True, zone) if self.local else end - MILLISECOND)
        made = (pa.array(start).cast(pa.timestamp("us")), ends, last.cast(pa.timestamp("us", times.type.tz)))
        columns = [*taken.columns[:at], *made, taken.columns[at]]
        names = [*rows.schema.names[:at], *self.names, rows.schema.names[at]]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _windows(self, times: Ints) -> tuple[Ints, Ints, Ints]:
        """For each window of each row: the row, the start and the end."""
        rows = np.arange(len(times))
        if self.kind is WindowKind.HOP:
            last = times - (times - self.offset) % self.step
            count = self.size // self.step
            start = (last[:, None] - np.arange(count)[None, :] * self.step).reshape(-1)
            return np.repeat(rows, count), start, start + self.size
        start = times - (times - self.offset) % self.size
        if self.kind is WindowKind.TUMBLE:
            return rows, start, start + self.size
        first = (times - start) // self.step
        counts = self.size // self.step - first
        repeated = np.repeat(rows, counts)
        number = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
        return repeated, start[repeated], start[repeated] + (first[repeated] + number + 1) * self.step


def wall_clock(times: pa.Array, zone: str) -> pa.Array:
    """Instants as the wall clock of a zone shows them."""
    return pc.local_timestamp(times.cast(pa.timestamp("us", zone)))
