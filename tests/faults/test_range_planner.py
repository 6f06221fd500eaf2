"""What the planner of batches does when its cluster is away, and when a topic is not the one that it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowkind.broker import Broker
from rowkind.catalog.kafka_table import KafkaTable, resolve
from rowkind.catalog.modes import Side
from rowkind.catalog.session import SessionOptions
from rowkind.errors import RowkindError
from rowkind.runtime.batches import batch_of
from rowkind.runtime.control import Control, Inputs
from rowkind.runtime.range_planner import RangePlanner
from rowkind.runtime.watermarks import Account
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable
from tests.kafka_client import KafkaClient

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


def planner(folder: Path, source: KafkaTable) -> RangePlanner:
    """A planner as the process of the range source has it; each one is a start of the job."""
    control = Control.create(folder, Inputs((source,), (False,)), cores=1)
    control.set_account(Account([{}]))
    return RangePlanner(folder)


def ranges(offset: dict[str, Any] | None) -> list[tuple[int, int]]:
    assert offset is not None
    return [(r.start, r.until) for tasks in batch_of(offset).tasks.values() for task in tasks for r in task]


def logged(offset: dict[str, Any] | None) -> dict[str, Any]:
    """As it comes back from Spark's offset log."""
    found: dict[str, Any] = json.loads(json.dumps(offset))
    return found


def fill(client: KafkaClient, topic: str, count: int) -> None:
    client.produce(topic, [(None, f'{{"id":{i}}}') for i in range(count)])


def test_a_job_that_has_begun_waits_for_its_broker(own: Broker, client: KafkaClient, tmp_path: Path) -> None:
    topic = client.unique_topic()
    fill(client, topic, 3)
    plans = planner(tmp_path, table(own, topic))
    first = logged(plans.next({}))
    assert ranges(first) == [(0, 3)]
    own.stop(keep=True)
    try:
        assert plans.next(first) is None
        assert Control(tmp_path).waiting == own.bootstrap
        with pytest.raises(RowkindError) as caught:
            planner(tmp_path / "fresh", table(own, topic)).next({})
        assert caught.value.condition == "KAFKA_UNREACHABLE"
    finally:
        own.restart()
    fill(KafkaClient(own.bootstrap), topic, 2)
    found = None
    while found is None:  # until the planner's own client is connected again; `next` itself waits two seconds
        found = plans.next(first)
    assert ranges(found) == [(3, 5)]
    assert Control(tmp_path).waiting is None


@pytest.mark.parametrize("count", [2, 9], ids=["shorter", "longer"])
def test_a_topic_that_was_created_again_is_told_apart(
    own: Broker, client: KafkaClient, tmp_path: Path, count: int
) -> None:
    topic = client.unique_topic()
    fill(client, topic, 5)
    first = logged(planner(tmp_path, table(own, topic)).next({}))
    client.delete_topic(topic)
    client.create_topic(topic)
    fill(client, topic, count)
    with pytest.raises(RowkindError) as caught:
        planner(tmp_path, table(own, topic)).next(first)
    assert caught.value.condition == "TOPIC_CREATED_AGAIN"
    going_on = planner(tmp_path, table(own, topic, ", 'scan.on-data-loss' = 'continue'"))
    second = logged(going_on.next(first))
    assert ranges(second) == [(0, count)]
    assert any(topic in note for note in second["notes"])
    assert going_on.next(second) is None


def test_a_topic_that_is_gone_is_named(own: Broker, client: KafkaClient, tmp_path: Path) -> None:
    topic = client.unique_topic()
    fill(client, topic, 1)
    plans = planner(tmp_path, table(own, topic))
    first = logged(plans.next({}))
    client.delete_topic(topic)
    with pytest.raises(RowkindError) as caught:
        plans.next(first)
    assert caught.value.condition == "NO_SUCH_TOPIC"
    assert caught.value.params["topic"] == topic
