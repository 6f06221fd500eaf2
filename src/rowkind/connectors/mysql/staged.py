"""Rows that were gathered for a batch, in files of the checkpoint: the batch reads them however often it is run.

A file holds sections, each the rows of one table in Arrow's stream format. Rows carry their kind and a sequence: the
two images of an update have the same number, and the numbers of a key's rows grow with time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType

import pyarrow as pa

from rowkind.state.files import Folder

SEQUENCE = "__sequence"
"""Column of the rows: which row of the log it is."""
EVENT_TIME = "__event_time"
"""Column of the rows: when the server wrote the change, in milliseconds; 0 in a snapshot."""

_SECTIONS = pa.schema([pa.field("table", pa.string()), pa.field("rows", pa.large_binary())])


class StagedFile:
    """Writes one file; it has its name, and is on the disk, only after the block is left without an error."""

    def __init__(self, folder: str, name: str, sync: bool) -> None:
        self.name = name
        self.rows = 0
        self._folder = Folder(folder, sync=sync)
        self._open = ExitStack()
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None

    def __enter__(self) -> StagedFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    @property
    def empty(self) -> bool:
        return self._writer is None

    def add(self, table: str, rows: pa.RecordBatch | pa.Table) -> None:
        if not rows.num_rows:
            return
        if self._writer is None:
            sink = self._open.enter_context(self._folder.write(self.name))
            self._writer = self._open.enter_context(pa.ipc.new_stream(sink, _SECTIONS))
        packed = pa.BufferOutputStream()
        with pa.ipc.new_stream(packed, rows.schema) as stream:
            stream.write(rows)
        section = [pa.array([table], pa.string()), _binary(packed.getvalue())]
        self._writer.write_batch(pa.RecordBatch.from_arrays(section, schema=_SECTIONS))
        self.rows += rows.num_rows


def _binary(data: pa.Buffer) -> pa.Array:
    """One value of that content, without a copy."""
    offsets = pa.array([0, data.size], pa.int64()).buffers()[1]
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, data])


def staged_sections(folder: str, name: str) -> Iterator[tuple[str, pa.RecordBatch]]:
    """What was added, in that order: the name of the table and its rows."""
    with pa.ipc.open_stream(Folder(folder).map(name)) as sections:
        for section in sections:
            table = section.column(0)[0].as_py()
            with pa.ipc.open_stream(section.column(1)[0].as_buffer()) as stream:
                for rows in stream:
                    yield table, rows
