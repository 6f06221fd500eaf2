"""What the planning of batches does when the cluster is away, and when a topic is not the one that it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowkind.broker import Broker
from rowkind.broker.process import wait_until
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.runtime.driver.batch_planner import BatchPlanner
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.pending_batches import PendingBatches
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable
from tests.catalog.tables import resolve
from tests.kafka_client import SECONDS, KafkaClient
from tests.runtime.tables import planner_of
from tests.runtime.test_batch_planner import entry_of

pytestmark = [pytest.mark.kafka, pytest.mark.fault]


@pytest.fixture(scope="module")
def own() -> Iterator[Broker]:
    with Broker.start(config={"auto.create.topics.enable": "false"}) as broker:
        yield broker


@pytest.fixture
def client(own: Broker) -> KafkaClient:
    return KafkaClient(own.bootstrap)


def table(broker: Broker, topic: str, more: str = "") -> KafkaTable:
    (statement,) = parse_script(
        f"""CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json',
            'properties.bootstrap.servers' = '{broker.bootstrap}', 'properties.default.api.timeout.ms' = '2000',
            'scan.startup.mode' = 'earliest-offset'{more})"""
    )
    assert isinstance(statement, CreateTable)
    return resolve(statement.definition, SessionOptions(), Side.SOURCE)[0]


def planner(source: KafkaTable) -> BatchPlanner:
    """Each one is a start of the job."""
    return planner_of(source)


def upcoming(folder: Path, source: KafkaTable, notify: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    checkpoint = Checkpoint(str(folder))
    return iter(PendingBatches(checkpoint, checkpoint.standing(), planner(source), "digest", threading.Event(), notify))


def ranges(offset: dict[str, Any] | None) -> list[tuple[int, int]]:
    assert offset is not None
    return [(r[2], r[3]) for read in offset.inputs for task in read.tasks for r in task]


def fill(client: KafkaClient, topic: str, count: int) -> None:
    client.produce(topic, [(None, f'{{"id":{i}}}') for i in range(count)])


def test_a_job_that_has_begun_waits_for_its_broker(own: Broker, client: KafkaClient, tmp_path: Path) -> None:
    topic, notes = client.unique_topic(), list[str]()
    fill(client, topic, 3)

    def note(text: str) -> None:
        notes.append(text)
        if len(notes) == 1:
            own.restart()
            fill(KafkaClient(own.bootstrap), topic, 2)

    batches = upcoming(tmp_path, table(own, topic), note)
    assert ranges(next(batches)) == [(0, 3)]
    own.stop(keep=True)
    with pytest.raises(RowkindError) as caught:
        next(upcoming(tmp_path / "fresh", table(own, topic), note))
    assert caught.value.condition == "KAFKA_UNREACHABLE"
    assert not notes
    assert ranges(next(batches)) == [(3, 5)]
    assert len(notes) == 2
    assert all(own.bootstrap in text for text in notes)


@pytest.mark.parametrize("count", [2, 9], ids=["shorter", "longer"])
def test_a_topic_that_was_created_again_is_told_apart(own: Broker, client: KafkaClient, count: int) -> None:
    topic = client.unique_topic()
    fill(client, topic, 5)
    first = entry_of(planner(table(own, topic)).next(None))
    client.delete_topic(topic)
    client.create_topic(topic)
    fill(client, topic, count)
    with pytest.raises(RowkindError) as caught:
        planner(table(own, topic)).next(first)
    assert caught.value.condition == "TOPIC_CREATED_AGAIN"
    going_on = planner(table(own, topic, ", 'scan.on-data-loss' = 'continue'"))
    second = entry_of(going_on.next(first))
    assert ranges(second) == [(0, count)]
    assert any(topic in note for note in second.notes)
    assert going_on.next(second) is None


def test_a_topic_that_is_gone_is_named(own: Broker, client: KafkaClient) -> None:
    topic = client.unique_topic()
    fill(client, topic, 1)
    plans = planner(table(own, topic))
    first = entry_of(plans.next(None))
    client.delete_topic(topic)
    with pytest.raises(RowkindError) as caught:  # its log may answer a moment longer than its name
        wait_until(lambda: plans.next(first) is not None, SECONDS)
    assert caught.value.condition == "NO_SUCH_TOPIC"
    assert caught.value.params["topic"] == topic
