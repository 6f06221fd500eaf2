"""Formats by name, imported when first asked for; others add theirs by the entry point `rowkind.formats`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from rowkind.errors import RowkindError, nearest
from rowkind.formats.contract import Format

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


def names() -> list[str]:
    """Every format that can be named in a table."""
    return sorted({*BUILT_IN, *(e.name for e in entry_points(group="rowkind.formats"))})


@cache
def format_named(name: str) -> Format:
    """The format of this name; an unknown one is an error that suggests the nearest."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return getattr(import_module(module), attribute)()  # type: ignore[no-any-return]
    for entry in entry_points(group="rowkind.formats", name=name):
        return entry.load()()  # type: ignore[no-any-return]
    raise RowkindError("UNKNOWN_FORMAT", format=name, known=", ".join(names()), suggestion=nearest(name, names()))
