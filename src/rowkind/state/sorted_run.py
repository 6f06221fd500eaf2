"""A run: an immutable file of entries, sorted by key hash and then by the table's sort columns.

The delta of a version is a run; so is the result of a compaction. A run is a list of segments (record batches), whose
hash columns are read in place from the mapped file: a search touches the pages it needs and no others.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.state.files import Folder
from rowkind.state.hashing import U64, KeyHashes

H1, H2, GONE, WRITTEN = "__h1", "__h2", "__gone", "__written"
BOOKKEEPING = pa.schema([(H1, pa.uint64()), (H2, pa.uint64()), (GONE, pa.int8()), (WRITTEN, pa.int64())])
"""Hashes of the key; 1 for a tombstone; the batch clock in milliseconds when the entry was written."""

SEGMENT_ROWS = 1 << 21
SEGMENT_BYTES = 1 << 27
"""Few segments make small reads fast; a merge holds one in memory, and a string column cannot pass two gigabytes."""

_STRIDE = 64
_MOST_VERIFIED = 20_000
_verified: dict[tuple[str, RunInfo], None] = {}

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a listing says of a run: the versions it covers, and what its file must be."""

    table: str
    first: int
    last: int
    rows: int
    bytes: int
    crc: int
    clock: int
    """The newest batch clock, in milliseconds, of its entries."""
    content: str
    """The checksum of a delta, or the digest of what was merged and how."""

    @property
    def name(self) -> str:
        """Says what is in the file: attempts that write something else write another file, and no one's is replaced."""
        return f"{self.table}.{self.first}-{self.last}.{self.content}.arrow"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file is needed, for errors."""

    operator: str
    partition: int
    version: int
    checkpoint: str = ""
    """The id that state must be of; without one it may be anybody's."""

    def missing(self, path: str) -> RowkindError:
        return RowkindError("STATE_FILE_MISSING", path=path, **self._told())

    def damaged(self, path: str, reason: str) -> RowkindError:
        return RowkindError("STATE_FILE_DAMAGED", path=path, reason=reason, **self._told())

    def foreign(self, path: str, found: object) -> RowkindError:
        return RowkindError(
            "STATE_OF_ANOTHER_CHECKPOINT", path=path, found=found, wanted=self.checkpoint, **self._told()
        )

    def _told(self) -> dict[str, Any]:
        return {"operator": self.operator, "partition": self.partition, "version": self.version}


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """Bookkeeping, then the entry; nullable, since a tombstone has only key and sort columns."""
    return pa.schema([*BOOKKEEPING, *(field.with_nullable(True) for field in schema)])


def write_delta(folder: Folder, table: str, version: int, clock: int, schema: pa.Schema, entries: pa.Table) -> RunInfo:
    """Write what a batch changed, sorted and of the stored schema. It is in memory anyway, and so is its file first."""
    memory = pa.BufferOutputStream()
    _write(memory, schema, [entries])
    data = memory.getvalue()
    crc = zlib.crc32(memoryview(data))
    info = RunInfo(table, version, version, entries.num_rows, data.size, crc, clock, f"{crc:08x}")
    folder.write_bytes(info.name, data)
    _verify(folder, info)
    return info


def write_merged(folder: Folder, named: RunInfo, schema: pa.Schema, pieces: Iterable[pa.Table]) -> RunInfo:
    """Write the merge of runs in sorted pieces, under its name."""
    with folder.write(named.name) as sink:
        rows = _write(sink, schema, pieces)
        info = replace(named, rows=rows, bytes=sink.size, crc=sink.crc)
    _verify(folder, info)
    return info


def _write(sink: Any, schema: pa.Schema, pieces: Iterable[pa.Table]) -> int:
    rows = 0
    with pa.ipc.new_file(sink, schema) as writer:
        for segment in _segments(pieces):
            rows += segment.num_rows
            writer.write_table(segment)
    return rows


def _verify(folder: Folder, info: RunInfo) -> None:
    """Remember that this process knows the file to be what it should be."""
    _verified[folder.path(info.name), info] = None
    if len(_verified) > _MOST_VERIFIED:
        _verified.pop(next(iter(_verified)))


def forget(folder: Folder, info: RunInfo) -> None:
    """A file that no version needs any more."""
    _verified.pop((folder.path(info.name), info), None)


def _segments(pieces: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Pieces put together, or cut, into tables of one chunk and of the segment's size."""
    held: list[pa.Table] = []
    for piece in pieces:
        width = max(1, piece.nbytes // max(1, piece.num_rows))
        limit = max(1, min(SEGMENT_ROWS, SEGMENT_BYTES // width))
        for at in range(0, piece.num_rows, limit):
            part = piece.slice(at, limit)
            if held and sum(t.num_rows for t in held) + part.num_rows > limit:
                yield pa.concat_tables(held).combine_chunks()
                held = []
            held.append(part)
    if held:
        yield pa.concat_tables(held).combine_chunks()


def merge_of(runs: Sequence[RunInfo], whole: bool, ttl_ms: int) -> RunInfo:
    """The merge of runs, before it is written: its name follows from what goes in, whoever makes it and when.

    So what is left out for its age is counted from the newest entry that goes in, and not from the clock of a batch.
    """
    clock = max(run.clock for run in runs)
    inputs = json.dumps([[run.name, run.bytes, run.crc] for run in runs])
    content = hashlib.blake2b(f"{inputs} {whole} {clock - ttl_ms if ttl_ms else None}".encode(), digest_size=8)
    return RunInfo(runs[0].table, runs[0].first, runs[-1].last, 0, 0, 0, clock, content.hexdigest())


def open_run(folder: Folder, info: RunInfo, place: Place) -> Run:
    """Map a run's file; its length is verified, and its checksum once a process."""
    trusted = (folder.path(info.name), info) in _verified
    try:
        buffer = folder.map(info.name)
        if not folder.local and _damage(buffer, info, trusted):
            folder.forget(info.name)  # the copy may be that of a file written again since
            buffer = folder.map(info.name)
    except FileNotFoundError:
        raise place.missing(folder.path(info.name)) from None
    if reason := _damage(buffer, info, trusted):
        raise place.damaged(folder.path(info.name), reason)
    _verify(folder, info)
    return Run(info, pa.ipc.open_file(buffer))


def _damage(buffer: pa.Buffer, info: RunInfo, trusted: bool) -> str | None:
    if buffer.size != info.bytes:
        return f"{buffer.size} bytes instead of {info.bytes}"
    if not trusted and zlib.crc32(memoryview(buffer)) != info.crc:
        return "its checksum differs"
    return None


def adopt_run(folder: Folder, wanted: RunInfo) -> RunInfo | None:
    """A merge, if some process has already finished it."""
    if not folder.exists(wanted.name):
        return None
    buffer = folder.map(wanted.name)
    try:
        reader = pa.ipc.open_file(buffer)
        rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
    except (pa.ArrowInvalid, OSError):
        folder.forget(wanted.name)
        return None
    adopted = replace(wanted, rows=rows, bytes=buffer.size, crc=zlib.crc32(memoryview(buffer)))
    _verify(folder, adopted)
    return adopted


class Segment:
    """One record batch of a run; `offset` is the row number of its first row in the run."""

    __slots__ = ("_sparse", "batch", "entries", "gone", "h1", "h2", "offset", "written")

    def __init__(self, batch: pa.RecordBatch, offset: int) -> None:
        self.batch = batch
        self.offset = offset
        self.entries = batch.select(range(len(BOOKKEEPING), batch.num_columns)).replace_schema_metadata(None)
        self.h1: U64 = batch.column(0).to_numpy(zero_copy_only=True)
        self.h2: U64 = batch.column(1).to_numpy(zero_copy_only=True)
        self.gone: npt.NDArray[np.int8] = batch.column(2).to_numpy(zero_copy_only=True)
        self.written: Rows = batch.column(3).to_numpy(zero_copy_only=True)
        self._sparse: U64 | None = None

    def search(self, h1: U64) -> Rows:
        """Where each of some ascending hashes is, or would be.

        Few hashes in many rows go through a copy of every 64th one, which stays in the processor's cache: a plain
        binary search would touch a page or two a step.
        """
        size = len(self.h1)
        if size < 1 << 17 or len(h1) > size >> 8:
            return np.searchsorted(self.h1, h1)
        if self._sparse is None:
            self._sparse = self.h1[::_STRIDE].copy()
        low = np.maximum(np.searchsorted(self._sparse, h1) - 1, 0) * _STRIDE
        step = _STRIDE
        while step:
            ahead = low + step
            smaller = self.h1[np.minimum(ahead, size) - 1] < h1
            low = np.where(smaller & (ahead <= size), ahead, low)
            step >>= 1
        return np.asarray(low)


class Run:
    """An open run. Row numbers count through all segments; keys to search are sorted by their first hash."""

    def __init__(self, info: RunInfo, reader: pa.RecordBatchFileReader) -> None:
        self.info = info
        self.schema: pa.Schema = reader.schema.remove_metadata()
        self._entry_schema = pa.schema(list(self.schema)[len(BOOKKEEPING) :])
        self.segments: list[Segment] = []
        offset = 0
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            if batch.num_rows:
                self.segments.append(Segment(batch, offset))
                offset += batch.num_rows
        self.rows = offset
        self._offsets = np.array([s.offset for s in self.segments] + [offset], dtype=np.int64)

    def find(self, keys: KeyHashes) -> Rows:
        """The row of each key, or -1, in a table without sort columns, where a key has one entry."""
        found = np.full(len(keys), -1, dtype=np.int64)
        for segment, low, high in self._touched(keys.h1):
            h1, h2 = keys.h1[low:high], keys.h2[low:high]
            at = segment.search(h1)
            at[at == len(segment.h1)] = 0
            same = segment.h1[at] == h1
            hit = same & (segment.h2[at] == h2)
            found[low:high][hit] = at[hit] + segment.offset
            for i in np.flatnonzero(same & ~hit):
                start, stop = _narrow(segment, h1[i], h2[i])
                if start < stop:
                    found[low + i] = start + segment.offset
        return found

    def ranges(self, keys: KeyHashes) -> tuple[Rows, Rows]:
        """The rows [start, stop) of each key."""
        start = np.full(len(keys), self.rows, dtype=np.int64)
        stop = np.zeros(len(keys), dtype=np.int64)
        for segment, low, high in self._touched(keys.h1):
            h1, h2 = keys.h1[low:high], keys.h2[low:high]
            left = np.searchsorted(segment.h1, h1, side="left")
            right = np.searchsorted(segment.h1, h1, side="right")
            hit = np.flatnonzero(left < right)
            clash = (segment.h2[left[hit]] != h2[hit]) | (segment.h2[right[hit] - 1] != h2[hit])
            for i in hit[clash]:
                left[i], right[i] = _narrow(segment, h1[i], h2[i])
            hit = hit[left[hit] < right[hit]]
            start[low + hit] = np.minimum(start[low + hit], left[hit] + segment.offset)
            stop[low + hit] = np.maximum(stop[low + hit], right[hit] + segment.offset)
        return np.minimum(start, stop), stop

    def take(self, rows: Rows) -> pa.Table:
        """The entries at the given rows, ascending."""
        pieces = [segment.entries.take(pa.array(local)) for segment, local in self._local(rows)]
        return pa.Table.from_batches(pieces, self._entry_schema)

    def gone(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which of the given rows, ascending, are tombstones."""
        found = [segment.gone[local] != 0 for segment, local in self._local(rows)]
        return np.concatenate(found) if found else np.zeros(0, dtype=bool)

    def written(self, rows: Rows) -> Rows:
        """When the entries at the given rows, ascending, were written."""
        found = [segment.written[local] for segment, local in self._local(rows)]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def until(self, row: int, h1: np.uint64) -> int:
        """The first row at or after `row` whose hash is greater than h1."""
        for segment in self.segments:
            if segment.offset + len(segment.h1) > row and segment.h1[-1] > h1:
                return max(row, segment.offset + int(np.searchsorted(segment.h1, h1, side="right")))
        return self.rows

    def hash_at(self, row: int) -> np.uint64:
        segment = self.segments[int(np.searchsorted(self._offsets, row, side="right")) - 1]
        return np.uint64(segment.h1[row - segment.offset])

    def slice(self, start: int, stop: int) -> pa.Table:
        """Rows [start, stop) with all stored columns, without a copy."""
        pieces = []
        for segment in self.segments:
            low, high = max(start - segment.offset, 0), min(stop - segment.offset, segment.batch.num_rows)
            if low < high:
                pieces.append(segment.batch.slice(low, high - low))
        return pa.Table.from_batches([p.replace_schema_metadata(None) for p in pieces], self.schema)

    def _touched(self, h1: U64) -> Iterable[tuple[Segment, int, int]]:
        for segment in self.segments:
            low = int(np.searchsorted(h1, segment.h1[0], side="left"))
            high = int(np.searchsorted(h1, segment.h1[-1], side="right"))
            if low < high:
                yield segment, low, high

    def _local(self, rows: Rows) -> list[tuple[Segment, Any]]:
        cuts = np.searchsorted(rows, self._offsets)
        return [
            (segment, rows[cuts[i] : cuts[i + 1]] - segment.offset)
            for i, segment in enumerate(self.segments)
            if cuts[i] < cuts[i + 1]
        ]


def _narrow(segment: Segment, h1: np.uint64, h2: np.uint64) -> tuple[int, int]:
    """The rows of one key whose first hash is shared by another key."""
    low = int(np.searchsorted(segment.h1, h1, side="left"))
    high = int(np.searchsorted(segment.h1, h1, side="right"))
    inner = segment.h2[low:high]
    return low + int(np.searchsorted(inner, h2, side="left")), low + int(np.searchsorted(inner, h2, side="right"))
