"""Messages of a megabyte and of ten: a whole job works in two gigabytes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.matrix]

MB = 1024 * 1024
LIMIT = 2048
"""Megabytes that driver, JVM and workers may take together."""


def messages(size: int, count: int) -> Iterator[Record]:
    for i in range(count):
        text = f"group-{i % 3:02d}" + "x" * (size - 50)
        yield Record(json.dumps({"id": i}).encode(), json.dumps({"id": i, "text": text}).encode())


@pytest.mark.parametrize(("size", "count"), [(MB, 600), (10 * MB, 60)], ids=["1 MB", "10 MB"])
def test_a_job_on_large_messages_works_in_two_gigabytes(
    kafka_client: KafkaClient, topic: TopicFactory, tmp_path: Path, size: int, count: int
) -> None:
    large = {"max.message.bytes": "20000000"}
    source, copies, latest = topic(partitions=2, **large), topic(**large), topic()
    client = {"message.max.bytes": 20_000_000, "queue.buffering.max.kbytes": 100_000, "enable.idempotence": True}
    kafka_client.produce(source, messages(size, count), **client)
    given = [kafka_client.bootstrap, str(tmp_path / "spark.log"), source, copies, latest]
    command = [sys.executable, "-m", "tests.faults.large_messages", *given]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["source.rows-read"] == count
    assert told["copies.rows-written"] == count
    assert sum(kafka_client.end_offsets(copies).values()) == count
    assert told["batches"] > 3
    assert sum(told["megabytes"]) < LIMIT, told
