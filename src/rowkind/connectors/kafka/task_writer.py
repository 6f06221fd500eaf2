"""The messages of one task on their way to Kafka: plainly, or as one transaction with the marker of the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import pyarrow as pa

from rowkind.connectors.kafka.clients import Properties
from rowkind.connectors.kafka.partitioners import Partitioner
from rowkind.connectors.kafka.transactions import Fenced, Promise, TransactionalWriter, give_back, transaction
from rowkind.connectors.kafka.writer import Writer, drop_writer, writer_for
from rowkind.errors import RowkindError
from rowkind.failpoints import failpoint
from rowkind.metrics.traffic import Traffic


@dataclass
class TaskWriter:
    """For a `with` block. When it is left without an error, all that was written is there, or committed.

    The producer is opened for the first message and stays open in the process after the block; after an error nothing
    of it is kept.
    """

    sink: str
    """Tells the producers of a process apart."""
    properties: Properties
    topic: str | None
    """None where messages name their topic."""
    task: int
    promise: Promise | None = None
    wait: bool = True
    """Whether to wait for the broker at the end; under a promise always."""
    skipped: bool = False
    """Whether the batch was in already, so that nothing was written."""
    committed: bool = False
    """Whether a transaction was committed."""
    traffic: dict[str, Traffic] = field(default_factory=dict, init=False)
    """By topic, what went out; known after the block."""
    _writer: Writer | None = field(default=None, init=False)

    def write(
        self,
        messages: pa.RecordBatch,
        partitioner: Partitioner | None = None,
        rows: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    ) -> int:
        """Hand messages over; the number that really go."""
        if not messages.num_rows or not self.opened():
            return 0
        assert self._writer is not None
        self._writer.write(messages, partitioner, rows)
        return int(messages.num_rows)

    def opened(self) -> bool:
        """Open the producer, if it is not. False when the rows of the batch are in already, and none are to go."""
        if self._writer is None and not self.skipped:
            self._writer = self._open()
            self.skipped = self._writer is None
        return not self.skipped

    def _open(self) -> Writer | None:
        if self.promise is None:
            return writer_for(self.sink, self.properties, self.topic)
        return transaction(self.properties, self.topic, self.promise, self.task)

    def __enter__(self) -> TaskWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                raise error
            self._finish()
        except BaseException as cause:
            self._drop()
            if isinstance(cause, Fenced) and self.promise is not None:
                fenced = self.promise.insert.transactional_id(self.task)
                raise RowkindError("TRANSACTION_FENCED", id=fenced) from None
            raise

    def _finish(self) -> None:
        if self._writer is None:
            return
        if self.promise is None:
            self._writer.flush(wait=self.wait)
            self.traffic = self._writer.take_traffic()
            return
        assert isinstance(self._writer, TransactionalWriter)
        self._writer.flush()
        failpoint("before-commit", self.promise.version)
        self._writer.commit(self.promise)
        failpoint("after-commit", self.promise.version)
        self.committed = True
        self.traffic = self._writer.take_traffic()
        give_back(self.promise, self.task, self._writer)

    def _drop(self) -> None:
        if self.promise is None:
            drop_writer(self.sink, self.properties)
        elif isinstance(self._writer, TransactionalWriter):
            self._writer.close()
