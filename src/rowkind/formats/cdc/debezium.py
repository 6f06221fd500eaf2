"""`debezium-json`: change events of Debezium, with or without the schema that Kafka Connect wraps around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkind.errors import RowkindError
from rowkind.formats.cdc.before_after import BeforeAfterEnvelope
from rowkind.formats.cdc.event_metadata import PROPERTIES, Key, as_it_is, member, member_millis, millis
from rowkind.formats.cdc.format import JSON_OPTIONS, CdcJsonFormat, ChangeEnvelope, Frame, metadata_fields
from rowkind.formats.cdc.images import Operation
from rowkind.formats.contract import FormatChoice
from rowkind.formats.json.format import value
from rowkind.options.declarations import Option, boolean
from rowkind.types import BIGINT, STRING, Field, timestamp_ltz

SCHEMA_INCLUDE = Option(
    "schema-include",
    boolean,
    "Boolean",
    False,
    "Whether messages carry their schema, with the event under `payload` (Kafka Connect's `schemas.enable`). "
    "Reading only.",
)
OPERATIONS = {"c": Operation.INSERT, "r": Operation.INSERT, "u": Operation.UPDATE, "d": Operation.DELETE}
SOURCE = Field("source", PROPERTIES)
SCHEMA = "schema"


class DebeziumJsonFormat(CdcJsonFormat):
    """`before`, `after` and `op`; `source` and `ts_ms` for metadata."""

    name = "debezium-json"
    options: tuple[Option[Any], ...] = (SCHEMA_INCLUDE, *JSON_OPTIONS)
    keys: Mapping[str, Key] = {
        SCHEMA: Key(STRING, Field(SCHEMA, STRING), as_it_is),
        "ingestion-timestamp": Key(timestamp_ltz(3), Field("ts_ms", BIGINT), millis),
        "source.timestamp": Key(timestamp_ltz(3), SOURCE, member_millis("ts_ms")),
        "source.database": Key(STRING, SOURCE, member("db")),
        "source.schema": Key(STRING, SOURCE, member("schema")),
        "source.table": Key(STRING, SOURCE, member("table", "collection")),
        "source.properties": Key(PROPERTIES, SOURCE, as_it_is),
    }

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        super().validate(columns, choice)
        if choice.context.sink and value(choice, SCHEMA_INCLUDE):
            raise RowkindError("DEBEZIUM_SCHEMA_NOT_WRITTEN", table=choice.context.table, format=self.name)

    def envelope(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> ChangeEnvelope:
        return BeforeAfterEnvelope(
            "Debezium",
            "op",
            OPERATIONS,
            columns,
            metadata_fields(self.keys, [key for key in metadata if key != SCHEMA]),
            "payload" if value(choice, SCHEMA_INCLUDE) else None,
            metadata_fields(self.keys, [key for key in metadata if key == SCHEMA]),
        )

    def frames(self, ignore_nulls: bool) -> tuple[Frame, Frame]:
        return before_after_frames(ignore_nulls, ',"op":"c"}', ',"op":"d"}')


def before_after_frames(ignore_nulls: bool, there: str, gone: str) -> tuple[Frame, Frame]:
    """A row that came, and one that went, between null images unless these are left out."""
    if ignore_nulls:
        return Frame('{"after":', there), Frame('{"before":', gone)
    return Frame('{"before":null,"after":', there), Frame('{"before":', ',"after":null' + gone)
