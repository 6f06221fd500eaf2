"""Calls of every function, operator and cast with odd values, against what real Flink made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.plan.differing import answered, differing
from tests.plan.recordings import Recording, paths

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.name.partition(".")[0])
def test_calls_give_what_flink_gives_or_are_in_the_list(path: Path, spark: SparkSession) -> None:
    recording = Recording.read(path)
    found = differing(recording, answered(spark, recording))
    assert not found, "\n" + "\n".join(found)
