"""Rows that several sinks need at once, on several executors: read once, set aside once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.matrix]


def test_two_executors_do_not_compute_the_same_rows_for_two_sinks(
    kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    source, dead, sinks = topic(), topic(), [topic() for _ in range(3)]
    good = [Record(None, json.dumps({"id": i, "name": "a"}).encode()) for i in range(50_000)]
    kafka_client.produce(source, [*good, *([Record(None, b"{")] * 60)])
    command = [sys.executable, "-m", "tests.faults.shared_by_sinks", kafka_client.bootstrap, source, dead, *sinks]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    counts = json.loads(done.stdout.splitlines()[-1])
    assert (counts["events.rows-read"], counts["events.messages-set-aside"]) == (50_060, 60)
    assert sum(kafka_client.end_offsets(dead).values()) == 60
    assert [sum(kafka_client.end_offsets(t).values()) for t in sinks] == [50_000, 49_999, 49_998]
