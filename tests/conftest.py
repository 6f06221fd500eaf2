"""Fixtures for the whole run. Servers start when first asked for, once for all pytest-xdist workers, end with it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings as hypothesis_settings

from tests import distribution
from tests.servers import shared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kafka_client import KafkaClient, TopicFactory

# A busy machine is slow: how long an example takes is no part of any test.
hypothesis_settings.register_profile("rowkind", deadline=None)
hypothesis_settings.load_profile("rowkind")

RUN_FOLDER, RUN_OWNER = "ROWKIND_TEST_RUN", "ROWKIND_TEST_OWNER"


def pytest_configure(config: pytest.Config) -> None:
    # xdist workers inherit the environment: they find here what another worker has started.
    if not hasattr(config, "workerinput"):
        os.environ[RUN_FOLDER] = tempfile.mkdtemp(prefix="rowkind-tests-")
        os.environ[RUN_OWNER] = str(os.getpid())


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        folder = Path(os.environ.pop(RUN_FOLDER))
        shared.stop_all(folder)
        shutil.rmtree(folder, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-seconds", action="store_true", help="record how long each unit of this run took")


def pytest_itemcollected(item: pytest.Item) -> None:
    # what draws its cases from a seed is left out of `make check`, and done with fresh seeds by `make fuzz`
    drawn = "seed" in getattr(getattr(item, "callspec", None), "params", ())
    if drawn or getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        item.add_marker("random")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    distribution.longest_first(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> distribution.LongestFirst:
    config.option.loadscopereorder = False
    return distribution.LongestFirst(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    taken = distribution.seconds_of(reports)
    if len(taken) > distribution.SLOWEST:
        terminalreporter.section("seconds")
        for line in distribution.summary(taken):
            terminalreporter.write_line(line)
    if config.getoption("--write-seconds"):
        distribution.write_seconds(taken)


def run_owner() -> int:
    """The process whose end is the end of the run."""
    return int(os.environ[RUN_OWNER])


@pytest.fixture(scope="session")
def run_folder() -> Path:
    """A folder that all workers of this run share."""
    return Path(os.environ[RUN_FOLDER])


@pytest.fixture(scope="session")
def kafka(run_folder: Path) -> str:
    """The address of the run's broker. It does not create topics by itself: use `topic`."""
    return shared.broker(run_folder, run_owner()).bootstrap


@pytest.fixture(scope="session")
def schema_registry(run_folder: Path) -> str:
    """The address of the run's schema registry, as Confluent clients want it."""
    return shared.registry(run_folder, run_owner()).url


@pytest.fixture(scope="session")
def kafka_client(kafka: str) -> KafkaClient:
    """An independent client on the run's broker: `produce`, `consume_all`, `create_topic`, `admin`."""
    from tests.kafka_client import KafkaClient

    return KafkaClient(kafka)


@pytest.fixture
def topic(kafka_client: KafkaClient) -> TopicFactory:
    """Makes topics with unique names: `topic()`, `topic(partitions=3, **{"cleanup.policy": "compact"})`."""
    return kafka_client.unique_topic


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local Spark: two cores, ANSI, UTC, no UI."""
    from pyspark.sql import SparkSession

    from rowkind.runtime.driver.class_archive import reading
    from rowkind.runtime.driver.spark import SOCKETS
    from rowkind.runtime.driver.spark_home import at_home, own_home

    home = own_home()
    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        # many small jobs: not worth optimising further
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 {reading(home)}",
        "spark.python.daemon.module": "rowkind.runtime.worker.daemon",
        **SOCKETS,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="rowkind-warehouse-"),
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2,4]").appName("rowkind-tests")
    with at_home(home):
        session = builder.config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
