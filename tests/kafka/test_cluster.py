"""What the driver asks a real cluster."""

from __future__ import annotations

import re

import pytest
from confluent_kafka import Producer

from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.groups import commit_offsets, commits_offsets
from rowkind.connectors.kafka.positions import (
    Start,
    StartMode,
    Stop,
    StopMode,
    resolve_new,
    resolve_start,
    resolve_stop,
)
from rowkind.connectors.kafka.ranges import Partition
from rowkind.errors import RowkindError
from tests.kafka.waiting import wait_for
from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = pytest.mark.kafka


@pytest.fixture
def cluster(kafka: str) -> Cluster:
    return Cluster({"bootstrap.servers": kafka})


def refusal(ask: object, *arguments: object) -> RowkindError:
    with pytest.raises(RowkindError) as caught:
        ask(*arguments)  # type: ignore[operator]
    return caught.value


def test_partitions_of_topics_and_patterns(cluster: Cluster, topic: TopicFactory) -> None:
    one, two = topic(partitions=2, name="cl-orders"), topic(name="cl-orders")
    assert cluster.partitions([two, one]) == [Partition(two, 0), Partition(one, 0), Partition(one, 1)]
    assert set(cluster.matching(re.compile("cl-orders-.*"))) >= {Partition(two, 0), Partition(one, 1)}
    assert cluster.matching(re.compile(one[:-1])) == []
    assert cluster.existing([one, "none-such"]) == {one: [0, 1]}


def test_a_missing_topic_is_named_with_the_nearest(cluster: Cluster, topic: TopicFactory) -> None:
    name = topic(name="pageviews")
    error = refusal(cluster.partitions, [name[:-1]])
    assert error.condition == "NO_SUCH_TOPIC"
    assert name in error.params["suggestion"]


def test_offsets(cluster: Cluster, topic: TopicFactory, kafka_client: KafkaClient) -> None:
    name = topic(partitions=2)
    full, empty = Partition(name, 0), Partition(name, 1)
    kafka_client.produce(name, [Record(None, b"x", 0, timestamp=1_700_000_000_000 + i) for i in range(10)])
    assert cluster.beginnings([full, empty]) == {full: 0, empty: 0}
    assert cluster.ends([full, empty]) == {full: 10, empty: 0}
    assert cluster.at([full, empty], 1_700_000_000_004) == {full: 4, empty: None}
    assert cluster.at([full], 1_900_000_000_000) == {full: None}
    assert cluster.ends([]) == {}


def test_the_end_is_the_last_stable_offset_unless_uncommitted_is_read(
    cluster: Cluster, topic: TopicFactory, kafka_client: KafkaClient
) -> None:
    name = topic()
    partition = Partition(name, 0)
    producer = Producer({**kafka_client.config, "transactional.id": name})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(name, b"open")
    producer.flush()
    uncommitted = Cluster({**cluster.properties, "isolation.level": "read_uncommitted"})
    assert cluster.ends([partition]) == {partition: 0}
    assert uncommitted.ends([partition]) == {partition: 1}
    assert cluster.ends([partition], stable=False) == {partition: 1}
    producer.abort_transaction()
    wait_for(lambda: cluster.ends([partition]) == {partition: 2})  # the marker is written a moment later


def test_creating_topics(cluster: Cluster) -> None:
    name = f"created-{id(cluster)}"
    assert cluster.create_topic(name, 3, 1, {"cleanup.policy": "compact"})
    assert not cluster.create_topic(name)
    assert len(cluster.partitions([name])) == 3
    assert cluster.topic_config(name)["cleanup.policy"] == "compact"
    assert refusal(cluster.create_topic, name + "-r", 1, 7).condition == "TOPIC_NOT_CREATED"
    assert refusal(cluster.create_topic, name + "-c", 1, 1, {"no.such": "x"}).condition == "TOPIC_NOT_CREATED"
    assert refusal(cluster.create_topic, "no good name").condition == "TOPIC_NOT_CREATED"


def test_group_offsets_are_committed_and_read(cluster: Cluster, topic: TopicFactory, kafka_client: KafkaClient) -> None:
    name = topic(partitions=2)
    partitions = cluster.partitions([name])
    kafka_client.produce(name, [Record(None, b"x", i % 2) for i in range(20)])
    grouped = Cluster({**cluster.properties, "group.id": f"g-{name}"})
    assert grouped.committed(f"g-{name}", partitions) == {}
    commit_offsets(grouped, {Partition(name, 0): 4})
    assert grouped.committed(f"g-{name}", partitions) == {Partition(name, 0): 4}
    commit_offsets(grouped, {Partition(name, 0): 5})

    begin = Start(StartMode.GROUP, group=f"g-{name}", reset="earliest")
    assert resolve_start(grouped, begin, partitions).offsets == {Partition(name, 0): 5, Partition(name, 1): 0}
    named = Stop(StopMode.SPECIFIC, offsets={1: 7}, group=f"g-{name}")
    stop = resolve_stop(grouped, named, partitions)
    assert stop is not None
    assert stop.offsets == {Partition(name, 0): 5, Partition(name, 1): 7}


def test_when_offsets_are_committed() -> None:
    assert commits_offsets({"group.id": "g"})
    assert not commits_offsets({"group.id": "g", "commit.offsets.on.checkpoint": "false"})
    assert not commits_offsets({})


def test_positions_of_a_real_topic(cluster: Cluster, topic: TopicFactory, kafka_client: KafkaClient) -> None:
    name = topic()
    where = [Partition(name, 0)]
    kafka_client.produce(name, [Record(None, b"x", 0, timestamp=1_700_000_000_000 + i) for i in range(10)])

    def at(start: Start) -> int:
        return resolve_start(cluster, start, where).offsets[where[0]]

    assert at(Start(StartMode.EARLIEST)) == 0
    assert at(Start(StartMode.LATEST)) == 10
    assert at(Start(StartMode.TIMESTAMP, timestamp=1_700_000_000_003)) == 3
    assert at(Start(StartMode.TIMESTAMP, timestamp=1_900_000_000_000)) == 10
    assert at(Start(StartMode.SPECIFIC, offsets={0: 6})) == 6
    assert at(Start(StartMode.SPECIFIC, offsets={0: 11})) == 0
    assert at(Start(StartMode.GROUP)) == 10
    stop = resolve_stop(cluster, Stop(StopMode.TIMESTAMP, timestamp=1_700_000_000_003), where)
    assert stop is not None
    assert stop.offsets == {where[0]: 3}
    assert resolve_stop(cluster, Stop(), where) is None
    assert resolve_new(cluster, where).offsets == {where[0]: 0}


@pytest.mark.parametrize("servers", ["127.0.0.1:1", "no-such-host.invalid:9092"])
def test_a_cluster_that_does_not_answer_is_given_up_with_its_address(servers: str) -> None:
    silent = Cluster({"bootstrap.servers": servers, "default.api.timeout.ms": "300"})
    partition = Partition("t", 0)
    for ask in (silent.topics, lambda: silent.partitions(["t"]), lambda: silent.ends([partition])):
        error = refusal(ask)
        assert error.condition == "KAFKA_UNREACHABLE"
        assert error.params["servers"] == servers
