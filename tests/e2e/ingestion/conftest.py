"""Intakes on the run's broker, Spark and database servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkind.demo_servers.database_programs import Flavor
from tests.conftest import run_owner
from tests.connectors.mysql.conftest import opened
from tests.e2e.ingestion.intake import Intake
from tests.kafka_client import KafkaClient
from tests.servers.databases import database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def intake(
    request: pytest.FixtureRequest, spark: SparkSession, kafka_client: KafkaClient, run_folder: Path, tmp_path: Path
) -> Iterator[Intake]:
    """On MariaDB; a test may ask for another server by a parameter."""
    flavor = getattr(request, "param", Flavor.MARIADB)
    for db in opened(database(flavor, run_folder, run_owner())):
        made = Intake(spark, kafka_client, db, str(tmp_path / "checkpoint"))
        yield made
        made.close()
