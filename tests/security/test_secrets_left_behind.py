"""What a job leaves behind, and what it shows while it runs, holds none of the secrets in its script."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rowkind.broker.settings import free_port
from tests.cli.command import Command, started
from tests.faults.processes import processes
from tests.formats.test_schema_registry import Server, server  # noqa: F401
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SECRETS = ["jaas-s3cret", "keystore-s3cret", "key-s3cret", "user-s3cret", "token-s3cret"]
LOGIN = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{SECRETS[0]}";'
SCRIPT = """
CREATE TABLE s (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{source}', {secret}, {kafka},
    'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'properties.group.id' = 'secrets');
CREATE TABLE t (name STRING, total BIGINT, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
    'topic' = '{sink}', {secret}, {kafka}, 'key.format' = 'json', 'value.format' = 'avro-confluent',
    'value.avro-confluent.url' = '{registry}', 'value.avro-confluent.basic-auth.credentials-source' = 'USER_INFO',
    'value.avro-confluent.basic-auth.user-info' = 'u:user-s3cret');
SHOW CREATE TABLE t;
DESCRIBE t;
EXPLAIN INSERT INTO t SELECT name, COUNT(*) FROM s GROUP BY name;
INSERT INTO t SELECT name, COUNT(*) FROM s GROUP BY name;
"""
PROPERTIES = {
    "sasl.jaas.config": LOGIN,
    "ssl.keystore.password": SECRETS[1],
    "ssl.key.password": SECRETS[2],
    "sasl.oauthbearer.client.credentials.client.secret": SECRETS[4],
}
FORMS = [*(s.encode() for s in SECRETS), base64.b64encode(b"u:user-s3cret")]


def found_in(data: bytes) -> list[bytes]:
    return [form for form in FORMS if form in data]


def pages(port: int) -> Iterator[tuple[str, bytes]]:
    """What Spark's web server tells: its pages, and its answers for programs."""
    root = f"http://127.0.0.1:{port}"

    def get(path: str) -> bytes:
        with urllib.request.urlopen(root + path) as answer:
            return bytes(answer.read())

    (application,) = json.loads(get("/api/v1/applications"))
    told = f"/api/v1/applications/{application['id']}"
    jobs = json.loads(get(f"{told}/jobs"))
    paths = ["/jobs/", "/stages/", "/storage/", "/environment/", "/executors/", "/SQL/"]
    paths += [f"{told}/{name}" for name in ("environment", "jobs", "stages?details=true", "allexecutors", "sql")]
    paths += [f"/jobs/job/?id={jobs[0]['jobId']}", f"{told}/sql?details=true&planDescription=true&length=1000"]
    for path in paths:
        yield path, get(path)


def of_processes(command: Command) -> Iterator[tuple[str, bytes]]:
    for process in processes(command.process.pid):
        for file in ("cmdline", "environ"):
            with suppress(OSError):  # a worker that ended meanwhile
                yield f"{file} of {process.command[:60]}", Path(f"/proc/{process.pid}/{file}").read_bytes()


def of_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()


def test_no_secret_is_left_behind(
    tmp_path: Path,
    kafka_client: KafkaClient,
    topic: TopicFactory,
    server: Server,  # noqa: F811
) -> None:
    source, sink, port = topic(), topic(), free_port()
    server.script = [(200, {"id": 1})]
    kafka_client.produce(source, [(None, f'{{"id":{i},"name":"n{i % 5}"}}') for i in range(100)])
    places = {name: tmp_path / name for name in ("left", "left/events", "left/tmp", "script")}
    for place in places.values():
        place.mkdir()
    secret = ", ".join(f"'properties.{key}' = '{value}'" for key, value in PROPERTIES.items())
    filled = {"source": source, "sink": sink, "secret": secret, "registry": server.url}
    filled["kafka"] = f"'properties.bootstrap.servers' = '{kafka_client.bootstrap}'"
    script = places["script"] / "job.sql"
    script.write_text(SCRIPT.format(**filled))
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(places["left/events"]),
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
    }
    arguments = ["run", str(script), "--verbose", "--checkpoint", str(places["left"] / "checkpoint")]
    arguments += [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    with started(places["left"], *arguments, env={"TMPDIR": str(places["left/tmp"])}) as command:
        command.until(lambda: sum(kafka_client.end_offsets(sink).values()) >= 5)
        shown = [*pages(port), *of_processes(command)]
        kafka_client.produce(source, [(None, "not json")])  # the job ends with all that it has to say
        assert command.wait() == 1
    assert {asked[2]["Authorization"] for asked in server.asked} == {f"Basic {FORMS[-1].decode()}"}
    assert "UNDECODABLE_MESSAGE" in command.err
    left = dict(of_files(places["left"]))
    for part in ("/checkpoint/t/job.json", "/err", "/out", "/events/", "/spark.log"):
        assert any(part in name for name in left), part
    assert {name: found for name, data in [*shown, *left.items()] if (found := found_in(data))} == {}
    assert len(shown) > 20
