"""kill -9 at every step of the commit protocol, one after the other on one checkpoint: nothing lost, nothing twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.command import started
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.fault]

ROWS = 16_000
PLACES = ("before-sinks", "before-commit", "after-commit", "after-sinks", "after-manifest", "after-groups")
"""`before-commit` and `after-commit` kill a Python worker at its transaction, and the driver at once after it."""

SCRIPT = """
    CREATE TABLE events (id INT, grp INT) WITH ('connector' = 'kafka', 'topic' = '{source}', 'format' = 'json',
        'properties.bootstrap.servers' = '{servers}', 'properties.group.id' = '{source}',
        'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
        'scan.max-rows-per-batch' = '1000');
    CREATE TABLE copied (id INT, grp INT) WITH ('connector' = 'kafka', 'topic' = '{copied}', 'format' = 'json',
        'properties.bootstrap.servers' = '{servers}',
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{copied}');
    CREATE TABLE counted (grp INT, n BIGINT, ids BIGINT, PRIMARY KEY (grp) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{counted}', 'key.format' = 'json', 'value.format' = 'json',
        'properties.bootstrap.servers' = '{servers}',
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{counted}');
    EXECUTE STATEMENT SET BEGIN
        INSERT INTO copied SELECT id, grp FROM events;
        INSERT INTO counted SELECT grp, COUNT(*), COUNT(DISTINCT id) FROM events GROUP BY grp;
    END;
"""


def test_kills_at_every_step_lose_and_repeat_nothing(
    kafka: str, kafka_client: KafkaClient, topic: TopicFactory, tmp_path: Path
) -> None:
    source, copied, counted = topic(partitions=2), topic(partitions=2), topic(partitions=2)
    kafka_client.produce(source, [(None, json.dumps({"id": i, "grp": i % 7})) for i in range(ROWS)])
    script = tmp_path / "job.sql"
    script.write_text(SCRIPT.format(source=source, copied=copied, counted=counted, servers=kafka))
    arguments = ("run", str(script), "--checkpoint", str(tmp_path / "checkpoint"))
    for number, place in enumerate(PLACES):
        happened = tmp_path / place
        fail = f"{place}:{1 + 2 * number}:{happened}"
        with started(tmp_path / f"run-{number}", *arguments, env={"ROWKIND_FAIL_AT": fail}) as run:
            run.until(happened.exists)
            run.kill()
    with started(tmp_path / "last", *arguments) as run:
        assert run.wait() == 0, run.err
    ids = Counter(json.loads(r.value or b"")["id"] for r in kafka_client.consume_all(copied))
    assert set(ids) == set(range(ROWS))
    assert set(ids.values()) == {1}
    table = {}
    for record in kafka_client.consume_all(counted):
        table[record.key] = json.loads(record.value or b"")
    wanted = Counter(i % 7 for i in range(ROWS))
    assert {row["grp"]: (row["n"], row["ids"]) for row in table.values()} == {g: (n, n) for g, n in wanted.items()}
