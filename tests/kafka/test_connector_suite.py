"""The suites of connectors on tables of a real broker."""

from __future__ import annotations

from typing import Any

import pytest

from rowkind.connectors.settings import Side
from tests.connectors.suite import SinkSuite, SourceSuite
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka

COLUMNS = "id BIGINT, name STRING"
KINDS = {
    "kafka": (COLUMNS, "'format' = 'json'"),
    "upsert-kafka": (f"{COLUMNS}, PRIMARY KEY (id) NOT ENFORCED", "'key.format' = 'json', 'value.format' = 'json'"),
}


def ddl(connector: str, client: KafkaClient, topic: str, **options: str) -> str:
    columns, formats = KINDS[connector]
    given = "".join(f", '{key.replace('_', '.')}' = '{value}'" for key, value in options.items())
    return (
        f"CREATE TABLE t ({columns}) WITH ('connector' = '{connector}', 'topic' = '{topic}', {formats}, "
        f"'properties.bootstrap.servers' = '{client.bootstrap}'{given})"
    )


class TestReading(SourceSuite):
    @pytest.fixture(params=list(KINDS))
    def ddl(self, request: Any, kafka_client: KafkaClient, topic: TopicFactory) -> str:
        name = topic(partitions=2)
        kafka_client.produce(name, [(f'{{"id":{n}}}', f'{{"id":{n},"name":"a"}}') for n in range(20)])
        start = {"scan_startup_mode": "earliest-offset"} if request.param == "kafka" else {}
        return ddl(request.param, kafka_client, name, scan_bounded_mode="latest-offset", **start)


class TestWriting(SinkSuite):
    side = Side.SINK

    @pytest.fixture(params=list(KINDS))
    def ddl(self, request: Any, kafka_client: KafkaClient, topic: TopicFactory) -> str:
        compacted = {"cleanup.policy": "compact"} if request.param == "upsert-kafka" else {}
        return ddl(request.param, kafka_client, topic(**compacted))
