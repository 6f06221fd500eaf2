"""Spark's Python processes import the installed pyspark, not the archive that has to be compiled anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from rowkind.runtime.spark_home import home_without_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_workers_import_what_is_installed(spark: SparkSession) -> None:
    def where(_: int) -> str:
        import pyspark

        return pyspark.__file__

    assert spark.sparkContext.parallelize([1], 1).map(where).collect() == [pyspark.__file__]


def test_the_home_has_spark_and_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with home_without_archive(tmp_path / "home"):
        home = Path(os.environ["SPARK_HOME"])
        assert (home / "bin" / "spark-submit").exists()
        assert (home / "jars").is_dir()
        assert not (home / "python").exists()
    assert "SPARK_HOME" not in os.environ


def test_a_home_of_the_users_own_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with home_without_archive(tmp_path / "home"):
        assert os.environ["SPARK_HOME"] == "/opt/spark"
