"""The shared Spark session has the settings that tests rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_spark_is_ansi_and_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    row = spark.sql("SELECT CAST(timestamp_seconds(0) AS STRING) AS t, current_timezone() AS zone").first()
    assert row is not None
    assert (row.t, row.zone) == ("1970-01-01 00:00:00", "UTC")
