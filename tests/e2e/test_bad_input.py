"""What goes wrong outside: topics, brokers, messages, retention, checkpoints. Each is a named error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from rowkind.errors import RowkindError
from rowkind.runtime.driver.job import Job
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TABLE = "CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, {options});"


def failure(job: Job) -> RowkindError:
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert job.status == "failed"
    return failed.value


def test_a_topic_that_does_not_exist(lab: Lab, topic: TopicFactory) -> None:
    name = topic(name="orders")
    error = failure(lab.job(TABLE + "SELECT * FROM t;", t=name[:-1], options="{once}"))
    assert error.condition == "NO_SUCH_TOPIC"
    assert error.params["topic"] == name[:-1]
    assert name in error.params["suggestion"]


def test_a_broker_that_does_not_answer_is_given_up_with_its_address(lab: Lab) -> None:
    away = """
        CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 't', {json}, {once},
            'properties.bootstrap.servers' = 'localhost:1', 'properties.default.api.timeout.ms' = '500');
    """
    error = failure(lab.job(away + "SELECT * FROM t;"))
    assert error.condition == "KAFKA_UNREACHABLE"
    assert "localhost:1" in str(error)
    with pytest.raises(RowkindError) as failed:
        lab.start("INSERT INTO t VALUES (1);")
    assert failed.value.condition == "KAFKA_UNREACHABLE"


def test_a_message_that_cannot_be_decoded_is_shown_with_its_place(lab: Lab, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    good, bad = b'{"id":1}', b'{"id": "seven"}'
    lab.client.produce(name, [Record(None, good, 1), Record(None, good, 1), Record(None, bad, 1)])
    error = failure(lab.job(TABLE + "SELECT * FROM t;", t=name, options="{once}"))
    assert error.condition == "UNDECODABLE_MESSAGE"
    found = {key: error.params[key] for key in ("table", "topic", "partition", "offset", "role", "payload")}
    assert found == {
        "table": "t", "topic": name, "partition": 1, "offset": 2, "role": "value", "payload": '{"id": "seven"}',
    }  # fmt: skip
    assert "at org.apache" not in str(error)


def test_ignored_parse_errors_are_counted(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.client.produce(name, [(None, '{"id":1}'), (None, "{"), (None, '{"id":2}')])
    options = "{once}, 'json.ignore-parse-errors' = 'true'"
    job = lab.finish(TABLE + "SELECT * FROM t;", t=name, options=options)
    assert [row for _, row in lab.shown] == [(1,), (2,)]
    assert job.progress.counts["t.parse-errors-ignored"] == 1


def delete_before(client: KafkaClient, topic: str, offset: int) -> None:
    """What retention does."""
    asked = [TopicPartition(topic, 0, offset)]
    for future in client.admin.delete_records(asked).values():
        future.result(60)


LOSSY = """
    CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json},
        'scan.startup.mode' = 'earliest-offset', 'scan.max-rows-per-batch' = '5'{more});
    CREATE TABLE u (id INT) WITH ('connector' = 'kafka', 'topic' = '{t}-out', {kafka}, {json});
    INSERT INTO u SELECT id FROM t;
"""


@pytest.mark.parametrize("anew", [False, True], ids=["retention", "topic made anew"])
def test_data_that_is_gone_fails_the_job_or_is_passed_over(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path, anew: bool
) -> None:
    name = topic()
    lab = labs(str(tmp_path))
    lab.put(name, *({"id": i} for i in range(5)))
    job = lab.job(LOSSY, t=name, more="")
    lab.until_count(f"{name}-out", 5, job)
    job.stop()
    assert job.wait(SECONDS)
    if anew:
        lab.client.delete_topic(name)
        lab.until(lambda: name not in lab.client.admin.list_topics(timeout=60).topics)
        lab.client.create_topic(name)
        lab.put(name, {"id": 20}, {"id": 21})
    else:
        lab.put(name, *({"id": i} for i in range(5, 22)))
        delete_before(lab.client, name, 20)
    # another client: one that was kept open may have fetched what is gone since
    again = failure(labs(str(tmp_path)).job(LOSSY, t=name, more=", 'properties.client.id' = 'second'"))
    assert again.condition == ("TOPIC_CREATED_AGAIN" if anew else "KAFKA_DATA_LOSS")
    assert (again.params["topic"], again.params["wanted"]) == (name, 5)
    assert again.params["available"] == (2 if anew else 20)
    going_on = labs(str(tmp_path))
    job = going_on.job(LOSSY, t=name, more=", 'scan.on-data-loss' = 'continue', 'properties.client.id' = 'third'")
    going_on.until_count(f"{name}-out", 7, job)
    assert [row["id"] for row in going_on.values(f"{name}-out")] == [*range(5), 20, 21]
    if anew:
        assert any(name in notice for notice in going_on.notices)
    else:
        going_on.until(lambda: job.progress.counts["t.offsets-lost"] == 15, job)


def test_a_checkpoint_of_another_job_is_refused(labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path) -> None:
    script = TABLE + "CREATE TABLE u (id INT) WITH ('connector' = 'kafka', 'topic' = '{u}', {kafka}, {json});"
    first, other, out = topic(), topic(), topic()
    labs(str(tmp_path)).finish(script + "INSERT INTO u SELECT * FROM t;", t=first, u=out, options="{once}")
    with pytest.raises(RowkindError) as failed:
        labs(str(tmp_path)).start(script + "INSERT INTO u SELECT * FROM t;", t=other, u=out, options="{once}")
    assert failed.value.condition == "CHECKPOINT_OF_ANOTHER_JOB"
    assert other in str(failed.value)


def test_an_updating_query_into_an_append_sink_is_refused_by_name(lab: Lab) -> None:
    with pytest.raises(RowkindError) as failed:
        lab.start(
            """
            CREATE TABLE u (id INT, PRIMARY KEY (id) NOT ENFORCED)
                WITH ('connector' = 'upsert-kafka', 'topic' = 'u', {kafka}, {keyed});
            CREATE TABLE a (id INT) WITH ('connector' = 'kafka', 'topic' = 'a', {kafka}, {json});
            INSERT INTO a SELECT id FROM u;
            """
        )
    assert failed.value.condition == "UPDATES_INTO_APPEND_SINK"
    assert failed.value.params["table"] == "a"
    assert "key id" in failed.value.params["operator"]


def test_a_topic_that_goes_away_while_the_job_runs(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    options = "'scan.startup.mode' = 'earliest-offset', 'properties.default.api.timeout.ms' = '1000'"
    job = lab.job(TABLE + "SELECT * FROM t;", t=name, options=options)
    lab.until(lambda: job.progress.batches, job)
    lab.client.delete_topic(name)
    error = failure(job)
    assert error.condition in ("NO_SUCH_TOPIC", "KAFKA_FAILED")
    assert error.condition != "JOB_FAILED"


def test_a_message_too_large_for_its_topic(lab: Lab, topic: TopicFactory) -> None:
    name = topic(**{"max.message.bytes": "1000"})
    error = failure(
        lab.job(
            "CREATE TABLE b (x STRING) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json});"
            "INSERT INTO b VALUES (REPEAT('x', 5000));",
            t=name,
        )
    )
    assert error.condition == "KAFKA_MESSAGE_TOO_LARGE"


def test_a_failing_job_can_go_on_once_the_cause_is_gone(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path
) -> None:
    """Nothing is lost by a bad message: with another setting the same checkpoint goes on behind what was written."""
    name = topic()
    script = LOSSY.replace("'5'{more}", "'2'{more}")
    lab = labs(str(tmp_path))
    for value in ('{"id":0}', '{"id":1}', '{"id":2}', "oops", '{"id":4}'):
        lab.client.produce(name, [(None, value)])
    assert failure(lab.job(script, t=name, more="")).condition == "UNDECODABLE_MESSAGE"
    going_on = labs(str(tmp_path))
    job = going_on.job(script, t=name, more=", 'json.ignore-parse-errors' = 'true'")
    going_on.until(lambda: job.progress.batches >= 2, job)
    written = [row["id"] for row in going_on.values(f"{name}-out")]
    assert [i for n, i in enumerate(written) if i not in written[:n]] == [0, 1, 2, 4]
    assert json.dumps(written).count("0") == 1
