"""Exactly-once writing: the rows of a sink task and the marker of its batch in one transaction.

The marker is an offset commit of a group of the task's own: offset v+1 says that batch v is in. Its metadata names the
checkpoint, so that a fresh run with the same prefix does not take old markers for its own, and the batch's entry, so
that a checkpoint which was put back does not take another batch of that number for its own. It is sent before the
rows: a producer that was fenced learns of it before it has read any input.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from rowkind.connectors.contract import Marker, Promise
from rowkind.connectors.kafka.clients import Properties, named, open_consumer
from rowkind.connectors.kafka.kept_clients import KeptClients
from rowkind.connectors.kafka.producers import MessageProducer
from rowkind.errors import RowkindError

LIMIT = 64
"""Transactional producers kept in one process."""
PATIENCE = 60.0
FIRST_PATIENCE = 5.0
"""A writer that was open when its broker was started again may wait for ever where a new one gets an answer at once."""
DEFAULT_TIMEOUT_MS = 600_000
"""Of a transaction, unless `transaction.timeout.ms` is given: a batch has to fit in."""

_FENCED = frozenset({KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED})
_MOVING = frozenset(
    {KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE}
)


@dataclass(frozen=True, slots=True)
class Insert:
    """One INSERT as its transactions know it, whatever batch it is in."""

    prefix: str
    name: str
    """Tells the INSERTs under one prefix apart, wherever they stand in a script."""
    checkpoint: str
    marker_topic: str

    def transactional_id(self, task: int) -> str:
        return f"{self.prefix}-{self.name}-{task}"

    def group(self, task: int) -> str:
        return f"{self.prefix}.{self.name}.{task}"


class TransactionalProducer(MessageProducer):
    """A writer whose messages count only when `commit` is done. Remembers the last batch that it committed."""

    def __init__(self, properties: Properties, topic: str | None, insert: Insert, task: int) -> None:
        timeout = int(properties.get("transaction.timeout.ms", DEFAULT_TIMEOUT_MS))
        settings: dict[str, Any] = {
            "transactional.id": insert.transactional_id(task),
            "transaction.timeout.ms": timeout,
            # With the connection to the coordinator kept up, taking an id over takes milliseconds, not half a second.
            "enable.sparse.connections": False,
        }
        super().__init__(properties, topic, **settings)
        self.insert = insert
        self._group = insert.group(task)
        self._consumer = self._reader("read_committed")
        self._retried(partial(self.producer.init_transactions, PATIENCE))
        # Only now: before the transactions of an earlier owner are ended, the marker may still change.
        self.committed = self._marker()

    def begin(self, promise: Promise, patience: float) -> None:
        """Open the transaction of a batch with its marker. Raises at once when another producer has the id."""
        self._retried(self.producer.begin_transaction, patience)
        said = f"{self.insert.checkpoint} {promise.entry}"
        marker = TopicPartition(self.insert.marker_topic, 0, promise.version + 1, said)
        group = self._consumer.consumer_group_metadata()
        send = partial(self.producer.send_offsets_to_transaction, [marker], group, patience)
        answered(lambda: self._retried(send, patience), patience)

    def commit(self, promise: Promise) -> None:
        """Make what was flushed count."""
        self._retried(partial(self.producer.commit_transaction, PATIENCE))
        self.committed = Marker(promise.version, promise.entry)

    @property
    def disturbed(self) -> bool:
        """Whether a connection broke since the last batch: its broker may have been started again."""
        if self._sender is not None:
            self._sender.serve(0)
        else:
            self.producer.poll(0)
        return bool(self._reports.errors)

    def close(self) -> None:
        self._consumer.close()
        self.discard()

    def _marker(self) -> Marker | None:
        """Of the last batch of this checkpoint that is in."""
        try:
            found = self._offset(self._consumer)
        except KafkaException as error:
            if error.args[0].code() == KafkaError._TIMED_OUT and self._hangs():
                raise RowkindError("TRANSACTION_END_LOST", topic=self.insert.marker_topic, group=self._group) from None
            raise named(error.args[0], self.properties, "reading the marker of a transaction") from None
        if found.error is not None:
            raise named(found.error, self.properties, "reading the marker of a transaction")
        checkpoint, _, entry = (found.metadata or "").partition(" ")
        return Marker(found.offset - 1, entry) if found.offset > 0 and checkpoint == self.insert.checkpoint else None

    def _hangs(self) -> bool:
        """Whether the broker would tell the marker, if only what is before it were ended."""
        consumer = self._reader("read_uncommitted")
        try:
            self._offset(consumer)
        except KafkaException:
            return False
        finally:
            consumer.close()
        return True

    def _reader(self, isolation: str) -> Consumer:
        return open_consumer({**self.properties, "group.id": self._group, "isolation.level": isolation})[0]

    def _offset(self, consumer: Consumer) -> TopicPartition:
        """A group's coordinator may be about to load what it knows, in a broker that has just started."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                (found,) = consumer.committed([TopicPartition(self.insert.marker_topic, 0)], timeout=PATIENCE)
                return found
            except KafkaException as error:
                if error.args[0].code() not in _MOVING or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _retried(self, call: Callable[[], object], patience: float = PATIENCE) -> None:
        """Errors that pass are tried again for a while; others, and what stays, are raised with their name."""
        deadline = time.monotonic() + patience
        while True:
            try:
                call()
                return
            except KafkaException as error:
                cause: KafkaError = error.args[0]
                if cause.code() in _FENCED:
                    raise Fenced from None
                if cause.retriable() and time.monotonic() < deadline:
                    continue
                raise self._refused(cause) from None

    def _refused(self, cause: KafkaError) -> RowkindError:
        if cause.code() == KafkaError.INVALID_TRANSACTION_TIMEOUT:
            return RowkindError("TRANSACTION_TIMEOUT_TOO_LONG", reason=cause.str())
        return named(cause, self.properties, "writing a transaction", tuple(self._reports.errors))


class Fenced(Exception):
    """Another producer took over the transactional id."""


class NoAnswer(Exception):
    """A call has not come back in time, and may never do."""


def answered(call: Callable[[], object], patience: float) -> None:
    """Do not wait longer than that for a call.

    librdkafka does not keep the time limit of a request to a group's coordinator: where the coordinator was started
    again meanwhile, the call may stay away for ever (librdkafka issue 5456).
    """
    outcome: SimpleQueue[BaseException | None] = SimpleQueue()

    def run() -> None:
        try:
            call()
        except BaseException as error:
            outcome.put(error)
        else:
            outcome.put(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        error = outcome.get(timeout=patience + 1)
    except Empty:
        raise NoAnswer from None
    if error is not None:
        raise error


_abandoned: list[TransactionalProducer] = []
"""Writers with a call that has not come back: they cannot be closed, and are fenced by those that replace them."""
kept_transactional: KeptClients[str, TransactionalProducer] = KeptClients(LIMIT, TransactionalProducer.close)


def transaction(properties: Properties, topic: str | None, promise: Promise, task: int) -> TransactionalProducer | None:
    """The task's writer with the transaction of the batch open; None when the batch is in already."""
    name = promise.insert.transactional_id(task)
    for fresh in (False, True):
        writer = None if fresh else _taken(name, promise)
        if writer is None:
            writer = TransactionalProducer(properties, topic, promise.insert, task)
        if _is_in(promise, writer):
            kept_transactional.keep(name, writer)
            return None
        try:
            writer.begin(promise, PATIENCE if fresh else FIRST_PATIENCE)
        except Fenced:
            writer.close()
            continue
        except NoAnswer:
            _abandoned.append(writer)
            if fresh:
                raise named(KafkaError(KafkaError._TIMED_OUT), properties, "writing a transaction") from None
            continue
        except RowkindError:
            writer.close()
            if fresh:
                raise
            continue  # a kept producer may not get over its broker's restart
        return writer
    raise RowkindError("TRANSACTION_FENCED", id=name)


def _is_in(promise: Promise, writer: TransactionalProducer) -> bool:
    try:
        return kept(promise, writer.committed)
    except RowkindError:
        writer.close()
        raise


def kept(promise: Promise, last: Marker | None) -> bool:
    """Whether a batch is in already, by the marker of a task. Raises when a later or another batch is."""
    if last is None or last.version < promise.version:
        return False
    if last != Marker(promise.version, promise.entry):
        prefix = promise.insert.prefix
        raise RowkindError("CHECKPOINT_NOT_LATEST", prefix=prefix, batch=promise.version, found=last.version)
    return True


def _taken(name: str, promise: Promise) -> TransactionalProducer | None:
    """The writer that was kept, unless it is of no use any more, or another job's: what it remembers is not ours."""
    writer = kept_transactional.take(name)
    if writer is not None and (writer.disturbed or writer.insert != promise.insert):
        writer.close()
        return None
    return writer


def give_back(promise: Promise, task: int, writer: TransactionalProducer) -> None:
    """After a commit: the writer stays open for the next batch."""
    kept_transactional.keep(promise.insert.transactional_id(task), writer)


def settled(properties: Properties, insert: Insert, task: int) -> Marker | None:
    """End what an earlier run left open, so that readers of committed messages are not held up; what is in since."""
    try:
        writer = TransactionalProducer(properties, None, insert, task)
    except Fenced:
        raise RowkindError("TRANSACTION_FENCED", id=insert.transactional_id(task)) from None
    writer.close()
    return writer.committed
