"""What a task writes, and how that ends: flushed, committed under a promise, or thrown away."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

import pyarrow as pa

from rowkind.connectors.contract import WriteContext, Writer
from rowkind.failpoints import failpoint


class Writable(Protocol):
    """A table, or what is written like one."""

    def writer(self, context: WriteContext) -> Writer | None: ...


class TaskOutput:
    """For a `with` block. When it is left without an error, all that was written is there, or committed.

    The writer is opened for the first row: a task without rows asks nobody anything.
    """

    def __init__(self, target: Writable, context: WriteContext, wait: bool = True) -> None:
        """`wait`: whether to wait until everything is there. Under a promise that is always so."""
        self._target = target
        self._context = context
        self._wait = wait or context.promise is not None
        self._writer: Writer | None = None
        self._skipped = False
        """Whether the rows of the batch are in already."""
        self.written = 0

    def write(self, rows: pa.RecordBatch) -> int:
        """Hand rows over; the number that really go."""
        if not rows.num_rows or not self._opened():
            return 0
        assert self._writer is not None
        self._writer.write(rows)
        self.written += rows.num_rows
        return int(rows.num_rows)

    def _opened(self) -> bool:
        if self._writer is None and not self._skipped:
            self._writer = self._target.writer(self._context)
            self._skipped = self._writer is None
            self._context.counts["tasks-already-committed"] += self._skipped
        return not self._skipped

    def __enter__(self) -> TaskOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        writer = self._writer
        if writer is None:
            return
        if error is not None:
            writer.close(failed=True)
            return
        try:
            self._finish(writer)
        except BaseException:
            writer.close(failed=True)
            raise
        writer.close(failed=False)

    def _finish(self, writer: Writer) -> None:
        promise = self._context.promise
        writer.flush(self._wait)
        if promise is not None:
            failpoint("before-commit", promise.version)
            writer.commit()
            failpoint("after-commit", promise.version)
            self._context.counts["transactions-committed"] += 1
