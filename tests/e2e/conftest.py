"""Labs on the run's broker and Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import Lab
from tests.kafka_client import KafkaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def labs(spark: SparkSession, kafka_client: KafkaClient) -> Iterator[Callable[..., Lab]]:
    """Makes labs: `labs()`, `labs(checkpoint, rewind=True)`. Their jobs are stopped when the test ends."""
    made: list[Lab] = []

    def make(checkpoint: str | None = None, **more: bool) -> Lab:
        made.append(Lab(spark, kafka_client, checkpoint, more))
        return made[-1]

    yield make
    for lab in made:
        lab.close()


@pytest.fixture
def lab(labs: Callable[..., Lab]) -> Lab:
    return labs()
