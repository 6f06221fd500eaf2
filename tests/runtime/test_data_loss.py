"""Messages that are gone before a batch reads them: told while it is planned, before the checkpoint has its entry."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from rowkind.errors import RowkindError
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.pending_batches import PendingBatches
from tests.kafka_client import KafkaClient, TopicFactory
from tests.runtime.tables import APPEND, planner_of, table

pytestmark = pytest.mark.kafka


def upcoming(folder: Path, client: KafkaClient, topic: str, **more: str) -> PendingBatches[Batch]:
    """Each one is a start of the job."""
    source = table("id INT", {**APPEND, "topic": topic, "properties.bootstrap.servers": client.bootstrap}, **more)
    checkpoint = Checkpoint(str(folder))
    planner = planner_of(source)
    return PendingBatches(checkpoint, checkpoint.standing(), planner, "digest", threading.Event(), print)


def fill(client: KafkaClient, topic: str, count: int) -> None:
    client.produce(topic, [(None, f'{{"id":{i}}}') for i in range(count)])


def test_a_batch_whose_messages_are_gone_is_not_begun(
    kafka_client: KafkaClient, topic: TopicFactory, tmp_path: Path
) -> None:
    name = topic()
    fill(kafka_client, name, 3)
    first = next(iter(upcoming(tmp_path, kafka_client, name)))
    Checkpoint(str(tmp_path)).finish(0, {"version": 0, "operators": {}})
    fill(kafka_client, name, 3)
    for answer in kafka_client.admin.delete_records([TopicPartition(name, 0, 5)]).values():
        answer.result()
    with pytest.raises(RowkindError) as lost:
        next(iter(upcoming(tmp_path, kafka_client, name)))
    assert lost.value.condition == "KAFKA_DATA_LOSS"
    assert [lost.value.params[part] for part in ("topic", "wanted", "until", "available")] == [name, 3, 6, 5]
    standing = Checkpoint(str(tmp_path)).standing()
    assert (Batch.of_json(standing.entry), standing.pending) == (first, None)
    going_on = {"scan_on__data__loss": "continue"}
    (found,) = next(iter(upcoming(tmp_path, kafka_client, name, **going_on))).inputs
    assert found.until["at"] == {name: {"0": 6}}
