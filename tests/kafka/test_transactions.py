"""Markers of transactions on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from rowkind.connectors.contract import Marker, Promise
from rowkind.connectors.kafka import transactions
from rowkind.connectors.kafka.transactions import Fenced, Insert, TransactionalProducer
from rowkind.errors import RowkindError
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka


@pytest.fixture
def promise(topic: TopicFactory) -> Promise:
    name = topic()
    return Promise(Insert(prefix=name, name="t.1", checkpoint="here", marker_topic=name), version=1, entry="e")


def written(client: KafkaClient, promise: Promise) -> TransactionalProducer:
    return TransactionalProducer(
        {"bootstrap.servers": client.bootstrap}, promise.insert.marker_topic, promise.insert, 0
    )


@pytest.fixture
def unended(kafka_client: KafkaClient, promise: Promise) -> Iterator[None]:
    """The task's group has an offset in a transaction that nobody ends, as after a broker has lost its end."""
    consumer = Consumer({**kafka_client.config, "group.id": promise.insert.group(0)})
    producer = Producer({**kafka_client.config, "transactional.id": f"{promise.insert.prefix}-lost"})
    producer.init_transactions()
    producer.begin_transaction()
    marker = TopicPartition(promise.insert.marker_topic, 0, promise.version)
    producer.send_offsets_to_transaction([marker], consumer.consumer_group_metadata())
    yield
    producer.abort_transaction()
    consumer.close()


def test_a_marker_says_which_batch_is_in(kafka_client: KafkaClient, promise: Promise) -> None:
    first = written(kafka_client, promise)
    assert first.committed is None
    first.begin(promise, 60)
    first.commit(promise)
    assert written(kafka_client, promise).committed == Marker(promise.version, promise.entry)


@pytest.mark.usefixtures("unended")
def test_a_transaction_whose_end_is_lost_is_named(
    kafka_client: KafkaClient, promise: Promise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "PATIENCE", 3.0)
    with pytest.raises(RowkindError) as refused:
        written(kafka_client, promise)
    assert refused.value.condition == "TRANSACTION_END_LOST"
    assert promise.insert.group(0) in str(refused.value)


def kept(client: KafkaClient, promise: Promise) -> TransactionalProducer | None:
    return transactions.transaction({"bootstrap.servers": client.bootstrap}, None, promise, 0)


def done(client: KafkaClient, promise: Promise) -> None:
    """A batch in a worker that keeps its writer."""
    writer = kept(client, promise)
    assert writer is not None
    writer.commit(promise)
    transactions.give_back(promise, 0, writer)


def test_a_kept_writer_serves_its_checkpoint_only(kafka_client: KafkaClient, promise: Promise) -> None:
    done(kafka_client, promise)
    assert kept(kafka_client, promise) is None
    done(kafka_client, replace(promise, insert=replace(promise.insert, checkpoint="there")))


@pytest.mark.parametrize("fresh", [False, True], ids=["kept", "fresh"])
@pytest.mark.parametrize("older", [{"version": 0}, {"entry": "another"}], ids=["later batch", "another of its number"])
def test_a_batch_that_the_checkpoint_does_not_know_is_refused(
    kafka_client: KafkaClient, promise: Promise, older: dict[str, Any], fresh: bool
) -> None:
    done(kafka_client, promise)
    if fresh:
        transactions.kept_transactional.take(promise.insert.transactional_id(0))
    with pytest.raises(RowkindError) as refused:
        kept(kafka_client, replace(promise, **older))
    assert refused.value.condition == "CHECKPOINT_NOT_LATEST"


def test_of_two_copies_of_a_checkpoint_that_run_at_once_one_batch_is_written(
    kafka_client: KafkaClient, promise: Promise
) -> None:
    """Each is about to write a batch 1 of its own: one of them is fenced, and refused when it tries again."""
    theirs = replace(promise, entry="of the other copy")
    first, second = kept(kafka_client, promise), kept(kafka_client, theirs)
    assert first is not None
    assert second is not None
    with pytest.raises(Fenced):
        first.commit(promise)
    second.commit(theirs)
    with pytest.raises(RowkindError) as refused:
        kept(kafka_client, promise)
    assert refused.value.condition == "CHECKPOINT_NOT_LATEST"
    assert written(kafka_client, theirs).committed == Marker(1, "of the other copy")
