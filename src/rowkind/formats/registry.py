"""Formats by name; others add theirs by the entry point `rowkind.formats`."""

from __future__ import annotations

from functools import cache

from rowkind.errors import RowkindError, nearest
from rowkind.formats.contract import Format
from rowkind.registry import Registry

BUILT_IN = {
    "raw": "rowkind.formats.raw.format:RawFormat",
    "csv": "rowkind.formats.csv.format:CsvFormat",
    "avro": "rowkind.formats.avro.format:AvroFormat",
    "avro-confluent": "rowkind.formats.avro.confluent:AvroConfluentFormat",
    "debezium-avro-confluent": "rowkind.formats.cdc.debezium_avro:DebeziumAvroConfluentFormat",
    "json": "rowkind.formats.json.format:JsonFormat",
    "debezium-json": "rowkind.formats.cdc.debezium:DebeziumJsonFormat",
    "canal-json": "rowkind.formats.cdc.canal:CanalJsonFormat",
    "maxwell-json": "rowkind.formats.cdc.maxwell:MaxwellJsonFormat",
    "ogg-json": "rowkind.formats.cdc.ogg:OggJsonFormat",
}

FORMATS = Registry("format", "rowkind.formats", BUILT_IN)


def names() -> list[str]:
    """Every format that can be named in a table."""
    return FORMATS.names()


@cache
def format_named(name: str) -> Format:
    """The format of this name; an unknown one is an error that suggests the nearest."""
    found: Format | None = FORMATS.instance(name)
    if found is None:
        known = FORMATS.nearest_first(name)
        raise RowkindError("UNKNOWN_FORMAT", format=name, known=known, suggestion=nearest(name, names()))
    return found
