"""From the text of a script to a resolved table, with the real json format."""

from __future__ import annotations

import pytest

from rowkind.catalog.catalog import Catalog
from rowkind.connectors.kafka.source_options import StartupMode
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable
from tests.catalog.tables import resolve

EVENTS = """
CREATE TABLE events (
  user_id BIGINT,
  action STRING,
  event_ts TIMESTAMP(3) METADATA FROM 'timestamp',
  proctime AS PROCTIME(),
  WATERMARK FOR event_ts AS event_ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'events;more-events',
  'properties.bootstrap.servers' = 'localhost:9092',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);
CREATE TABLE totals (
  region STRING,
  total DECIMAL(10, 2),
  PRIMARY KEY (region) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'totals',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json',
  'value.format' = 'json',
  'value.json.encode.decimal-as-plain-number' = 'true',
  'value.fields-include' = 'EXCEPT_KEY'
);
CREATE TABLE more WITH ('topic' = 'more', 'json.fail-on-missing-field' = 'true') LIKE events (EXCLUDING WATERMARKS);
"""


@pytest.fixture
def catalog() -> Catalog:
    catalog = Catalog()
    for statement in parse_script(EVENTS):
        assert isinstance(statement, CreateTable)
        catalog.create_table(statement.definition, like=statement.like)
    return catalog


def table(catalog: Catalog, name: str, side: Side) -> KafkaTable:
    return resolve(catalog.table(name, "the test"), SessionOptions(), side)[0]


def test_append_source(catalog: Catalog) -> None:
    events = table(catalog, "events", Side.SOURCE)
    assert events.topics == ("events", "more-events")
    assert events.reading.startup.mode is StartupMode.EARLIEST
    assert [f.name for f in events.value_columns] == ["user_id", "action"]
    assert [(m.name, m.key) for m in events.metadata] == [("event_ts", "timestamp")]
    assert events.value_format.options["ignore-parse-errors"] is True
    assert events.value_format.options["fail-on-missing-field"] is False


def test_upsert_both_ways(catalog: Catalog) -> None:
    for side in Side:
        totals = table(catalog, "totals", side)
        assert [f.name for f in totals.key_columns] == ["region"]
        assert [f.name for f in totals.value_columns] == ["total"]
        assert totals.value_format.options["encode.decimal-as-plain-number"] is True
        assert totals.key_format is not None
        assert totals.key_format.options["encode.decimal-as-plain-number"] is False


def test_a_format_refuses_its_own_options(catalog: Catalog) -> None:
    """Both options of json come together through LIKE, and exclude each other."""
    with pytest.raises(RowkindError) as caught:
        table(catalog, "more", Side.SOURCE)
    assert caught.value.condition == "JSON_MISSING_FIELD_AND_IGNORE"
