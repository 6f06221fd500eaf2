"""`rowkind topic` on a real broker."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from rowkind.cli import app
from rowkind.errors import RowkindError
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka


def topic_command(client: KafkaClient, *words: str, input: str | bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["topic", *words, "--brokers", client.bootstrap], input=input)


def test_a_topic_from_beginning_to_end(kafka_client: KafkaClient) -> None:
    name = f"made-{uuid4().hex[:8]}"
    assert topic_command(kafka_client, "create", name, "--partitions", "2", "--compact").exit_code == 0
    assert topic_command(kafka_client, "create", name).exception.condition == "TOPIC_EXISTS"
    done = topic_command(kafka_client, "produce", name, input=b"k\t1\nk\t\nb\tv\xff\n")
    assert done.output == f"3 messages are in {name}.\n"
    assert [r.value for r in kafka_client.consume_all(name) if r.key == b"k"] == [b"1", None]
    listed = topic_command(kafka_client, "list", "--format", "json").output.splitlines()
    assert {"topic": name, "partitions": "2", "offsets": "3"} in map(json.loads, listed)
    told = topic_command(kafka_client, "describe", name).output
    assert "| cleanup.policy" in told
    assert "compact" in told
    shown = topic_command(kafka_client, "consume", name, "--format", "csv").output.splitlines()
    assert shown[0] == "partition,offset,time,key,value"
    assert sorted(line.split(",", 3)[3] for line in shown[1:]) == ["b,x'76ff'", "k,", "k,1"]


def test_the_last_messages_and_an_empty_topic(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    name = topic()
    assert topic_command(kafka_client, "consume", name, "--format", "json").output == ""
    kafka_client.produce(name, [(None, str(n)) for n in range(20)])
    shown = topic_command(kafka_client, "consume", name, "--last", "2", "--format", "json").output.splitlines()
    assert [json.loads(line)["value"] for line in shown] == ["18", "19"]


@pytest.mark.parametrize("command", ["describe", "consume", "produce"])
def test_a_topic_that_is_not_there(kafka_client: KafkaClient, command: str) -> None:
    done = topic_command(kafka_client, command, f"nowhere-{uuid4().hex[:8]}", input="x\n")
    assert isinstance(done.exception, RowkindError)
    assert done.exception.condition == "NO_SUCH_TOPIC"
