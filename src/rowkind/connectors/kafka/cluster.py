"""What the driver asks a Kafka cluster: topics, partitions, offsets, settings."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
    TopicDescription,
)

from rowkind.connectors.kafka.clients import Properties, named, open_admin, open_consumer
from rowkind.connectors.kafka.ranges import Partition
from rowkind.errors import RowkindError, nearest

K = TypeVar("K")
T = TypeVar("T")
Offsets = dict[Partition, int]

TIMEOUT = 10.0
"""Seconds until a silent cluster is given up, unless `default.api.timeout.ms` says otherwise."""

_INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
_PASSING = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._WAIT_COORD,
        KafkaError._NOENT,  # no partition has a leader yet
    }
)
_STALE = frozenset({KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH})


class Cluster:
    """A cluster behind one kept admin client; every question gives up after a timeout with a named error."""

    def __init__(self, properties: Properties) -> None:
        self.properties = dict(properties)
        self.timeout = int(properties["default.api.timeout.ms"]) / 1000 if _has_timeout(properties) else TIMEOUT
        self._admin, self._reports = open_admin(properties)
        self._members: dict[str, Consumer] = {}

    def topics(self) -> dict[str, list[int]]:
        """Every topic that may be seen, with its partitions."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                listed = self._admin.list_topics(timeout=min(1.0, self.timeout)).topics
                return {name: sorted(topic.partitions) for name, topic in listed.items() if not topic.error}
            except KafkaException as error:
                self._give_up_or_go_on(error.args[0], deadline, "listing topics")

    def matching(self, pattern: re.Pattern[str]) -> list[Partition]:
        """The partitions of all topics whose whole name matches; none is no error."""
        hidden = _INTERNAL_TOPICS if self.properties.get("exclude.internal.topics", "true") == "true" else frozenset()
        found = {name: ids for name, ids in self.topics().items() if pattern.fullmatch(name) and name not in hidden}
        return [Partition(name, number) for name in sorted(found) for number in found[name]]

    def partitions(self, topics: Sequence[str]) -> list[Partition]:
        """The partitions of the named topics; a missing topic is an error that names the nearest ones."""
        found = self.existing(topics)
        for topic in topics:
            if topic not in found:
                raise RowkindError("NO_SUCH_TOPIC", topic=topic, suggestion=nearest(topic, self.topics()))
        return [Partition(topic, number) for topic in topics for number in found[topic]]

    def existing(self, topics: Sequence[str]) -> dict[str, list[int]]:
        """Those of the named topics that exist, with their partitions. Asking does not create them."""
        return {topic: sorted(p.id for p in said.partitions) for topic, said in self._described(topics).items()}

    def topic_ids(self, topics: Sequence[str]) -> dict[str, str]:
        """The ids of those of the named topics that exist: a topic that is created again has another one."""
        return {topic: str(said.topic_id) for topic, said in self._described(topics).items()}

    def _described(self, topics: Sequence[str]) -> dict[str, TopicDescription]:
        asked = self._admin.describe_topics(TopicCollection(list(topics)), request_timeout=self.timeout)
        found = {}
        for topic, future in asked.items():
            answer = self._answer(future, f"looking for topic '{topic}'", missing=KafkaError.UNKNOWN_TOPIC_OR_PART)
            if answer is not None:
                found[topic] = answer
        return found

    def beginnings(self, partitions: Iterable[Partition]) -> Offsets:
        """The first offset that is still there."""
        return self._offsets(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def ends(self, partitions: Iterable[Partition], stable: bool | None = None) -> Offsets:
        """Where reading ends now: the last stable offset under read_committed, else the high watermark."""
        return self._offsets(partitions, OffsetSpec.latest(), stable)  # type: ignore[no-untyped-call]

    def at(self, partitions: Iterable[Partition], millis: int) -> dict[Partition, int | None]:
        """The first offset whose message has this timestamp or a later one; None when there is no such message."""
        found = self._offsets(partitions, OffsetSpec.for_timestamp(millis))
        return {partition: None if offset < 0 else offset for partition, offset in found.items()}

    def committed(self, group: str, partitions: Iterable[Partition]) -> Offsets:
        """The group's committed offsets, of those partitions that have one."""
        asked = [TopicPartition(*partition) for partition in partitions]
        if not asked:
            return {}
        consumer = self._member(group)

        def ask() -> list[TopicPartition]:
            return _checked(consumer.committed(asked, timeout=self.timeout))

        found = self._retried(ask, f"reading the committed offsets of group '{group}'")
        return {Partition(p.topic, p.partition): p.offset for p in found if p.offset >= 0}

    def commit(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """Commit offsets for a group that has no running members."""
        wanted = [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        consumer = self._member(group)
        self._retried(
            lambda: _checked(consumer.commit(offsets=wanted, asynchronous=False)),
            f"committing offsets of group '{group}'",
        )

    def _member(self, group: str) -> Consumer:
        """A consumer that speaks for a group without joining it.

        The admin client's own calls for it crash librdkafka 2.16 while the group's coordinator is being loaded.
        """
        if group not in self._members:
            own = {"group.id": group, "isolation.level": "read_committed"}
            self._members[group], _ = open_consumer({**self.properties, **own})
        return self._members[group]

    def topic_config(self, topic: str) -> dict[str, str]:
        """A topic's settings, defaults included."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        future = self._admin.describe_configs([resource], request_timeout=self.timeout)[resource]
        answer = self._answer(future, f"reading the settings of topic '{topic}'")
        return {name: entry.value for name, entry in answer.items()}

    def broker_setting(self, name: str) -> str | None:
        """A setting of one of the brokers; None where it may not be read."""
        found = self._retried(lambda: self._admin.list_topics(timeout=self.timeout), "asking for the brokers")
        resource = ConfigResource(ResourceType.BROKER, str(next(iter(found.brokers))))
        future = self._admin.describe_configs([resource], request_timeout=self.timeout)[resource]
        try:
            entry = future.result(self.timeout + 5).get(name)
        except KafkaException:
            return None
        return None if entry is None else str(entry.value)

    def create_topic(
        self, topic: str, partitions: int = -1, replication: int = -1, config: Mapping[str, str] | None = None
    ) -> bool:
        """Create a topic and wait until it can be used; -1 leaves a number to the broker. False when it was there."""
        new = NewTopic(topic, num_partitions=partitions, replication_factor=replication, config=dict(config or {}))
        future = self._admin.create_topics([new], request_timeout=self.timeout)[topic]
        try:
            self._answer(future, f"creating topic '{topic}'")
        except RowkindError as error:
            if error.params.get("code") == "TOPIC_ALREADY_EXISTS":
                return False
            if error.condition == "KAFKA_FAILED":
                raise RowkindError("TOPIC_NOT_CREATED", topic=topic, reason=error.params["reason"]) from error
            raise
        self._retried(lambda: self._use(topic), f"waiting for topic '{topic}'")
        return True

    def await_topic(self, topic: str, seconds: float = 120) -> None:
        """Wait until a topic can be used that somebody else was asked to create."""
        deadline = time.monotonic() + seconds
        while topic not in self.existing([topic]):
            if time.monotonic() > deadline:
                reason = f"it was created elsewhere, and the brokers do not show it after {seconds:.0f} s"
                raise RowkindError("TOPIC_NOT_CREATED", topic=topic, reason=reason)
            self._admin.poll(0.5)
        self._retried(lambda: self._use(topic), f"waiting for topic '{topic}'")

    def _use(self, topic: str) -> None:
        found = self.existing([topic])
        if topic not in found:
            raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
        self.ends([Partition(topic, number) for number in found[topic]])

    def _offsets(self, partitions: Iterable[Partition], spec: OffsetSpec, stable: bool | None = None) -> Offsets:
        if stable is None:
            stable = self.properties.get("isolation.level", "read_committed") == "read_committed"
        level = IsolationLevel.READ_COMMITTED if stable else IsolationLevel.READ_UNCOMMITTED
        found: Offsets = {}
        wanted = set(partitions)

        def ask() -> None:
            asked = {TopicPartition(*p): spec for p in wanted - found.keys()}
            futures = self._admin.list_offsets(asked, isolation_level=level, request_timeout=self.timeout)
            failure = None
            for part, future in futures.items():
                try:
                    found[Partition(part.topic, part.partition)] = future.result(self.timeout + 5).offset
                except KafkaException as error:
                    failure = error
            if failure:
                raise failure

        if wanted:
            self._retried(ask, "asking for offsets")
        return dict(sorted(found.items()))

    def _retried(self, ask: Callable[[], T], what: str) -> T:
        """Ask until it works; a new topic or a moving leader answers with errors that pass."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                answer = ask()
                self._reports.errors.clear()
                return answer
            except KafkaException as error:
                self._give_up_or_go_on(error.args[0], deadline, what)
                if error.args[0].code() in _STALE:
                    # A client keeps asking with the leader's epoch that it knows from before the broker's restart.
                    self._admin, self._reports = open_admin(self.properties)
                self._admin.poll(0.05)

    def _give_up_or_go_on(self, error: KafkaError, deadline: float, what: str) -> None:
        self._admin.poll(0)
        passing = error.code() in _PASSING or error.retriable() or error.code() == KafkaError._TRANSPORT
        if self._reports.hopeless or not passing or time.monotonic() >= deadline:
            raise self._named(error, what) from None

    def _answer(self, future: Future[Any], what: str, missing: int | None = None) -> Any:
        """A future's result; None for the error code that means there is no such thing."""
        while True:
            try:
                answer = future.result(0.2)
                self._reports.errors.clear()
                return answer
            except NotYet:
                self._admin.poll(0)
                if self._reports.hopeless:
                    raise self._named(self._reports.hopeless, what) from None
            except KafkaException as error:
                self._admin.poll(0)
                if error.args[0].code() == missing:
                    return None
                raise self._named(error.args[0], what) from None

    def _named(self, error: KafkaError, what: str) -> RowkindError:
        failure = named(error, self.properties, what, tuple(self._reports.errors))
        self._reports.errors.clear()
        return failure


def _checked(partitions: list[TopicPartition] | None) -> list[TopicPartition]:
    for partition in partitions or ():
        if partition.error:
            raise KafkaException(partition.error)
    return partitions or []


def _has_timeout(properties: Properties) -> bool:
    return properties.get("default.api.timeout.ms", "").isdigit()
