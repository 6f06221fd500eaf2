"""`rowkind run` as a user meets it: exit codes, output, signals, checkpoints."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.cli.command import run, started
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COPY = """
CREATE TABLE s (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '${source}',
    'properties.bootstrap.servers' = '${kafka}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE t (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
    'topic' = '${sink}', 'properties.bootstrap.servers' = '${kafka}', 'key.format' = 'json', 'value.format' = 'json');
INSERT INTO t SELECT id, UPPER(name) FROM s;
"""


def script(folder: Path, text: str) -> str:
    file = folder / "job.sql"
    file.write_text(text)
    return str(file)


def values(client: KafkaClient, topic: str) -> list[int]:
    return [json.loads(r.value or b"{}")["id"] for r in client.consume_all(topic)]


def at_least(client: KafkaClient, topic: str, count: int) -> Callable[[], bool]:
    return lambda: sum(client.end_offsets(topic).values()) >= count


def numbers(first: int, until: int) -> list[tuple[str, str]]:
    return [(f'{{"id":{i}}}', f'{{"id":{i},"name":"n{i}"}}') for i in range(first, until)]


@pytest.mark.parametrize("more", [[], pytest.param(["--verbose"], marks=pytest.mark.matrix)], ids=["short", "verbose"])
def test_select_prints_rows_and_only_rows_and_a_failed_job_gives_a_short_error_and_a_code(
    tmp_path: Path, kafka_client: KafkaClient, topic: TopicFactory, more: list[str]
) -> None:
    good, source = topic(), topic()
    kafka_client.produce(good, [(None, '{"id":1,"name":"ann"}'), (None, '{"id":2}')])
    kafka_client.produce(source, [(None, "nonsense")])
    selecting = (
        "SHOW TABLES; SET 'parallelism.default' = '3';"
        f"CREATE TABLE u WITH ('topic' = '{good}', 'scan.bounded.mode' = 'latest-offset') LIKE s (OVERWRITING OPTIONS);"
        "SELECT id, name FROM u;"
    )
    variables = ["--var", f"source={source}", "--var", f"kafka={kafka_client.bootstrap}", "--var", f"sink={source}-out"]
    text = COPY.replace("CREATE TABLE t", f"{selecting} CREATE TABLE t")
    done = run(tmp_path / "o", "run", script(tmp_path, text), *variables, "--set", "table.local-time-zone=UTC", *more)
    lines = done.out.splitlines()
    assert lines[:5] == ["+------------+", "| table name |", "+------------+", "| s          |", "+------------+"]
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[5:] if line.startswith("|")] == [
        ["op", "id", "name"],
        ["+I", "1", "ann"],
        ["+I", "2", "NULL"],
    ]
    assert "parallelism.default" in done.err
    assert "select: finished, 2 rows in" in done.err
    assert done.process.returncode == 1
    assert "[UNDECODABLE_MESSAGE]" in done.err
    assert f"topic '{source}', partition 0, offset 0" in done.err
    assert "nonsense" in done.err
    assert ("Traceback" in done.err) is bool(more)
    assert ("org.apache.spark" in done.err) is bool(more)
    if not more:
        # neither Spark's talk nor its warnings reach the terminal; the command's own lines do
        selected, failed = done.err.split("select: finished", 1)
        assert len([line for line in selected.splitlines() if "select: running" not in line]) == 2, done.err
        assert len([line for line in failed.splitlines() if "t: running" not in line]) <= 8, done.err


@pytest.mark.fault
def test_a_checkpoint_goes_on_exactly_where_it_stopped(
    tmp_path: Path, kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    """Ctrl-C finishes the batch; the next run neither repeats nor loses anything. When Spark dies, the command says so.
    Both publish their metrics.

    SIGTERM ends every job of tests/faults, whose output is checked after it.
    """
    source, sink = topic(partitions=2), topic(partitions=2, **{"cleanup.policy": "compact"})
    file = script(tmp_path, COPY)
    arguments = ["run", file, "--checkpoint", "kept", "--metrics", "127.0.0.1:0"]
    arguments += ["--metrics-log", "3600", "--metrics-log-file", "metrics.jsonl"]
    for name, value in (("source", source), ("sink", sink), ("kafka", kafka_client.bootstrap)):
        arguments += ["--var", f"{name}={value}"]
    kafka_client.produce(source, numbers(0, 100))
    with started(tmp_path / "interrupted", *arguments, cwd=tmp_path) as command:
        command.until(at_least(kafka_client, sink, 100))
        command.signal(signal.SIGINT)
        assert command.wait() == 0, command.err
        assert "t: stopped" in command.err
        assert "Traceback" not in command.err
    assert (tmp_path / "kept" / "t" / "job.json").exists()
    kafka_client.produce(source, numbers(100, 200))
    with started(tmp_path / "resumed", *arguments, cwd=tmp_path) as command:
        command.until(at_least(kafka_client, sink, 200))
        endpoint = re.findall(r"Metrics are at (\S+)", command.err)[0]
        assert 'rowkind_job_numRestarts{job="t"} 1.0' in httpx.get(endpoint).text
        assert sorted(values(kafka_client, sink)) == list(range(200))
        command.kill_java()
        kafka_client.produce(source, numbers(200, 201))  # a job that rests has nothing to ask Spark for
        assert command.wait() == 1, command.err
        assert "[JOB_FAILED]" in command.err
    stopped, failed = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    assert (stopped["status"], stopped["numRestarts"]) == ("stopped", 0)
    assert stopped["sink"]["t"][sink]["numRecordsOut"] == 100
    assert (failed["status"], failed["failed"], failed["numRestarts"]) == ("failed", 1, 1)


def test_a_mistake_in_the_script_is_found_before_anything_runs(
    tmp_path: Path, kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    source = topic()
    variables = ["--var", f"source={source}", "--var", f"kafka={kafka_client.bootstrap}", "--var", f"sink={source}-out"]
    done = run(tmp_path / "o", "run", script(tmp_path, COPY + "\nSELEC 1;"), *variables)
    assert done.process.returncode == 1
    assert "job.sql" in done.err
    assert "SELEC" in done.err
    assert f"{source}-out" not in kafka_client.admin.list_topics(timeout=60).topics


def test_dml_sync_runs_jobs_one_after_the_other_and_can_be_interrupted(
    tmp_path: Path, kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    source, sink = topic(), topic(**{"cleanup.policy": "compact"})
    kafka_client.produce(source, numbers(0, 3))
    text = COPY.replace("INSERT", "SET 'table.dml-sync' = 'true';\nINSERT INTO t VALUES (100, 'first');\nINSERT")
    arguments = ["run", script(tmp_path, text + "INSERT INTO t VALUES (200, 'never');")]
    for name, value in (("source", source), ("sink", sink), ("kafka", kafka_client.bootstrap)):
        arguments += ["--var", f"{name}={value}"]
    with started(tmp_path / "o", *arguments) as command:
        command.until(at_least(kafka_client, sink, 4))
        command.signal(signal.SIGINT)
        assert command.wait() == 0, command.err
    assert values(kafka_client, sink) == [100, 0, 1, 2]


def test_explain_runs_nothing(tmp_path: Path, kafka_client: KafkaClient) -> None:
    variables = ["--var", "source=nowhere", "--var", "kafka=localhost:1", "--var", "sink=x"]
    done = run(tmp_path / "o", "explain", script(tmp_path, COPY), *variables)
    assert done.process.returncode == 0, done.err
    assert [line.strip("└─ ").split(" ")[0] for line in done.out.splitlines()] == ["Sink", "Project", "Scan"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.sql"], "nowhere.sql"),
        (["run", "{file}", "--var", "source"], "NAME=VALUE"),
        (["run", "{file}"], "${source}"),
        (["run", "{file}", "--set", "tabl.dml-sync=true"], "table.dml-sync"),
    ],
    ids=["no file", "not a pair", "no such variable", "unknown setting"],
)
def test_wrong_arguments(tmp_path: Path, arguments: list[str], words: str) -> None:
    file = script(tmp_path, COPY)
    done = run(tmp_path / "o", *(argument.replace("{file}", file) for argument in arguments))
    assert done.process.returncode != 0
    assert words in done.err
    assert "Traceback" not in done.err
