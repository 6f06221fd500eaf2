"""The pages that a newcomer follows, followed: in their order, on topics that do not exist, with nothing prepared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs import pages as p
from tests.docs.playground import Playground
from tests.docs.reader import Reader, same
from tests.kafka_client import KafkaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.parametrize("page", p.followed())
def test_a_reader_sees_what_the_page_shows(
    page: str, spark: SparkSession, kafka_client: KafkaClient, tmp_path: Path
) -> None:
    reader = Reader(spark, Playground(kafka_client), tmp_path)
    try:
        wrong = reader.follow(page)
    finally:
        reader.close()
    assert not wrong, "\n\n".join(wrong)


def test_the_first_steps_are_followed_whole() -> None:
    assert {"README.md", "docs/quickstart.md"} <= set(p.followed())
    assert [block.place for page in p.followed() for block in p.of("sql", page) if not block.file] == []


def test_output_is_compared_whole() -> None:
    shown = ["+--+", "| b |", "| a |", "x: … rows/s"]
    assert same(shown, ["+--+", "| a |", "| b |", "x: 7 rows/s"])
    assert not same(shown, ["+--+", "| a |", "| b |", "x: 7 rows/s", "Warning: more"])
    assert not same(shown, ["+--+", "| a |", "| c |", "x: 7 rows/s"])
