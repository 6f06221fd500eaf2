"""The oldest Kafka that starts here beside the newest: read, written, created; exactly-once is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from rowkind.connectors.kafka.api_versions import api_versions
from rowkind.errors import RowkindError
from tests.e2e.lab import Lab
from tests.kafka_client import KafkaClient
from tests.servers.old_kafka import old_kafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TABLES = """
    CREATE TABLE views (page STRING) WITH ('connector' = 'kafka', 'topic' = 'views', {kafka}, {json}, {once});
    CREATE TABLE pages (page STRING, n BIGINT, PRIMARY KEY (page) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = 'pages', {kafka}, {keyed});
    CREATE TABLE copied (page STRING) WITH ('connector' = 'kafka', 'topic' = 'copied', {kafka}, {json},
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'p');
"""


@pytest.fixture(scope="module")
def old(spark: SparkSession) -> Iterator[Lab]:
    with old_kafka() as address:
        lab = Lab(spark, KafkaClient(address))
        yield lab
        lab.close()


def test_a_job_runs_from_end_to_end(old: Lab) -> None:
    old.client.create_topic("views", 2)
    old.put("views", *({"page": page} for page in "abcab"))
    old.finish(TABLES + "INSERT INTO pages SELECT page, COUNT(*) FROM views GROUP BY page;")
    assert {key["page"]: value["n"] for key, value in old.pairs("pages")} == {"a": 2, "b": 2, "c": 1}


def test_exactly_once_is_refused_with_what_to_switch_off(old: Lab) -> None:
    with pytest.raises(RowkindError) as refused:
        old.start("INSERT INTO copied SELECT page FROM views;")
    assert refused.value.condition == "BROKER_TOO_OLD"
    assert refused.value.params["feature"] == "exactly-once"
    assert "'sink.delivery-guarantee' = 'at-least-once'" in str(refused.value)
    assert "copied" not in old.client.admin.list_topics(timeout=60).topics


def test_it_really_is_old(old: Lab) -> None:
    assert api_versions({"bootstrap.servers": old.client.bootstrap})["OffsetFetch"] == 6
