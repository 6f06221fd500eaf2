"""Writing to a real broker, checked by an independent consumer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from rowkind.connectors.kafka import producers as writers
from rowkind.connectors.kafka.metadata import WRITABLE
from rowkind.connectors.kafka.partitioners import Partitioner, default_partition, partitioner_named
from rowkind.connectors.kafka.producers import MessageProducer, drop_producer, producer_for
from rowkind.errors import RowkindError
from rowkind.types import arrow_type
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka


@pytest.fixture
def properties(kafka: str) -> dict[str, str]:
    return {"bootstrap.servers": kafka}


def payloads(pairs: Sequence[tuple[bytes | None, bytes | None]], **columns: pa.Array) -> pa.RecordBatch:
    keys, values = (pa.array([pair[i] for pair in pairs], pa.binary()) for i in (0, 1))
    return pa.RecordBatch.from_pydict({"key": keys, "value": values, **columns})


def numbered(count: int, keys: int = 40) -> list[tuple[bytes | None, bytes | None]]:
    return [(b'{"id":%d}' % (i % keys), b"%d" % i) for i in range(count)]


def written(properties: dict[str, str], topic: str | None, batch: pa.RecordBatch, *more: Any) -> MessageProducer:
    writer = MessageProducer(properties, topic)
    writer.write(batch, *more)
    writer.flush()
    return writer


def refusal(properties: dict[str, str], topic: str, batch: pa.RecordBatch) -> RowkindError:
    with pytest.raises(RowkindError) as caught:
        written(properties, topic, batch)
    return caught.value


def test_keys_go_where_java_puts_them_and_keep_their_order(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name, sent = topic(partitions=3), numbered(5000)
    assert written(properties, name, payloads(sent)).written == 5000
    found = kafka_client.consume_all(name)
    assert len(found) == 5000
    for key in {key for key, _ in sent}:
        assert key is not None
        mine = [record for record in found if record.key == key]
        assert {record.partition for record in mine} == {default_partition(key, 3)}
        assert [record.value for record in mine] == [value for k, value in sent if k == key]


def test_an_empty_key_is_hashed_and_no_key_is_spread(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic(partitions=5)
    written(properties, name, payloads([(b"", b"x")] * 50 + [(b"k", None)]))
    found = kafka_client.consume_all(name)
    assert {r.partition for r in found if r.key == b""} == {default_partition(b"", 5)}
    assert [r.value for r in found if r.key == b"k"] == [None]
    nameless = topic(partitions=2)
    given = {**properties, "rdkafka.sticky.partitioning.linger.ms": "0"}
    written(given, nameless, pa.RecordBatch.from_pydict({"value": pa.array([b"x"] * 200)}))
    spread = Counter(record.partition for record in kafka_client.consume_all(nameless))
    assert set(spread) == {0, 1}
    assert {record.key for record in kafka_client.consume_all(nameless)} == {None}


def test_topic_partition_timestamp_and_headers(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    one, two = topic(partitions=2), topic(partitions=2)
    then = datetime(2024, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
    batch = payloads(
        [(b"k", b"v"), (b"k", None)],
        topic=pa.array([one, two]),
        partition=pa.array([1, 0], pa.int32()),
        timestamp=pa.array([then, None], arrow_type(WRITABLE["timestamp"])),
        headers=pa.array([[("a", b"1"), ("b", None)], None], arrow_type(WRITABLE["headers"])),
    )
    written(properties, None, batch)
    (first,), (second,) = kafka_client.consume_all(one), kafka_client.consume_all(two)
    assert (first.partition, first.timestamp) == (1, int(then.timestamp() * 1000))
    assert first.headers == (("a", b"1"), ("b", None))
    assert (second.partition, second.value, second.headers) == (0, None, ())
    assert second.timestamp is not None
    assert second.timestamp > int(then.timestamp() * 1000)


def test_a_header_list_keeps_order_and_duplicates_and_leaves_out_nulls(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    entries = [{"key": "b", "value": b"1"}, None, {"key": None, "value": b"x"}, {"key": "b", "value": None}]
    headers = pa.array([entries, None], arrow_type(WRITABLE["header-list"]))
    written(properties, name, payloads([(None, b"x"), (None, b"y")], **{"header-list": headers}))
    assert [r.headers for r in kafka_client.consume_all(name)] == [(("b", b"1"), ("b", None)), ()]


def test_a_timestamp_that_kafka_cannot_hold(topic: TopicFactory, properties: dict[str, str]) -> None:
    times = pa.array([datetime(1969, 1, 1, tzinfo=UTC)], arrow_type(WRITABLE["timestamp"]))
    assert (
        refusal(properties, topic(), payloads([(None, b"x")], timestamp=times)).condition == "KAFKA_TIMESTAMP_TOO_OLD"
    )


class ByRow:
    """A partitioner of the user's own, which looks at the row."""

    def open(self, task: int, tasks: int) -> None:
        self.shift = task

    def partition(self, row: Any, key: Any, value: Any, topic: str, partitions: Sequence[int]) -> int:
        return int(row["n"]) + self.shift


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [("fixed", 4, [1] * 6), ("round-robin", 1, [1, 2, 0, 1, 2, 0]), (f"{__name__}:ByRow", 1, [1, 2, 1, 2, 1, 2])],
)
def test_partitioners(
    topic: TopicFactory,
    kafka_client: KafkaClient,
    properties: dict[str, str],
    name: str,
    task: int,
    expected: list[int],
) -> None:
    where, partitioner = topic(partitions=3), partitioner_named(name)
    assert isinstance(partitioner, Partitioner)
    partitioner.open(task, 6)
    written(properties, where, payloads(numbered(6)), partitioner, lambda: [{"n": i % 2} for i in range(6)])
    found = sorted(kafka_client.consume_all(where), key=lambda record: record.value or b"")
    assert [record.partition for record in found] == expected


def test_a_partitioner_that_answers_nonsense(topic: TopicFactory, properties: dict[str, str]) -> None:
    partitioner = ByRow()
    partitioner.open(7, 8)
    with pytest.raises(RowkindError) as caught:
        written(properties, topic(), payloads(numbered(1)), partitioner, lambda: [{"n": 1}])
    assert caught.value.condition == "PARTITIONER_ANSWER"


def test_a_full_queue_waits(topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]) -> None:
    name = topic()
    written({**properties, "rdkafka.queue.buffering.max.messages": "10"}, name, payloads(numbered(500)))
    assert [r.value for r in kafka_client.consume_all(name)] == [value for _, value in numbered(500)]


def test_a_queue_that_stays_full_is_given_up() -> None:
    given = {"bootstrap.servers": "127.0.0.1:1", "max.block.ms": "500", "rdkafka.queue.buffering.max.messages": "10"}
    assert refusal(given, "t", payloads(numbered(50))).condition == "KAFKA_UNREACHABLE"


def test_messages_that_are_not_delivered_are_named() -> None:
    error = refusal({"bootstrap.servers": "127.0.0.1:1", "delivery.timeout.ms": "500"}, "t", payloads(numbered(5)))
    assert error.condition == "KAFKA_DELIVERY_FAILED"
    assert error.params["topic"] == "t"


def test_a_missing_topic_is_named(properties: dict[str, str]) -> None:
    hasty = {"delivery.timeout.ms": "2000", "rdkafka.topic.metadata.propagation.max.ms": "100"}
    error = refusal({**properties, **hasty}, "no-such-topic", payloads(numbered(5)))
    assert error.condition == "KAFKA_DELIVERY_FAILED"


def test_a_message_that_is_too_large(topic: TopicFactory, properties: dict[str, str]) -> None:
    large = payloads([(None, b"x" * 20_000)])
    assert refusal({**properties, "max.request.size": "10000"}, topic(), large).condition == "KAFKA_MESSAGE_TOO_LARGE"
    small_topic = topic(**{"max.message.bytes": "10000"})
    assert refusal(properties, small_topic, large).condition == "KAFKA_MESSAGE_TOO_LARGE"


def test_without_a_guarantee_nothing_is_waited_for(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    writer = MessageProducer({**properties, "linger.ms": "60000"}, name)
    writer.write(payloads(numbered(3)))
    writer.flush(wait=False)
    assert kafka_client.consume_all(name) == []
    writer.flush()
    assert len(kafka_client.consume_all(name)) == 3


def test_writers_are_kept_and_dropped(
    topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]
) -> None:
    name = topic()
    writer = producer_for("sink", properties, name)
    assert producer_for("sink", properties, name) is writer
    assert producer_for("other", properties, name) is not writer
    drop_producer("sink", properties)
    assert producer_for("sink", properties, name) is not writer
    writers.kept_producers.close_all()
    assert not list(writers.kept_producers)


def test_a_transactional_writer(topic: TopicFactory, kafka_client: KafkaClient, properties: dict[str, str]) -> None:
    name = topic()
    writer = MessageProducer(properties, name, **{"transactional.id": name})
    writer.producer.init_transactions()
    for payload, commit in (b"kept", True), (b"gone", False):
        writer.producer.begin_transaction()
        writer.write(payloads([(None, payload)]))
        writer.flush()
        if commit:
            writer.producer.commit_transaction()
        else:
            writer.producer.abort_transaction()
    assert [record.value for record in kafka_client.consume_all(name)] == [b"kept"]
