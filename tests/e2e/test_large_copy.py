"""Three topics by pattern, many json rows, copied into an upsert topic; then the same with kill -9 in between.

What was written is looked at by clients that share no code with rowkind. In `make test` there are 300,000 rows, all of
them at once; in `make faults` three million, and the kills.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from tests.cli.command import run, started
from tests.e2e.observer import is_replayed, murmur2
from tests.kafka_client import KafkaClient

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TOPICS, PARTITIONS, KEYS = 3, 2, 5_000
"""Every topic has keys of its own."""
OUT_PARTITIONS = 4


@dataclass(frozen=True, slots=True)
class Load:
    """Rows in three topics with names of one prefix: the numbers of a key ascend, and a key is in one partition."""

    prefix: str
    per_key: int

    @property
    def rows(self) -> int:
        return TOPICS * KEYS * self.per_key


SCRIPT = """
CREATE TABLE s (k STRING, n INT, word STRING, topic STRING METADATA VIRTUAL) WITH (
    'connector' = 'kafka', 'topic-pattern' = '${run}-in-[0-9]', 'properties.bootstrap.servers' = '${kafka}',
    'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'${more});
CREATE TABLE t (k STRING, n INT, up STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${kafka}',
    'key.format' = 'json', 'value.format' = 'json', 'sink.topic.partitions' = '4');
INSERT INTO t SELECT k, n, UPPER(word) FROM s;
"""


@pytest.fixture(scope="module")
def load(kafka_client: KafkaClient, request: pytest.FixtureRequest) -> Load:
    prefix, per_key = f"big{uuid4().hex[:8]}", request.param
    producer = Producer(
        {**kafka_client.config, "linger.ms": 50, "batch.num.messages": 50_000, "queue.buffering.max.messages": 500_000}
    )
    for number in range(TOPICS):
        topic = f"{prefix}-in-{number}"
        kafka_client.create_topic(topic, PARTITIONS)
        heads = [f'{{"k":"key-{number}-{key}","n":'.encode() for key in range(KEYS)]
        for n in range(per_key):
            tail = b'%d,"word":"word-%d"}' % (n, n)
            for partition in range(PARTITIONS):
                for head in heads[partition::PARTITIONS]:
                    while True:
                        try:
                            producer.produce(topic, head + tail, partition=partition)
                            break
                        except BufferError:
                            producer.poll(0.05)
            producer.poll(0)
    assert producer.flush(120) == 0
    return Load(prefix, per_key)


def observed(client: KafkaClient, topic: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.e2e.observer", client.bootstrap, topic, str(OUT_PARTITIONS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def counted_by_java(client: KafkaClient, topic: str) -> int:
    """Messages that Kafka's own Java consumer reads, from the broker's jars."""
    from tests.servers.console import console_count

    return console_count(client.bootstrap, topic, sum(client.end_offsets(topic).values()))


def arguments(tmp_path: Path, client: KafkaClient, load: Load, out: str, more: str = "") -> list[str]:
    file = tmp_path / "copy.sql"
    file.write_text(SCRIPT)
    variables = {"run": load.prefix, "kafka": client.bootstrap, "out": out, "more": more}
    return ["run", str(file), *(word for k, v in variables.items() for word in ("--var", f"{k}={v}"))]


def test_the_hash_that_this_test_checks_with() -> None:
    """Against the values that Kafka's own Java client gives."""
    known = {b'{"word":"good"}': -488964655, b'{"user_id":101}': -679952119, b'{"id":3}': -671347997}
    assert {key: murmur2(key) for key in known} == {key: value & 0xFFFFFFFF for key, value in known.items()}


def test_what_counts_as_a_replay() -> None:
    assert is_replayed([0, 1, 2, 3], 4)
    assert is_replayed([0, 1, 2, 1, 2, 3], 4)
    assert is_replayed([0, 1, 0, 1, 0, 1, 2, 3], 4)
    assert not is_replayed([0, 2, 1, 3], 4)  # out of order
    assert not is_replayed([0, 1, 3], 4)  # lost
    assert not is_replayed([0, 1, 2], 4)  # cut short
    assert not is_replayed([0, 1, 2, 3, 2], 4)  # ends with an old row


@pytest.mark.parametrize(
    "load",
    [pytest.param(20, marks=pytest.mark.fault), pytest.param(200, marks=pytest.mark.matrix)],
    ids=["300,000", "3,000,000"],
    indirect=True,
)
def test_every_row_arrives_once_in_order_and_where_java_puts_it(
    tmp_path: Path, kafka_client: KafkaClient, load: Load
) -> None:
    out = f"{load.prefix}-out"
    done = run(tmp_path / "o", *arguments(tmp_path, kafka_client, load, out))
    assert done.process.returncode == 0, done.err
    assert f"{load.rows:,} rows in, {load.rows:,} out" in done.err
    # a backlog is read in pieces that fit the speed of the job, not in one
    assert max(int(n) for n in re.findall(r"(\d+) batches", done.err)) >= (5 if load.per_key == 200 else 2)
    seen = observed(kafka_client, out)
    assert seen["messages"] == load.rows
    assert seen["keys"] == TOPICS * KEYS
    assert seen["misplaced"] == 0
    assert seen["in_order"] == TOPICS * KEYS
    assert seen["rows_per_key"] == [load.per_key]
    assert counted_by_java(kafka_client, out) == load.rows


@pytest.mark.matrix
@pytest.mark.parametrize("load", [200], ids=["3,000,000"], indirect=True)
def test_kill_nine_in_the_middle_loses_nothing_and_keeps_the_order(
    tmp_path: Path, kafka_client: KafkaClient, load: Load
) -> None:
    out = f"{load.prefix}-out-killed"
    small = f", 'scan.max-rows-per-batch' = '{load.rows // 20}'"  # it is still at work when it is killed
    command = [*arguments(tmp_path, kafka_client, load, out, small), "--checkpoint", str(tmp_path / "kept")]

    def written() -> int:
        topics = kafka_client.admin.list_topics(timeout=60).topics
        return sum(kafka_client.end_offsets(out).values()) if out in topics else 0

    for turn, share in enumerate((0.2, 0.5)):
        with started(tmp_path / f"o{turn}", *command) as running:
            running.until(lambda share=share: written() > share * load.rows)
            running.signal(signal.SIGKILL)
            running.wait()
    done = run(tmp_path / "o", *command)
    assert done.process.returncode == 0, done.err
    seen = observed(kafka_client, out)
    assert seen["messages"] >= load.rows
    assert seen["keys"] == TOPICS * KEYS
    assert seen["misplaced"] == 0
    assert seen["rows_per_key"] == [load.per_key]
    assert seen["replayed"] == TOPICS * KEYS
    # what a compacted topic is left with in the end is the last row of every key
    assert seen["longest"] < load.per_key * 3
