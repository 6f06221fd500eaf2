"""`rowkind ingest`: the job of the vendor's page as it is printed, from the file to a table that SQL reads back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkind.demo_servers.database_programs import Flavor
from tests.cli.command import run, started
from tests.conftest import run_owner
from tests.connectors.mysql.conftest import Database, opened
from tests.e2e.lab import Lab
from tests.kafka_client import KafkaClient
from tests.servers.control_plane import StandIn, control_plane
from tests.servers.databases import database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.database]

JOB = """
source:
  type: mysql
  name: MySQL Source
  hostname: ${mysql.hostname}
  port: ${mysql.port}
  username: ${mysql.username}
  password: ${mysql.password}
  tables: ${mysql.source.table}
  server-id: 8601-8604
sink:
  type: upsert-kafka
  name: upsert-kafka Sink
  properties.bootstrap.servers: ${upsert.kafka.bootstraps.server}
  aliyun.kafka.accessKeyId: ${upsert.kafka.aliyun.ak}
  aliyun.kafka.accessKeySecret: ${upsert.kafka.aliyun.sk}
  aliyun.kafka.instanceId: ${upsert.kafka.aliyun.instanceid}
  aliyun.kafka.endpoint: ${upsert.kafka.aliyun.endpoint}
  aliyun.kafka.regionId: ${upsert.kafka.aliyun.regionid}
route:
  - source-table: ${mysql.source.table}
    sink-table: ${upsert.kafka.topic}
"""

READ = """
CREATE TABLE orders (id INT, item STRING, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = '{topic}', {kafka},
    'scan.bounded.mode' = 'latest-offset', 'key.format' = 'json', 'value.format' = 'json');
SELECT * FROM orders;
"""


@pytest.fixture
def shop(run_folder: Path) -> Iterator[Database]:
    for db in opened(database(Flavor.MARIADB, run_folder, run_owner())):
        db.run(f"CREATE TABLE {db.name}.orders (id INT PRIMARY KEY, item VARCHAR(20), price DECIMAL(10, 2))")
        db.run(f"INSERT INTO {db.name}.orders VALUES (1, 'bolt', 2.50), (2, 'nut', 1.20)")
        yield db


def test_the_job_of_the_vendor_page(
    shop: Database, spark: SparkSession, kafka_client: KafkaClient, tmp_path: Path
) -> None:
    topic = f"{shop.name}-orders"

    def create(asked: dict[str, str]) -> None:
        assert asked["CompactTopic"] == "true"
        kafka_client.create_topic(asked["Topic"], **{"cleanup.policy": "compact"})

    with control_plane(StandIn("LTAI-swordfish", "swordfish-42", create)) as aliyun:
        _run_the_job(shop, spark, kafka_client, tmp_path, topic, aliyun)
    assert [asked["Topic"] for asked in aliyun.asked] == [topic]
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"swordfish" in text for text in kept)


def _run_the_job(
    shop: Database, spark: SparkSession, kafka_client: KafkaClient, tmp_path: Path, topic: str, aliyun: StandIn
) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    values = {
        "mysql.hostname": shop.server.host,
        "mysql.port": str(shop.server.port),
        "mysql.username": "root",
        "mysql.password": "",
        "mysql.source.table": f"{shop.name}.orders",
        "upsert.kafka.bootstraps.server": kafka_client.bootstrap,
        "upsert.kafka.topic": topic,
        "upsert.kafka.aliyun.instanceid": "alikafka_post",
        "upsert.kafka.aliyun.endpoint": aliyun.endpoint,
        "upsert.kafka.aliyun.regionid": "cn-hangzhou",
    }
    given = [part for name, value in values.items() for part in ("--var", f"{name}={value}")]
    command = ["ingest", str(tmp_path / "job.yaml"), "--checkpoint", str(tmp_path / "kept"), *given]
    secrets = {"ROWKIND_SECRET_UPSERT_KAFKA_ALIYUN_AK": aliyun.key_id}
    secrets["ROWKIND_SECRET_UPSERT_KAFKA_ALIYUN_SK"] = aliyun.key_secret
    checked = run(tmp_path / "checked", *command, "--check", env=secrets)
    assert checked.process.returncode == 0, checked.err
    assert f"{shop.name}.orders: key (id), about 1 chunks -> {topic}" in checked.out

    def values_of(key: bytes) -> list[bytes | None]:
        there = kafka_client.admin.list_topics(timeout=60).topics
        return [r.value for r in kafka_client.consume_all(topic) if r.key == key] if topic in there else []

    with started(tmp_path / "run", *command, env=secrets) as running:
        running.until(lambda: values_of(b'{"id":2}') == [b'{"id":2,"item":"nut","price":1.20}'])
        shop.run(
            f"UPDATE {shop.name}.orders SET price = 3 WHERE id = 1", f"DELETE FROM {shop.name}.orders WHERE id = 2"
        )
        running.until(lambda: values_of(b'{"id":2}')[-1] is None)
        running.signal(signal.SIGINT)
        assert running.wait() == 0
        assert "  MySQL Source -> upsert-kafka Sink\n  all 1 tables are copied\n  binlog: binlog." in running.err
    lab = Lab(spark, kafka_client)
    lab.finish(READ, topic=topic)
    lab.close()
    assert lab.shown == [("+I", (1, "bolt", Decimal("3.00")))]
