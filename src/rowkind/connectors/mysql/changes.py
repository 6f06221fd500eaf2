"""Row events gathered by table, and decoded together: the changes of a piece of the binlog."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.arrays import SLACK, Ints, View
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.row_events import decode_images
from rowkind.connectors.mysql.schemas import TableSchema
from rowkind.connectors.mysql.table_maps import TableMap
from rowkind.connectors.mysql.types import ColumnType
from rowkind.errors import RowkindError
from rowkind.kinds import RowKind

IMAGE_BITS = 24
"""A sequence number is that of the event, then that of the image in it."""
_ELSEWHERE = 1 << 40
"""Added to places that are not in the network's buffer but among the uncompressed bytes."""
_FIELDS = 6
_KINDS = np.array(
    [
        [RowKind.INSERT, RowKind.INSERT],
        [RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER],
        [RowKind.DELETE, RowKind.DELETE],
    ],
    np.int8,
)
"""Of even and odd images of a write, an update, a delete."""


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes of one table with one schema, in the order of the binlog; an update is two rows beside each other."""

    schema: TableSchema
    rows: pa.RecordBatch
    kinds: pa.Int8Array
    """Of RowKind."""
    sequence: pa.Int64Array
    """Grows over all tables of a reader."""
    timestamp: pa.Int64Array
    """Milliseconds since 1970 of the statement, which the log has in seconds."""
    file: str
    pos: pa.Int64Array
    """Where in the file its event ends."""
    zero_dates: int = 0


@dataclass(frozen=True, slots=True)
class Captured:
    """A table map together with the schema that its rows are read with."""

    map: TableMap
    schema: TableSchema
    columns: tuple[ColumnType, ...]


class Gathered:
    """The row events of a piece up to now. Their bytes stay where they are until `decode()`."""

    def __init__(self) -> None:
        self._events: dict[int, tuple[Captured, list[int]]] = {}
        self._elsewhere = bytearray()

    def __bool__(self) -> bool:
        return bool(self._events)

    def add(self, table: Captured, buffer: Any, start: int, end: int, type: int, at: tuple[int, int, int]) -> None:
        """Take in one row event, from behind its header up to its checksum; `at` is timestamp, position, number."""
        width = len(table.columns)
        place = start + 8
        if type in events.HAVE_EXTRA:
            place += int.from_bytes(buffer[place : place + 2], "little")
        # the number of columns again
        place += 1 if width < 251 else 3
        kind = events.ROWS[type]
        size = (width + 7) // 8 * (2 if kind == 1 else 1)
        if not _all_columns(bytes(buffer[place : place + size]), width):
            raise RowkindError("MYSQL_ROWS_INCOMPLETE", table=table.schema.id, position=at[1])
        place += size
        if type in events.COMPRESSED_ROWS:
            buffer = events.uncompressed(bytes(buffer[place:end]))
            place, end = 0, len(buffer)
        if place == end:
            return
        if type in events.COMPRESSED_ROWS:
            place, end = self._keep(buffer, place, end)
        found = self._events.get(id(table))
        if found is None:
            found = self._events[id(table)] = (table, [])
        found[1].extend((place, end, kind, *at))

    def add_elsewhere(
        self, table: Captured, buffer: bytes, start: int, end: int, type: int, at: tuple[int, int, int]
    ) -> None:
        """The same for an event that has come inside another one."""
        first, last = self._keep(buffer, start, end)
        self.add(table, _Shifted(self._elsewhere, _ELSEWHERE), first, last, type, at)

    def _keep(self, buffer: Any, start: int, end: int) -> tuple[int, int]:
        first = len(self._elsewhere) + _ELSEWHERE
        self._elsewhere += buffer[start:end]
        return first, first + end - start

    def decode(self, buffer: bytearray, file: str) -> list[TableChanges]:
        """The changes of each table, and start anew."""
        found = [
            self._table(table, np.array(places, np.int64).reshape(-1, _FIELDS), buffer, file)
            for table, places in self._events.values()
        ]
        self._events.clear()
        self._elsewhere = bytearray()
        return found

    def _table(self, table: Captured, places: Ints, buffer: bytearray, file: str) -> TableChanges:
        starts, ends, kind, seconds, pos, number = np.ascontiguousarray(places.T)
        view = View(buffer)
        if (starts >= _ELSEWHERE).any():
            view, starts, ends = self._together(buffer, starts, ends)
        counts = Counts()
        rows, images = decode_images(view, starts, ends, table.map.columns, table.columns, counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(images) - images, images)
        return TableChanges(
            table.schema,
            rows,
            pa.array(_KINDS[np.repeat(kind, images), within & 1]),
            pa.array((np.repeat(number, images) << IMAGE_BITS) + within),
            pa.array(np.repeat(seconds, images) * 1000),
            file,
            pa.array(np.repeat(pos, images)),
            counts.zero_dates,
        )

    def _together(self, buffer: bytearray, starts: Ints, ends: Ints) -> tuple[View, Ints, Ints]:
        """All images in one buffer, where some had to be uncompressed."""
        joined = bytearray()
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            inside = start < _ELSEWHERE
            joined += buffer[start:end] if inside else self._elsewhere[start - _ELSEWHERE : end - _ELSEWHERE]
        lengths = ends - starts
        after = np.cumsum(lengths)
        return View(joined + bytes(SLACK)), after - lengths, after


class _Shifted:
    """Bytes that are addressed from another number than 0 on."""

    def __init__(self, data: bytearray, first: int) -> None:
        self._data = data
        self._first = first

    def __getitem__(self, place: slice) -> bytes:
        return bytes(self._data[place.start - self._first : place.stop - self._first])


@lru_cache(maxsize=1024)
def _all_columns(bitmap: bytes, width: int) -> bool:
    size = (width + 7) // 8
    full = ((1 << width) - 1).to_bytes(size, "little")
    # bits behind the last column have no meaning
    unused = (0xFF << ((width - 1) % 8 + 1)) & 0xFF
    for at in range(0, len(bitmap), size):
        part = bitmap[at : at + size]
        if part != full and part[:-1] + bytes([part[-1] & ~unused & 0xFF]) != full:
            return False
    return True
