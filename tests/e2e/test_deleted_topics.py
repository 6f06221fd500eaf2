"""Daily topics: of a `topic-pattern` one may be deleted, and the job goes on with the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.connectors.kafka.reader import ReadCounts, read
from rowkind.connectors.kafka.table_positions import KafkaPositions
from rowkind.errors import RowkindError
from tests.e2e.lab import Lab
from tests.kafka_client import KafkaClient, TopicFactory
from tests.runtime.tables import APPEND, table

SCRIPT = """
    CREATE TABLE days (id INT) WITH ('connector' = 'kafka', 'topic-pattern' = '{base}-.*', {kafka}, {json},
        'scan.startup.mode' = 'earliest-offset', 'properties.default.api.timeout.ms' = '2000',
        'properties.group.id' = '{base}', 'scan.topic-partition-discovery.interval' = '200 ms');
    CREATE TABLE copies (id INT) WITH ('connector' = 'kafka', 'topic' = '{copies}', {kafka}, {json});
    INSERT INTO copies SELECT * FROM days;
"""


@pytest.mark.kafka
@pytest.mark.spark
def test_a_deleted_topic_is_noted_counted_and_left(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path
) -> None:
    base, copies = f"day-{uuid4().hex[:8]}", topic()
    lab, monday, tuesday, wednesday = labs(str(tmp_path)), *(f"{base}-{i}" for i in range(3))
    for name in (monday, tuesday):
        lab.client.create_topic(name)
        lab.put(name, {"id": 1})
    names = {"base": base, "copies": copies}
    job = lab.job(SCRIPT, **names)
    lab.until_count(copies, 2, job)
    lab.client.delete_topic(monday)
    lab.until(lambda: job.progress.counts["days.topics-deleted"] == 1, job)
    assert [n for n in lab.notices if "deleted" in n] == [
        f"Table 'days': topic '{monday}' was deleted; the job goes on without it."
    ]
    lab.client.create_topic(wednesday)
    lab.put(tuesday, {"id": 2})
    lab.put(wednesday, {"id": 3})
    lab.until_count(copies, 4, job)
    job.stop()
    assert job.wait(60)
    # and while it rests
    lab.client.delete_topic(tuesday)
    lab.put(wednesday, {"id": 4})
    again = labs(str(tmp_path))
    job = again.job(SCRIPT, **names)
    again.until_count(copies, 5, job)
    again.until(lambda: job.progress.counts["days.topics-deleted"] == 1, job)
    assert sorted(row["id"] for row in again.values(copies)) == [1, 1, 2, 3, 4]


@pytest.mark.kafka
def test_a_topic_that_goes_away_while_it_is_read_ends_its_range(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    """The batch is written down already: it must be possible to finish it."""
    name, counts = topic(), ReadCounts()
    kafka_client.produce(name, [(None, str(i)) for i in range(5)])
    properties = {"bootstrap.servers": kafka_client.bootstrap, "default.api.timeout.ms": "2000"}
    kafka_client.delete_topic(name)
    rows = list(read(OffsetRange(name, 0, 0, 5), properties, counts=counts, leave_deleted=True))
    assert (rows, counts.lost) == ([], 5)


@pytest.mark.kafka
def test_of_a_list_of_topics_one_is_left_only_with_on_data_loss(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    gone, stays = topic(), topic()
    listed = {"topic": f"{gone};{stays}", "properties.bootstrap.servers": kafka_client.bootstrap}
    listed["properties.default.api.timeout.ms"] = "1000"
    strict = KafkaPositions(table("id INT", APPEND | listed))
    lenient = KafkaPositions(table("id INT", APPEND | listed, scan_on__data__loss="continue"))
    known = sorted(strict.start())
    kafka_client.delete_topic(gone)
    with pytest.raises(RowkindError) as failed:
        strict.end(known)
    assert (failed.value.condition, failed.value.params["topic"]) == ("NO_SUCH_TOPIC", gone)
    assert lenient.end(known) == {Partition(stays, 0): 0}
    assert [gone in note for note in lenient.take_notes()] == [True]


@pytest.mark.kafka
def test_a_topic_that_is_deleted_while_a_batch_is_planned_is_left_to_the_reader(
    kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    gone = topic(name="planned")
    given = {"topic-pattern": f"{gone}.*", "properties.bootstrap.servers": kafka_client.bootstrap}
    options = {k: v for k, v in APPEND.items() if k != "topic"} | given | {"properties.default.api.timeout.ms": "1000"}
    positions = KafkaPositions(table("id INT", options))
    kafka_client.delete_topic(gone)
    positions.expect([OffsetRange(gone, 0, 0, 5)])
    assert positions.end([Partition(gone, 0)]) == {}
