"""The real CDC formats in tables: where they are refused, what they may read, and their options by name."""

from __future__ import annotations

import pytest

from rowkind.connectors.settings import Side
from rowkind.definitions import MetadataColumn
from rowkind.formats.registry import format_named
from rowkind.kinds import ChangelogMode
from rowkind.options.session_values import SessionOptions
from rowkind.types import STRING, timestamp_ltz
from tests.catalog.tables import REMOVED, append, refused, sink, source, upsert

JSON_BASED = ["debezium-json", "canal-json", "maxwell-json", "ogg-json"]
EVERY = [*JSON_BASED, "debezium-avro-confluent"]


def url(prefix: str, format: str) -> dict[str, str]:
    return {f"{prefix}{format}.url": "http://localhost:8081"} if format.endswith("confluent") else {}


@pytest.mark.parametrize("format", EVERY)
def test_tables_with_and_without_a_primary_key_take_every_change(format: str) -> None:
    for key in ((), ("id",)):
        table = append({"format": format, **url("", format)}, primary_key=key)
        assert source(table).changelog is ChangelogMode.RETRACT
        assert sink(table).changelog is ChangelogMode.RETRACT
        assert not source(table).reading.repeats_events


@pytest.mark.parametrize("format", EVERY)
def test_they_are_refused_as_keys_and_in_upsert_tables(format: str) -> None:
    name, error = refused(append({"key.format": format, "key.fields": "id", **url("key.", format)}))
    assert (name, error.params["format"]) == ("KEY_FORMAT_NOT_INSERT_ONLY", format)
    for place in ("key", "value"):
        name, error = refused(upsert({f"{place}.format": format, **url(f"{place}.", format)}))
        assert (name, error.params["format"], error.params["place"]) == ("UPSERT_FORMAT_NOT_INSERT_ONLY", format, place)


@pytest.mark.parametrize("format", EVERY)
def test_repeated_events_need_a_primary_key(format: str) -> None:
    session, _ = SessionOptions().set("table.exec.source.cdc-events-duplicate", "true")
    options = {"format": format, **url("", format)}
    name, _ = refused(append(options), Side.SOURCE, session=session)
    assert name == "CDC_DUPLICATES_NEED_PRIMARY_KEY"
    assert source(append(options, primary_key=("id",)), session).reading.repeats_events
    assert not source(append(), session).reading.repeats_events


@pytest.mark.parametrize("format", JSON_BASED)
def test_every_metadata_key_can_be_read_and_none_written(format: str) -> None:
    keys = format_named(format).metadata
    columns = [MetadataColumn(key, type, f"value.{key}", virtual=True) for key, type in keys.items()]
    table = source(append({"format": format}, *columns))
    assert [m.format_key for m in table.metadata] == list(keys)
    assert sink(append({"format": format}, *columns)).metadata == ()
    name, _ = refused(
        append({"format": format}, MetadataColumn("x", STRING, "value.nothing", virtual=True)), Side.SOURCE
    )
    assert name == "UNKNOWN_METADATA"
    written = MetadataColumn("x", next(iter(keys.values())), f"value.{next(iter(keys))}")
    name, _ = refused(append({"format": format}, written), Side.SINK)
    assert name == "METADATA_NOT_WRITABLE"


def test_there_is_no_metadata_in_avro() -> None:
    column = MetadataColumn("x", timestamp_ltz(3), "value.ingestion-timestamp", virtual=True)
    options = {"format": "debezium-avro-confluent", **url("", "debezium-avro-confluent")}
    assert refused(append(options, column), Side.SOURCE)[0] == "UNKNOWN_METADATA"


@pytest.mark.parametrize("format", JSON_BASED)
def test_options_by_name(format: str) -> None:
    given = {f"value.{format}.ignore-parse-errors": "TRUE", f"value.{format}.timestamp-format.standard": "ISO-8601"}
    table = source(append({"format": REMOVED, "value.format": format, **given}))
    assert table.value_format.options["ignore-parse-errors"] is True
    assert refused(append({"format": format, f"{format}.fail-on-missing-field": "true"}))[0] == "UNKNOWN_OPTION"
    assert (
        refused(append({"format": format, f"{format}.timestamp-format.standard": "iso"}))[0] == "INVALID_OPTION_VALUE"
    )


def test_the_schema_and_the_filters() -> None:
    wrapped = append({"format": "debezium-json", "debezium-json.schema-include": "true"})
    assert source(wrapped).value_format.options["schema-include"] is True
    assert refused(wrapped, Side.SINK)[0] == "DEBEZIUM_SCHEMA_NOT_WRITTEN"
    wrong = append({"format": "canal-json", "canal-json.table.include": "orders_("})
    assert refused(wrong)[0] == "CANAL_PATTERN_INVALID"
