"""When windows close, and which windows are to close: an index by time, so that the cost follows what closes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.errors import RowkindError
from rowkind.operators.changes import Ints, column_array
from rowkind.operators.contract import END_OF_TIME, BatchContext
from rowkind.state.contract import State, StateTables
from rowkind.state.hashing import KeyHashes, hash_columns, hash_rows

LATE = "late_rows_dropped"
"""Counter: rows whose windows, or whose time, had passed when they came."""
MILLISECOND = 1000
_CLOSE = pa.schema([("close", pa.int64())])


def check_times(times: pa.Array | pa.ChunkedArray, column: str) -> None:
    if times.null_count:
        raise RowkindError("NULL_ROWTIME", column=column)


def closes(ends: pa.Array, local: bool, zone: str) -> Ints:
    """The last millisecond of windows by their ends; `local` ends are wall-clock times of the session's zone."""
    if local and zone != "UTC":
        # As in Flink: of an hour that comes twice the later one, of an hour that is left out what follows it.
        ends = pc.assume_timezone(ends, zone, ambiguous="latest", nonexistent="latest")
    return micros(ends) - MILLISECOND


def micros(times: pa.Array) -> Ints:
    """Timestamps as microseconds since 1970."""
    unit = pa.timestamp("us", times.type.tz)
    return np.asarray(times.cast(unit, safe=False).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True)
class Now:
    """How far time is in a batch: up to `before` everything was closed earlier, up to `after` it closes now."""

    before: int
    after: int

    @staticmethod
    def of(batch: BatchContext, proctime: bool) -> Now:
        """By processing time the batch's clock is the time, and nothing is ever late."""
        never = -(2**63)
        if proctime:
            return Now(never, END_OF_TIME if batch.watermark == END_OF_TIME else batch.clock)
        return Now(_or(batch.previous_watermark, never), _or(batch.watermark, never))


def _or(time: int | None, otherwise: int) -> int:
    return otherwise if time is None else time


class DueTimes:
    """The points in time at which something is to happen in this state partition, each kept once."""

    def __init__(self, state: StateTables) -> None:
        self._table: State = state.table("closings", _CLOSE, (), ("close",))

    def due(self, until: int) -> Ints:
        """Those up to `until`."""
        limit = 64
        while True:
            found = column_array(self._table.first(hash_columns([], 1), limit).entries, "close").to_numpy()
            if len(found) < limit or found[-1] > until:
                return np.asarray(found[found <= until])
            limit *= 8

    def next(self, until: int, added: Ints) -> int | None:
        """The first one after `until`."""
        stored = column_array(
            self._table.first(hash_columns([], 1), len(self.due(until)) + 1).entries, "close"
        ).to_numpy()
        later = np.concatenate([stored, added])
        later = later[later > until]
        return int(later.min()) if len(later) else None

    def write(self, added: Ints, done: Ints) -> None:
        put = np.unique(added)
        put = put[~np.isin(put, done)]
        self._table.write(
            pa.table({"close": put}, _CLOSE),
            pa.table({"close": done}, _CLOSE),
            upsert_keys=hash_columns([], len(put)),
            delete_keys=hash_columns([], len(done)),
        )


def by_close(close: Ints) -> KeyHashes:
    """Keys of entries that belong to a point in time."""
    return hash_rows(pa.table({"close": close}, _CLOSE), ("close",))
