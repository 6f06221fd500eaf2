"""Formats by name, imported when first asked for; others add theirs by the entry point `rowkind.formats`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from rowkind.errors import RowkindError, nearest
from rowkind.formats.contract import Format

BUILT_IN = {
    "raw": "rowkind.formats.raw:RawFormat",
    "csv": "rowkind.formats.csv:CsvFormat",
    "avro": "rowkind.formats.avro:AvroFormat",
    "avro-confluent": "rowkind.formats.avro_confluent:AvroConfluentFormat",
    "debezium-avro-confluent": "rowkind.formats.debezium_avro_confluent:DebeziumAvroConfluentFormat",
    "json": "rowkind.formats.json:JsonFormat",
    "debezium-json": "rowkind.formats.debezium_json:DebeziumJsonFormat",
    "canal-json": "rowkind.formats.canal_json:CanalJsonFormat",
    "maxwell-json": "rowkind.formats.maxwell_json:MaxwellJsonFormat",
    "ogg-json": "rowkind.formats.ogg_json:OggJsonFormat",
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
