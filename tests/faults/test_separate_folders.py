"""A job on two machines with a checkpoint that each has for itself: refused by name; with a shared one it is right.

The two machines are two workers of a Spark cluster; `/proc/self/cwd` is one path that each process has for itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command, started
from tests.faults.cluster import spark_cluster
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = [pytest.mark.matrix, pytest.mark.kafka]

SCRIPT = """
CREATE TABLE clicks (k INT) WITH ('connector' = 'kafka', {kafka}, 'topic' = '{source}', 'format' = 'json',
    'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'scan.max-rows-per-batch' = '2000');
CREATE TABLE counts (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {kafka}, 'topic' = '{sink}', 'key.format' = 'json', 'value.format' = 'json');
INSERT INTO counts SELECT k, COUNT(*) FROM clicks GROUP BY k;
"""
GROUPS = 500


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with spark_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as address:
        yield address


def run(master: str, folder: Path, checkpoint: str, kafka: str, source: str, sink: str) -> Command:
    folder.mkdir(exist_ok=True)
    script = folder / "job.sql"
    script.write_text(SCRIPT.format(kafka=f"'properties.bootstrap.servers' = '{kafka}'", source=source, sink=sink))
    few = ["--conf", "spark.executor.memory=512m", "--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    both = ["--conf", "spark.cores.max=2", "--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=300s"]
    command = ["run", str(script), "--checkpoint", checkpoint, "--master", master, *few, *both]
    with started(folder, *command, cwd=folder) as job:
        job.wait()
    return job


def test_separate_folders_are_refused(
    master: str, tmp_path: Path, kafka: str, kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    source, sink = topic(2), topic()
    kafka_client.produce(source, [(None, json.dumps({"k": i % GROUPS})) for i in range(10 * GROUPS)])
    job = run(master, tmp_path / "run", "/proc/self/cwd/state", kafka, source, sink)
    assert job.process.returncode == 1, job.err
    assert "[CHECKPOINT_NOT_SHARED]" in job.err
    assert not kafka_client.consume_all(sink)


def test_a_shared_folder_gives_right_results_by_a_relative_path_too(
    master: str, tmp_path: Path, kafka: str, kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    source, sink = topic(2), topic()
    kafka_client.produce(source, [(None, json.dumps({"k": i % GROUPS})) for i in range(10 * GROUPS)])
    job = run(master, tmp_path / "run", "state", kafka, source, sink)
    assert job.process.returncode == 0, job.err
    last = {record.key: json.loads(record.value)["n"] for record in kafka_client.consume_all(sink)}
    assert len(last) == GROUPS
    assert set(last.values()) == {10}
    record = json.loads((tmp_path / "run" / "state" / "counts" / "job.json").read_text())
    assert record["partitions"] == 2
