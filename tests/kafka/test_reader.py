"""Reading ranges from a real broker: what an independent consumer sees, whatever the cuts."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from rowkind.connectors.kafka import consumers
from rowkind.connectors.kafka.fetching import ReadFields
from rowkind.connectors.kafka.metadata import READABLE
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import ReadCounts, read
from rowkind.errors import RowkindError
from tests.kafka.waiting import wait_for
from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = pytest.mark.kafka

OFFSETS = ReadFields(metadata=("offset",))


@pytest.fixture
def properties(kafka: str) -> dict[str, str]:
    return {"bootstrap.servers": kafka}


def rows(range: OffsetRange, properties: dict[str, str], **more: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for batch in read(range, properties, OFFSETS, **more):
        found += zip(*(batch.column(name).to_pylist() for name in ("offset", "key", "value")), strict=True)
    return found


def test_payloads_tombstones_and_null_keys(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    sent = [(b"k", b"v"), (b"k", None), (None, b"v"), (None, None), (b"", b"")]
    kafka_client.produce(name, sent)
    batches = list(read(OffsetRange(name, 0, 0, 5), properties))
    table = pa.Table.from_batches(batches)
    assert table.schema.names == ["key", "value"]
    assert list(zip(*table.to_pydict().values(), strict=True)) == sent


def test_every_metadata_column(topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]) -> None:
    name = topic(partitions=2)
    headers = (("a", b"1"), ("b", None), ("a", b"2"))
    record = Record(b"k", b"v", 1, timestamp=1_700_000_000_123, headers=headers)
    kafka_client.produce(name, [record, Record(b"k", b"w", 1, timestamp=1_700_000_000_124)])
    (batch,) = read(OffsetRange(name, 1, 0, 2), properties, ReadFields(False, False, tuple(READABLE)))
    assert batch.schema.names == list(READABLE)
    assert batch.to_pylist()[0] == {
        "topic": name,
        "partition": 1,
        "headers": [("a", b"2"), ("b", None)],
        "header-list": [{"key": "a", "value": b"1"}, {"key": "b", "value": None}, {"key": "a", "value": b"2"}],
        "leader-epoch": 0,
        "offset": 0,
        "timestamp": datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC),
        "timestamp-type": "CreateTime",
    }
    assert batch.to_pylist()[1]["headers"] == []
    assert batch.to_pylist()[1]["header-list"] == []


def test_log_append_time_and_no_headers_at_all(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic(**{"message.timestamp.type": "LogAppendTime"})
    kafka_client.produce(name, [(b"k", b"v")] * 2)
    fields = ReadFields(metadata=("timestamp-type", "headers", "header-list"))
    (batch,) = read(OffsetRange(name, 0, 0, 2), properties, fields)
    assert batch.column("timestamp-type").to_pylist() == ["LogAppendTime"] * 2
    assert batch.column("headers").to_pylist() == batch.column("header-list").to_pylist() == [[], []]
    assert batch.schema == fields.schema


def test_empty_ranges_give_nothing(topic: TopicFactory, properties: dict[str, str]) -> None:
    name = topic()
    assert rows(OffsetRange(name, 0, 0, 0), properties) == []
    assert rows(OffsetRange(name, 0, 7, 3), properties) == []


def test_batches_are_capped(topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]) -> None:
    name = topic()
    kafka_client.produce(name, [(None, b"%d" % i) for i in range(2500)])
    sizes = [batch.num_rows for batch in read(OffsetRange(name, 0, 100, 2400), properties, cap_rows=1000)]
    assert sizes == [1000, 1000, 300]


def write_transactions(client: KafkaClient, topic: str, chance: random.Random, count: int) -> None:
    producer = Producer({**client.config, "transactional.id": topic})
    producer.init_transactions()
    for number in range(count):
        producer.begin_transaction()
        for message in range(chance.randrange(1, 30)):
            producer.produce(topic, b"%d-%d" % (number, message), b"%d" % chance.randrange(15))
        producer.flush()
        if chance.random() < 0.4:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
    # markers are written a moment after the answer
    wait_for(lambda: client.end_offsets(topic, committed=True) == client.end_offsets(topic))


def check_random_ranges(
    client: KafkaClient, topic: str, properties: dict[str, str], chance: random.Random, committed: bool = True
) -> None:
    """Ranges that follow each other and ranges that jump give what an independent consumer sees there."""
    expected = [(r.offset, r.key, r.value) for r in client.consume_all(topic, committed)]
    end = client.end_offsets(topic, committed)[0]
    until = 0
    for _ in range(60):
        start = until if until < end and chance.random() < 0.7 else chance.randrange(end)
        until = chance.randrange(start, end + 1)
        found = rows(OffsetRange(topic, 0, start, until), properties, cap_rows=chance.choice((7, 1000)))
        assert found == [row for row in expected if start <= row[0] < until]
    assert rows(OffsetRange(topic, 0, 0, end), properties) == expected


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.matrix) for seed in (1, 2))])
@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_transactions(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str], seed: int, isolation: str
) -> None:
    name, chance = topic(), random.Random(seed)
    write_transactions(kafka_client, name, chance, 30)
    given = {**properties, "isolation.level": isolation}
    check_random_ranges(kafka_client, name, given, chance, committed=isolation == "read_committed")


def test_an_aborted_tail_ends(topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]) -> None:
    name = topic()
    producer = Producer({**kafka_client.config, "transactional.id": name})
    producer.init_transactions()
    for payload, commit in ((b"kept", True), (b"gone", False)):
        producer.begin_transaction()
        producer.produce(name, payload)
        producer.flush()
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    wait_for(lambda: kafka_client.end_offsets(name, committed=True) == {0: 4})
    assert [value for _, _, value in rows(OffsetRange(name, 0, 0, 4), properties)] == [b"kept"]
    assert rows(OffsetRange(name, 0, 2, 4), properties) == []


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.matrix)])
def test_compacted_holes(topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str], seed: int) -> None:
    compact = {"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.001"}
    name, chance = topic(**compact, **{"delete.retention.ms": "0", "max.compaction.lag.ms": "1"}), random.Random(seed)
    for _ in range(10):
        kafka_client.produce(name, [(b"%d" % chance.randrange(50), b"x") for _ in range(50)])
        write_transactions(kafka_client, name, chance, 3)
    # tombstones of every key at the end: once compacted, the tail of the topic is one hole
    kafka_client.produce(name, [(b"%d" % key, None) for key in range(50)])
    before = kafka_client.end_offsets(name)[0]

    def compacted() -> bool:
        kafka_client.produce(name, [(b"roll", b"x")])  # a new message closes the segment before it
        return len(kafka_client.consume_all(name)) < before / 3

    wait_for(compacted)
    stop_compaction(kafka_client, name)
    check_random_ranges(kafka_client, name, properties, chance)


def stop_compaction(client: KafkaClient, topic: str) -> None:
    """Keep everything from now on, and wait until a cleaning that is under way is over."""
    entries = [ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET)]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    client.admin.incremental_alter_configs([resource])[resource].result(60)
    seen = [client.consume_all(topic)]

    def settled() -> bool:
        seen.append(client.consume_all(topic))
        return len(seen) > 5 and all(records == seen[-1] for records in seen[-5:])

    wait_for(settled)


def delete_before(client: KafkaClient, topic: str, offset: int) -> None:
    for future in client.admin.delete_records([TopicPartition(topic, 0, offset)]).values():
        future.result(60)


def test_data_removed_by_retention_is_an_error(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    kafka_client.produce(name, [(None, b"x")] * 10)
    delete_before(kafka_client, name, 6)
    with pytest.raises(RowkindError) as caught:
        rows(OffsetRange(name, 0, 2, 10), properties)
    assert caught.value.condition == "KAFKA_DATA_LOSS"
    assert {k: caught.value.params[k] for k in ("topic", "partition", "wanted", "available")} == {
        "topic": name,
        "partition": 0,
        "wanted": 2,
        "available": 6,
    }
    assert len(rows(OffsetRange(name, 0, 6, 10), properties)) == 4


def test_data_removed_by_retention_is_counted_when_the_job_goes_on(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name, counts = topic(), ReadCounts()
    kafka_client.produce(name, [(None, b"x")] * 10)
    delete_before(kafka_client, name, 6)
    found = rows(OffsetRange(name, 0, 2, 9), properties, on_data_loss="continue", counts=counts)
    assert [offset for offset, _, _ in found] == [6, 7, 8]
    assert (counts.traffic.records, counts.lost) == (3, 4)
    assert rows(OffsetRange(name, 0, 1, 5), properties, on_data_loss="continue", counts=counts) == []
    assert counts.lost == 8
    assert [o for o, _, _ in rows(OffsetRange(name, 0, 5, 10), properties, on_data_loss="continue")] == [6, 7, 8, 9]


def test_retention_overtaking_a_kept_consumer(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    kafka_client.produce(name, [(None, b"x")] * 10)
    assert len(rows(OffsetRange(name, 0, 0, 10), properties)) == 10
    kafka_client.produce(name, [(None, b"x")] * 10)
    delete_before(kafka_client, name, 15)
    # what the consumer had fetched before is not lost; the rest is, and is counted
    counts = ReadCounts()
    found = rows(OffsetRange(name, 0, 10, 20), properties, on_data_loss="continue", counts=counts)
    assert [offset for offset, _, _ in found][-5:] == list(range(15, 20))
    assert len(found) + counts.lost == 10


def test_a_topic_that_ends_before_the_range(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    kafka_client.produce(name, [(None, b"x")] * 5)
    hasty = {**properties, "default.api.timeout.ms": "500"}
    for start in (3, 8):
        with pytest.raises(RowkindError) as caught:
            rows(OffsetRange(name, 0, start, 9), hasty)
        assert caught.value.condition == "KAFKA_DATA_LOSS"
        assert caught.value.params["available"] == 5


def test_consumers_are_kept_and_carry_what_they_read_too_much(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    consumers.kept_consumers.close_all()
    name = topic()
    kafka_client.produce(name, [(None, b"%d" % i) for i in range(1000)])
    assert len(rows(OffsetRange(name, 0, 0, 300), properties)) == 300
    (kept,) = consumers.kept_consumers
    assert len(rows(OffsetRange(name, 0, 300, 1000), properties)) == 700
    assert [k.fetcher for k in consumers.kept_consumers] == [kept.fetcher]
    # a range that does not go on where the last one ended is read right all the same
    assert [o for o, _, _ in rows(OffsetRange(name, 0, 5, 8), properties)] == [5, 6, 7]


def test_a_reading_that_is_left_early_does_not_spoil_the_next(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    kafka_client.produce(name, [(None, b"%d" % i) for i in range(100)])
    reading = read(OffsetRange(name, 0, 0, 100), properties, cap_rows=10)
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    assert [o for o, _, _ in rows(OffsetRange(name, 0, 0, 100), properties)] == list(range(100))


def test_the_number_of_kept_consumers_is_bounded(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    consumers.kept_consumers.close_all()
    monkeypatch.setattr(consumers.kept_consumers, "limit", 2)
    name = topic(partitions=4)
    kafka_client.produce(name, [Record(None, b"x", p) for p in range(4)])
    for partition in range(4):
        assert len(rows(OffsetRange(name, partition, 0, 1), properties)) == 1
    assert [kept.partition.partition for kept in consumers.kept_consumers] == [2, 3]
    monkeypatch.setattr(consumers.kept_consumers, "idle_seconds", 0.0)
    assert len(rows(OffsetRange(name, 0, 0, 1), properties)) == 1
    assert [kept.partition.partition for kept in consumers.kept_consumers] == [0]


def test_a_broker_that_is_not_there() -> None:
    with pytest.raises(RowkindError) as caught:
        rows(OffsetRange("t", 0, 0, 5), {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "500"})
    assert caught.value.condition == "KAFKA_UNREACHABLE"


def test_a_topic_that_is_not_there(properties: dict[str, str]) -> None:
    hasty = {"default.api.timeout.ms": "500", "rdkafka.topic.metadata.propagation.max.ms": "100"}
    with pytest.raises(RowkindError) as caught:
        rows(OffsetRange("no-such-topic", 0, 0, 5), {**properties, **hasty})
    assert caught.value.condition == "NO_SUCH_TOPIC"
