"""Spark's Python processes import the installed pyspark, not the archive that has to be compiled anew."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from rowkind.broker import require_java
from rowkind.errors import RowkindError
from rowkind.runtime.driver.class_archive import archive_of, make_archive, reading
from rowkind.runtime.driver.spark_home import at_home, lasting_home, own_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_workers_import_what_is_installed(spark: SparkSession) -> None:
    def where(_: int) -> str:
        import pyspark

        return pyspark.__file__

    assert spark.sparkContext.parallelize([1], 1).map(where).collect() == [pyspark.__file__]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of Python of the test's own, as far as Spark's home goes."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    return tmp_path


def test_the_home_has_spark_and_no_archive_of_python(prefix: Path) -> None:
    home = own_home()
    assert home is not None
    with at_home(home):
        assert os.environ["SPARK_HOME"] == str(home)
        assert list(Path(os.environ["SPARK_CONF_DIR"]).iterdir()) == []
        assert (home / "bin" / "spark-submit").exists()
        assert (home / "jars").is_dir()
        assert not (home / "python").exists()
    assert not {"SPARK_HOME", "SPARK_CONF_DIR"} & os.environ.keys()


def test_the_home_lasts_and_follows_the_installation(prefix: Path) -> None:
    home = own_home()
    assert home == own_home() == lasting_home()
    (home / "jars").unlink()
    (home / "jars").symlink_to(prefix)
    assert own_home() == home
    assert (home / "jars").readlink() == Path(pyspark.__file__).parent / "jars"


def test_without_the_right_to_write_there_the_home_is_elsewhere(prefix: Path) -> None:
    (prefix / "share").write_text("in the way")
    home = own_home()
    assert home is not None
    assert home != lasting_home()
    assert (home / "jars").is_dir()


def test_a_home_and_settings_of_the_users_own_stay(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    with at_home(own_home()):
        assert os.environ["SPARK_CONF_DIR"] == "/etc/spark"
    assert os.environ["SPARK_CONF_DIR"] == "/etc/spark"
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert own_home() is None
    with at_home(None):
        assert os.environ["SPARK_HOME"] == "/opt/spark"


def test_a_class_archive_is_used_once_it_is_there(prefix: Path) -> None:
    home = own_home()
    assert home is not None
    assert reading(None) == reading(home) == ""
    archive_of(home).touch()
    assert str(archive_of(home)) in reading(home)


def test_a_class_archive_is_not_made_for_a_home_that_is_not_ours(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with pytest.raises(RowkindError) as refused:
        make_archive()
    assert refused.value.condition == "CLASS_ARCHIVE_NOT_MADE"


@pytest.mark.spark
def test_java_takes_the_archive(spark: SparkSession) -> None:
    """The one that `make test` has made: with `-Xshare:on` Java refuses to start when an archive does not fit."""
    home, jvm = own_home(), spark._jvm
    assert home is not None
    assert jvm is not None
    archive = f"-XX:SharedArchiveFile={archive_of(home)}"
    assert archive_of(home).exists(), "run `make warm`"
    assert archive in list(jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments())
    classes = jvm.java.lang.System.getProperty("java.class.path")
    command = [require_java(), "-Xshare:on", archive, "-cp", classes, "-version"]
    assert subprocess.run(command, check=False).returncode == 0
