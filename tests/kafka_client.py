"""A Kafka client for tests, on plain confluent-kafka: nothing of rowkind is involved in what it writes or reads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from confluent_kafka import Consumer, IsolationLevel, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from rowkind.broker.process import wait_until

SECONDS = 60
NOT_YET = ("NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PART", "_NOENT")
STALE = ("FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH")


class Record(NamedTuple):
    """A message as any Kafka client sees it."""

    key: bytes | None
    value: bytes | None
    partition: int = -1
    offset: int = -1
    timestamp: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    topic: str = ""


Partitions = Any
"""A number, but not declared as one: settings of topics have dots in their names and are given as `**{…}`, which for
mypy may be any of the arguments."""


class TopicFactory(Protocol):
    def __call__(self, partitions: Partitions = 1, name: str = "t", **config: str) -> str: ...


class KafkaClient:
    """Produce, consume and create topics on one broker; `config` reaches every client (security, …)."""

    def __init__(self, bootstrap: str, **config: Any) -> None:
        self.bootstrap = bootstrap
        self.config = {"bootstrap.servers": bootstrap, "log_level": 2, **config}

    @cached_property
    def admin(self) -> AdminClient:
        return AdminClient(self.config)

    def unique_topic(self, partitions: Partitions = 1, name: str = "t", **config: str) -> str:
        """Create a topic whose name starts with `name` and is used by nobody else."""
        unique = f"{name}-{uuid4().hex[:12]}"
        self.create_topic(unique, partitions, **config)
        return unique

    def create_topic(self, name: str, partitions: Partitions = 1, **config: str) -> None:
        """Create a topic, and wait until every partition can be written and read."""
        new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
        self.admin.create_topics([new])[name].result(SECONDS)
        self.end_offsets(name)

    def delete_topic(self, name: str) -> None:
        """Delete a topic, and wait until the broker knows that it is gone: the answer is the controller's."""
        self.admin.delete_topics([name])[name].result(SECONDS)
        gone = wait_until(lambda: name not in self.admin.list_topics(timeout=SECONDS).topics, SECONDS)
        assert gone, f"{name} is still there"

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic; none when it does not exist."""
        return sorted(self.admin.list_topics(topic, timeout=SECONDS).topics[topic].partitions)

    def end_offsets(self, topic: str, committed: bool = False) -> dict[int, int]:
        """Where each partition ends: the high watermark, or the last stable offset."""
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        return self._offsets(topic, OffsetSpec.latest(), level)  # type: ignore[no-untyped-call]

    def start_offsets(self, topic: str) -> dict[int, int]:
        return self._offsets(topic, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)  # type: ignore[no-untyped-call]

    def _offsets(self, topic: str, spec: OffsetSpec, level: IsolationLevel) -> dict[int, int]:
        """Ask until every partition has a leader: a new topic may take a moment."""
        found: dict[int, int] = {}

        def all_answer() -> bool:
            partitions = self.partitions(topic)
            asked = {TopicPartition(topic, partition): spec for partition in partitions}
            answers = self.admin.list_offsets(asked, isolation_level=level, request_timeout=SECONDS)
            try:
                found.update({place.partition: future.result(SECONDS).offset for place, future in answers.items()})
            except KafkaException as error:
                if error.args[0].name() in STALE:
                    del self.admin  # it would go on asking with what it knows from before a restart
                elif error.args[0].name() not in NOT_YET:
                    raise
                return False
            return bool(partitions)

        assert wait_until(all_answer, SECONDS), f"no leader for {topic}"
        return found

    def produce(self, topic: str, records: Iterable[Record | tuple[Any, Any]], **config: Any) -> None:
        """Write records, or pairs of key and value (text or bytes or None), and wait until the broker has them."""
        failures: list[Any] = []
        producer = Producer({**self.config, "partitioner": "murmur2_random", "linger.ms": 5, **config})
        transactional = "transactional.id" in config
        if transactional:
            producer.init_transactions(SECONDS)
            producer.begin_transaction()
        for record in records:
            self._send(producer, topic, record if isinstance(record, Record) else Record(*record), failures)
        if transactional:
            producer.commit_transaction(SECONDS)
        left = producer.flush(SECONDS)
        assert not failures, failures
        assert not left, f"{left} messages were not delivered"

    @staticmethod
    def _send(producer: Producer, topic: str, record: Record, failures: list[Any]) -> None:
        extra: dict[str, Any] = {} if record.timestamp is None else {"timestamp": record.timestamp}
        if record.partition >= 0:
            extra["partition"] = record.partition
        while True:
            try:
                producer.produce(
                    topic,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers),
                    on_delivery=lambda error, _: failures.append(error) if error else None,
                    **extra,
                )
                producer.poll(0)
                return
            except BufferError:
                producer.poll(1)

    def consume_all(self, topic: str, committed: bool = True, settled: bool = True, **config: Any) -> list[Record]:
        """All messages from the beginning to where the topic ends now, by partition and offset.

        Commit markers are written a moment after a commit has returned, so this first waits until no transaction is
        open; `settled=False` is for tests that leave one open.
        """
        if committed and settled:
            done = wait_until(lambda: self.end_offsets(topic, committed=True) == self.end_offsets(topic), SECONDS)
            assert done, f"a transaction stays open in {topic}"
        ends = {p: end for p, end in self.end_offsets(topic, committed).items() if end}
        settings = {
            **self.config,
            "group.id": f"test-{uuid4().hex}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 5,  # a broker that has nothing more says so at once, also after a commit marker
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            **config,
        }
        consumer = Consumer(settings)
        try:
            starts = self.start_offsets(topic)
            consumer.assign([TopicPartition(topic, p, starts[p]) for p in ends])
            return sorted(_drain(consumer, ends), key=lambda record: (record.partition, record.offset))
        finally:
            consumer.close()


def _drain(consumer: Consumer, ends: dict[int, int]) -> list[Record]:
    records: list[Record] = []
    pending = set(ends)
    while pending:
        messages: list[Any] = consumer.consume(10_000, timeout=0.01)
        for message in messages:
            error, partition, offset = message.error(), message.partition(), message.offset()
            if error is None and offset < ends[partition]:
                records.append(_record(message))
            elif error is not None and error.name() != "_PARTITION_EOF":
                raise AssertionError(error)
            if error is not None or offset + 1 >= ends[partition]:
                pending.discard(partition)
    return records


def _record(message: Any) -> Record:
    headers = tuple(message.headers() or ())
    timestamp = message.timestamp()[1]
    return Record(
        message.key(), message.value(), message.partition(), message.offset(), timestamp, headers, message.topic()
    )
