"""A source whose topic does not exist yet: an unbounded read waits and says so, any other fails by name."""

from __future__ import annotations

import threading
from pathlib import Path
from uuid import uuid4

import pytest

from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.pending_batches import PendingBatches
from tests.kafka_client import KafkaClient, TopicFactory
from tests.runtime.tables import APPEND, planner_of, table
from tests.runtime.test_batch_planner import until

pytestmark = pytest.mark.kafka
LATEST = {**APPEND, "scan.startup.mode": "latest-offset"}


class Reader:
    """A job that reads `topics`, started anew with each instance; `run` does a number of its batches."""

    def __init__(self, folder: Path, kafka: str, *topics: str, **options: str) -> None:
        base = {**LATEST, "topic": ";".join(topics), "properties.bootstrap.servers": kafka}
        source = table("id INT", base, Side.SOURCE, **options)
        self.notes: list[str] = []
        self._checkpoint = Checkpoint(str(folder))
        planner = planner_of(source)
        standing = self._checkpoint.standing()
        self._batches = iter(
            PendingBatches(self._checkpoint, standing, planner, "digest", threading.Event(), self.notes.append)
        )

    def batch(self) -> Batch:
        entry = next(self._batches)
        self.notes += entry.notes
        self._checkpoint.finish(entry.number, {"version": entry.number})
        return entry


def read(entry: Batch) -> list[tuple[str, int, int]]:
    ranges = (OffsetRange(*r) for read in entry.inputs for task in read.tasks for r in task)
    return [(r.topic, r.start, r.until) for r in ranges]


def missing() -> str:
    return f"missing-{uuid4().hex[:12]}"


def test_an_unbounded_read_waits_and_reads_from_the_beginning(
    tmp_path: Path, kafka: str, kafka_client: KafkaClient
) -> None:
    """Also with `latest-offset`: everything in the topic was written after the job was started."""
    topic = missing()
    job = Reader(tmp_path, kafka, topic)
    first = job.batch()
    assert (read(first), until(first)) == ([], {})
    assert [topic in note and "does not exist yet" in note for note in job.notes] == [True]
    kafka_client.create_topic(topic)
    kafka_client.produce(topic, [(None, b'{"id":1}')] * 3)
    assert read(job.batch()) == [(topic, 0, 3)]
    assert job.notes[1:] == [f"Topic '{topic}' is there now."]


def test_a_job_that_is_started_again_waits_again(tmp_path: Path, kafka: str, kafka_client: KafkaClient) -> None:
    topic = missing()
    Reader(tmp_path, kafka, topic).batch()
    again = Reader(tmp_path, kafka, topic)
    waiting = threading.Thread(target=again.batch, daemon=True)
    waiting.start()
    while not again.notes:
        waiting.join(0.05)
    assert "does not exist yet" in again.notes[0]
    kafka_client.create_topic(topic)
    kafka_client.produce(topic, [(None, b'{"id":1}')])
    waiting.join()
    assert again.notes[1:] == [f"Topic '{topic}' is there now."]


def test_the_topics_that_are_there_are_read_meanwhile(tmp_path: Path, kafka: str, topic: TopicFactory) -> None:
    here, not_yet = topic(name="orders"), missing()
    job = Reader(tmp_path, kafka, here, not_yet)
    assert until(job.batch()) == {Partition(here, 0): 0}
    assert [not_yet in note for note in job.notes] == [True]


def test_a_name_that_is_nearly_right_is_suggested(tmp_path: Path, kafka: str, topic: TopicFactory) -> None:
    right = topic(name="orders")
    job = Reader(tmp_path, kafka, right[:-1])
    job.batch()
    assert right in job.notes[0].partition("did you mean")[2]


@pytest.mark.parametrize("options", [{"scan_bounded_mode": "latest-offset"}, {"scan_on__missing__topic": "fail"}])
def test_a_bounded_read_and_one_that_shall_not_wait_fail_by_name(
    tmp_path: Path, kafka: str, options: dict[str, str]
) -> None:
    topic = missing()
    with pytest.raises(RowkindError) as failed:
        Reader(tmp_path, kafka, topic, **options).batch()
    assert (failed.value.condition, failed.value.params["topic"]) == ("NO_SUCH_TOPIC", topic)
