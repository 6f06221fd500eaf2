"""A broker that goes away in the middle, and comes back or does not."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pyarrow as pa
import pytest

from rowkind.broker import Broker
from rowkind.connectors.contract import Promise
from rowkind.connectors.kafka.fetching import ReadFields
from rowkind.connectors.kafka.producers import MessageProducer
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import read
from rowkind.connectors.kafka.transactions import Insert, give_back, transaction
from rowkind.errors import RowkindError
from tests.kafka_client import KafkaClient

pytestmark = [pytest.mark.kafka, pytest.mark.fault]

COUNT = 20_000


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker.start(config={"auto.create.topics.enable": "false"}) as started:
        yield started


@pytest.fixture
def own(broker: Broker) -> Broker:
    """A broker that serves, whatever the test before has done to it."""
    if not broker.alive():
        broker.restart()
    return broker


@pytest.fixture
def topic(own: Broker) -> str:
    return KafkaClient(own.bootstrap).unique_topic()


def hungry(broker: Broker) -> dict[str, str]:
    """Properties of a consumer that fetches little ahead, so that much is left to fetch when the broker goes."""
    few = {"rdkafka.queued.min.messages": "100", "max.partition.fetch.bytes": "10000", "fetch.max.bytes": "10000"}
    return {"bootstrap.servers": broker.bootstrap, **few, "rdkafka.message.max.bytes": "10000"}


def fill(broker: Broker, topic: str) -> None:
    KafkaClient(broker.bootstrap).produce(topic, [(None, b"%d" % i) for i in range(COUNT)], **{"batch.size": 5000})


def test_reading_goes_on_when_the_broker_is_back(own: Broker, topic: str) -> None:
    fill(own, topic)
    reading = read(OffsetRange(topic, 0, 0, COUNT), hungry(own), ReadFields(False), cap_rows=500)
    found = next(reading).column("value").to_pylist()
    own.kill()
    again = Thread(target=own.restart)
    again.start()
    for batch in reading:
        found += batch.column("value").to_pylist()
    again.join()
    assert found == [b"%d" % i for i in range(COUNT)]


def test_writing_goes_on_when_the_broker_is_back(own: Broker, topic: str) -> None:
    writer = MessageProducer({"bootstrap.servers": own.bootstrap}, topic)
    values = [b"%d" % i for i in range(COUNT)]
    writer.write(pa.RecordBatch.from_pydict({"value": pa.array(values)}))
    own.kill()
    again = Thread(target=own.restart)
    again.start()
    writer.write(pa.RecordBatch.from_pydict({"value": pa.array(values)}))
    writer.flush()
    again.join()
    assert [record.value for record in KafkaClient(own.bootstrap).consume_all(topic)] == values * 2


def test_transactions_go_on_when_the_broker_is_back(own: Broker, topic: str) -> None:
    """The writer that was open meanwhile is replaced: its client may never get an answer again."""
    properties = {"bootstrap.servers": own.bootstrap}
    messages = pa.record_batch({"key": pa.array([b"k"]), "value": pa.array([b"v"])})
    for version in range(2):
        for task in range(3):
            promise = Promise(Insert("p", "t.1", "checkpoint", topic), version, f"entry {version}")
            writer = transaction(properties, topic, promise, task)
            assert writer is not None
            writer.write(messages)
            writer.flush()
            writer.commit(promise)
            give_back(promise, task, writer)
        # a broker that is killed between a commit and its marker in the topic never writes the marker
        assert len(KafkaClient(own.bootstrap).consume_all(topic)) == 3 * version + 3
        if version == 0:
            own.kill()
            own.restart()


def test_reading_gives_up_when_the_broker_stays_away(own: Broker, topic: str) -> None:
    fill(own, topic)
    hasty = {**hungry(own), "default.api.timeout.ms": "1000"}
    reading = read(OffsetRange(topic, 0, 0, COUNT), hasty, ReadFields(False), cap_rows=500)
    next(reading)
    own.kill()
    with pytest.raises(RowkindError) as caught:
        list(reading)
    assert caught.value.condition == "KAFKA_UNREACHABLE"
    assert caught.value.params["servers"] == own.bootstrap
