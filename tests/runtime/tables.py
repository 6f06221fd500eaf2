"""Tables to test with, from their SQL."""

from __future__ import annotations

from rowkind.connectors.contract import SourceContext
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.settings import Side
from rowkind.options.session_values import SessionOptions
from rowkind.runtime.driver.batch_planner import BatchPlanner
from rowkind.runtime.driver.pacing import Pacing
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable
from tests.catalog.tables import resolve

BASE = {"topic": "t", "properties.bootstrap.servers": "localhost:9092"}
APPEND = {**BASE, "connector": "kafka", "format": "json", "scan.startup.mode": "earliest-offset"}
KEYED = {**BASE, "connector": "kafka", "scan.startup.mode": "earliest-offset", "key.format": "json"}
UPSERT = {**BASE, "connector": "upsert-kafka", "key.format": "json", "value.format": "json"}


def table(columns: str, base: dict[str, str], side: Side = Side.SOURCE, **more: str) -> KafkaTable:
    """A resolved table; options by keyword have `_` for `.` and `__` for `-`."""
    named = {key.replace("__", "-").replace("_", "."): value for key, value in more.items()}
    options = ", ".join(f"'{key}' = '{value}'" for key, value in {**base, **named}.items())
    statement = next(iter(parse_script(f"CREATE TABLE t ({columns}) WITH ({options});")))
    assert isinstance(statement, CreateTable)
    return resolve(statement.definition, SessionOptions(), side)[0]


def planner_of(read: KafkaTable) -> BatchPlanner:
    """Of a job that reads one table; each one is a start of the job."""
    sources = [read.source(SourceContext("", lambda function, arguments: []))]
    return BatchPlanner(sources, [False], Pacing([read.name], sources, cores=1))
