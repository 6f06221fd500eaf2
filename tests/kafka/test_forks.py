"""Kept clients in a process that forks: the child must neither use nor destroy those of its parent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pyarrow as pa
import pytest

from rowkind.connectors.kafka.producers import producer_for
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import read
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka


def in_child(work: Callable[[], None]) -> int:
    """Do it in a forked child; the child's exit code is 0 when nothing was raised."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
    os._exit(1)


def exercise(servers: str, topic: str) -> None:
    properties = {"bootstrap.servers": servers}

    def write() -> None:
        writer = producer_for("sink", properties, topic)
        writer.write(pa.RecordBatch.from_pydict({"value": pa.array([b"x"] * 5)}))
        writer.flush()

    def check(start: int, until: int) -> None:
        count = sum(batch.num_rows for batch in read(OffsetRange(topic, 0, start, until), properties))
        assert count == until - start, count

    write()
    check(0, 3)
    assert in_child(write) == 0
    assert in_child(lambda: check(3, 10)) == 0
    check(3, 10)
    write()
    check(10, 15)


def test_forks(topic: TopicFactory, kafka_client: KafkaClient) -> None:
    name = topic()
    # in a process of its own: forking one with many client threads is a hazard of its own
    command = [sys.executable, "-m", __name__, kafka_client.bootstrap, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(kafka_client.consume_all(name)) == 15


if __name__ == "__main__":
    exercise(sys.argv[1], sys.argv[2])
