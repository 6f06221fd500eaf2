"""Reading an offset range into Arrow batches of raw bytes and metadata. Runs in a Python worker, once per range."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NoReturn

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from rowkind.connectors.kafka import consumers
from rowkind.connectors.kafka.clients import AUTHORIZATION, Properties, named, open_consumer
from rowkind.connectors.kafka.consumers import KeptConsumer
from rowkind.connectors.kafka.fetching import Event, Fetched, ReadFields
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.errors import RowkindError
from rowkind.metrics.traffic import Traffic

OnDataLoss = Literal["fail", "continue"]

CAP_ROWS = 50_000
CAP_BYTES = 16 * 1024 * 1024
PATIENCE = 60.0
"""Seconds without progress until a range is given up, unless `default.api.timeout.ms` says otherwise."""

_POLL_SECONDS = 0.02
_CHUNK = 10_000
_OUT_OF_RANGE = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})
_UNKNOWN_TOPIC = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})


@dataclass(slots=True)
class ReadCounts:
    """What happened while ranges were read."""

    lost: int = 0
    """Offsets that were gone before they could be read, under `on_data_loss="continue"`."""
    traffic: Traffic = field(default_factory=Traffic)
    """With Kafka's timestamps as event time."""


def read(
    range: OffsetRange,
    properties: Properties,
    fields: ReadFields | None = None,
    cap_rows: int = CAP_ROWS,
    on_data_loss: OnDataLoss = "fail",
    counts: ReadCounts | None = None,
    leave_deleted: bool = False,
) -> Iterator[pa.RecordBatch]:
    """The messages of a range, in order, in batches of about `cap_rows`. An empty range gives none.

    With `leave_deleted` what is left of the range is given up, and counted, when its topic was deleted.
    """
    if range.start >= range.until:
        return
    fields, counts = fields or ReadFields(), counts or ReadCounts()
    reading = _Reading(consumers.take(range, properties, fields), range, properties, on_data_loss, counts)
    reading.leave_deleted = leave_deleted
    try:
        yield from reading.batches(cap_rows)
    except BaseException:
        # also when the caller stops early: nobody knows where this consumer stands
        reading.kept.close()
        raise
    consumers.give_back(reading.kept, properties)


class _Reading:
    """One pass over a range: it ends by position, so holes and transaction markers at its end do not matter."""

    def __init__(
        self, kept: KeptConsumer, range: OffsetRange, properties: Properties, on_loss: OnDataLoss, counts: ReadCounts
    ) -> None:
        self.kept = kept
        self.range = range
        self.properties = properties
        self.on_loss = on_loss
        self.counts = counts
        self.leave_deleted = False
        self.next = range.start
        self.stalled_by: KafkaError | None = None
        wait = properties.get("default.api.timeout.ms", "")
        self.patience = int(wait) / 1000 if wait.isdigit() else PATIENCE
        self.deadline = time.monotonic() + self.patience

    def batches(self, cap_rows: int) -> Iterator[pa.RecordBatch]:
        pending: list[pa.RecordBatch] = []
        rows = size = 0
        while self.next < self.range.until:
            chunk = self._chunk(min(_CHUNK, cap_rows - rows))
            if len(chunk):
                self._count(chunk)
                pending.append(chunk.rows)
                rows, size = rows + len(chunk), size + chunk.bytes
            if rows >= cap_rows or size >= CAP_BYTES:
                yield pa.concat_batches(pending)
                pending, rows, size = [], 0, 0
        if pending:
            yield pa.concat_batches(pending)
        self.kept.next = self.range.until

    def _count(self, chunk: Fetched) -> None:
        latest = max(chunk.times)
        fetched = time.time_ns() // 1_000_000
        self.counts.traffic.read(len(chunk), int(chunk.sizes.sum()), latest if latest >= 0 else None, fetched)

    def _chunk(self, limit: int) -> Fetched:
        """The next messages inside the range, perhaps none; moves `next` on."""
        fetched = self.kept.fetch(min(limit, self.range.until - self.next), _POLL_SECONDS)
        if len(fetched):
            fetched = self._inside(fetched)
        elif not fetched.events:
            self._move_by_position()
        for event in fetched.events:
            self._handle(event)
        return fetched

    def _inside(self, fetched: Fetched) -> Fetched:
        last = int(fetched.offsets[-1])
        if last < self.range.until:
            self._moved_to(last + 1)
            return fetched
        cut = int(np.searchsorted(fetched.offsets, self.range.until))
        self.kept.carry_over(fetched[cut:])
        self._moved_to(self.range.until)
        return fetched[:cut]

    def _moved_to(self, offset: int) -> None:
        if offset > self.next:
            self.next = offset
            self.stalled_by = None
            self.kept.fetcher.reports.errors.clear()
            self.deadline = time.monotonic() + self.patience

    def _move_by_position(self) -> None:
        self._moved_to(self.kept.fetcher.position())
        if self.next < self.range.until and time.monotonic() > self.deadline:
            try:
                self._give_up(self.kept.fetcher.reports.hopeless or self.stalled_by)
            except RowkindError as failure:
                if not self.leave_deleted or failure.condition != "NO_SUCH_TOPIC":
                    raise
                self._leave()

    def _leave(self) -> None:
        """The topic is gone, and with it the rest of the range."""
        self.counts.lost += self.range.until - self.next
        self._moved_to(self.range.until)

    def _handle(self, event: Event) -> None:
        error = event.error
        code = error.code()
        if code == KafkaError._PARTITION_EOF:
            self._moved_to(event.offset)
        elif code in _OUT_OF_RANGE:
            self._out_of_range()
        elif code == KafkaError.GROUP_AUTHORIZATION_FAILED:
            return  # the group is only a name here: no consumer joins it
        elif code in AUTHORIZATION or error.fatal():
            raise self._named(error)
        else:
            self.stalled_by = error

    def _out_of_range(self) -> None:
        """The broker no longer has the offset (retention), or does not have it any more (a topic created again)."""
        low, high = self._watermarks()
        available = low if low > self.next else high
        if low <= self.next <= high:
            self._reopen()
            return
        made_anew = self.next > high
        if self.on_loss == "fail" and not (self.leave_deleted and made_anew):
            raise self._data_loss(available)
        resume = min(low, self.range.until) if low > self.next else self.range.until
        self.counts.lost += resume - self.next
        self._moved_to(resume)
        self._reopen()

    def _reopen(self) -> None:
        self.kept.close()
        self.kept = consumers.opened(self.kept.partition, self.next, self.properties, self.kept.fields)

    def _watermarks(self) -> tuple[int, int]:
        try:
            return self.kept.fetcher.watermarks(self.patience)
        except KafkaException as error:
            raise self._named(error.args[0]) from None

    def _give_up(self, cause: KafkaError | None) -> NoReturn:
        if cause is not None:
            raise self._named(cause)
        low, high = self._watermarks()
        if not low <= self.next < high or high < self.range.until:
            raise self._data_loss(low if low > self.next else high)
        raise self._named(KafkaError(KafkaError._TIMED_OUT))

    def _data_loss(self, available: int) -> RowkindError:
        return RowkindError(
            "KAFKA_DATA_LOSS",
            topic=self.range.topic,
            partition=self.range.partition,
            wanted=self.next,
            until=self.range.until,
            available=available,
        )

    def _named(self, error: KafkaError) -> RowkindError:
        if error.code() in _UNKNOWN_TOPIC:
            error = self._topic_error() or error
        if error.code() in _UNKNOWN_TOPIC:
            return RowkindError("NO_SUCH_TOPIC", topic=self.range.topic, suggestion="; it was there when the job began")
        where = f"topic '{self.range.topic}', partition {self.range.partition}, offset {self.next}"
        return named(error, self.properties, f"reading {where}", tuple(self.kept.fetcher.reports.errors))

    def _topic_error(self) -> KafkaError | None:
        """What the broker says of the topic itself: to a consumer, one that it may not see is just not there."""
        try:
            consumer, _ = open_consumer(self.properties)
            found = consumer.list_topics(self.range.topic, timeout=5).topics[self.range.topic]
        except KafkaException as error:
            return KafkaError(error.args[0].code(), error.args[0].str())
        return found.error  # type: ignore[no-any-return]
