"""What a batch counts and sets aside, it does so once: whoever shares the rows, and whatever is run again."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from pyspark.accumulators import _accumulatorRegistry

from tests.e2e.lab import Lab
from tests.kafka_client import Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

EVENTS = """
    CREATE TABLE events (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{events}', {kafka}, {once},
        {json}, 'scan.on-error' = 'dead-letter', 'scan.dead-letter.topic' = '{dead}');
"""
SINK = """
    CREATE TABLE {name} (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', {kafka}, {json}{more});
"""


class DiesOnce:
    """A partitioner that kills its worker when it first meets a name, which is a file that tells that it did."""

    def open(self, task: int, tasks: int) -> None: ...

    def partition(self, row: Any, key: Any, value: Any, topic: str, partitions: Any) -> int:
        mark = Path(row["name"])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


def sink(name: str, topic: str, more: str = "") -> str:
    return SINK.replace("{name}", name).replace("{topic}", topic).replace("{more}", more)


def test_rows_that_several_sinks_share_are_read_and_set_aside_once(lab: Lab, topic: TopicFactory) -> None:
    events, dead, topics = topic(), topic(), [topic() for _ in range(3)]
    good = [Record(None, json.dumps({"id": i, "name": "a"}).encode()) for i in range(20_000)]
    bad = [Record(None, b"{") for i in range(60)]
    lab.client.produce(events, [*good, *bad])
    names = [f"sink{i}" for i in range(3)]
    inserts = " ".join(
        f"INSERT INTO {n} SELECT id, UPPER(name) FROM events WHERE id >= {i};" for i, n in enumerate(names)
    )
    script = EVENTS + "".join(map(sink, names, topics)) + f"BEGIN STATEMENT SET; {inserts} END;"
    job = lab.finish(script, events=events, dead=dead)
    assert job.progress.counts["events.rows-read"] == job.progress.rows_in == 20_060
    assert job.progress.counts["events.messages-set-aside"] == 60
    assert sum(lab.client.end_offsets(dead).values()) == 60
    assert [sum(lab.client.end_offsets(t).values()) for t in topics] == [20_000, 19_999, 19_998]


def test_a_task_that_is_run_again_counts_and_sets_aside_once(lab: Lab, topic: TopicFactory, tmp_path: Path) -> None:
    events, dead, copies = topic(partitions=2), topic(), topic()
    mark = tmp_path / "died"
    lab.client.produce(events, [Record(None, b"{", 0)] * 7)
    lab.client.produce(events, [Record(None, json.dumps({"id": 1, "name": str(mark)}).encode(), 1)])
    more = f", 'sink.partitioner' = '{DiesOnce.__module__}:{DiesOnce.__qualname__}'"
    script = EVENTS + sink("copies", copies, more) + "INSERT INTO copies SELECT * FROM events;"
    job = lab.finish(script, events=events, dead=dead)
    assert mark.exists()
    assert job.progress.counts["events.rows-read"] == 8
    assert sum(lab.client.end_offsets(dead).values()) == 7
    assert sum(lab.client.end_offsets(copies).values()) == 1


def test_nothing_of_a_batch_stays_registered_in_the_driver(lab: Lab, topic: TopicFactory) -> None:
    events, copies = topic(), topic()
    script = EVENTS.replace("{once}", "'scan.startup.mode' = 'earliest-offset'") + sink("copies", copies)
    before = len(_accumulatorRegistry)
    job = lab.job(script + "INSERT INTO copies SELECT * FROM events;", events=events, dead=topic())
    for number in range(1, 6):
        lab.put(events, {"id": number, "name": "a"})
        lab.until_count(copies, number, job)
    job.stop()
    assert job.wait(60)
    assert job.progress.batches >= 5
    assert len(_accumulatorRegistry) == before
