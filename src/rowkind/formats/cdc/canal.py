"""`canal-json`: change events of Canal, several rows a message, of the databases and tables that are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.formats.cdc.data_old import DataOldEnvelope
from rowkind.formats.cdc.event_metadata import Key, as_it_is, millis
from rowkind.formats.cdc.events import Root
from rowkind.formats.cdc.format import JSON_OPTIONS, CdcJsonFormat, ChangeEnvelope, Frame, metadata_fields
from rowkind.formats.cdc.images import Operation
from rowkind.formats.contract import FormatChoice
from rowkind.formats.json.format import value
from rowkind.formats.json.tree import Int, Real, Unreadable, number_text
from rowkind.formats.spans import Bools, valid
from rowkind.options.declarations import Option, text
from rowkind.options.java_regex import python_pattern
from rowkind.types import BIGINT, INT, STRING, Field, array, map_of, timestamp_ltz

DATABASE_INCLUDE = Option(
    "database.include",
    text,
    "String",
    None,
    "Java regular expression that the whole `database` field must match; messages of others give no rows.",
)
TABLE_INCLUDE = Option(
    "table.include",
    text,
    "String",
    None,
    "Java regular expression that the whole `table` field must match; messages of others give no rows.",
)
OPERATIONS = {
    "INSERT": Operation.INSERT,
    "UPDATE": Operation.UPDATE,
    "DELETE": Operation.DELETE,
    "CREATE": Operation.NOTHING,
}
PLACES = (Field("database", STRING), Field("table", STRING))
Filters = Mapping[str, re.Pattern[str]]
"""Patterns by the field that they are about."""


class CanalJsonFormat(CdcJsonFormat):
    """`data`, `old` and `type`, with lists of rows."""

    name = "canal-json"
    options: tuple[Option[Any], ...] = (*JSON_OPTIONS, DATABASE_INCLUDE, TABLE_INCLUDE)
    keys: Mapping[str, Key] = {
        "database": Key(STRING, PLACES[0], as_it_is),
        "table": Key(STRING, PLACES[1], as_it_is),
        "sql-type": Key(map_of(STRING, INT), Field("sqlType", map_of(STRING, INT)), as_it_is),
        "pk-names": Key(array(STRING), Field("pkNames", array(STRING)), as_it_is),
        "ingestion-timestamp": Key(timestamp_ltz(3), Field("ts", BIGINT), millis),
        "event-timestamp": Key(timestamp_ltz(3), Field("es", BIGINT), millis),
    }

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        super().validate(columns, choice)
        filters(choice)

    def envelope(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> ChangeEnvelope:
        needed = (*PLACES, *(f for f in metadata_fields(self.keys, metadata) if f not in PLACES))
        return CanalEnvelope("Canal", OPERATIONS, columns, needed, several=True, filters=filters(choice))

    def frames(self, ignore_nulls: bool) -> tuple[Frame, Frame]:
        return Frame('{"data":[', '],"type":"INSERT"}'), Frame('{"data":[', '],"type":"DELETE"}')


def filters(choice: FormatChoice) -> Filters:
    found = {}
    for field, option in (("database", DATABASE_INCLUDE), ("table", TABLE_INCLUDE)):
        pattern = value(choice, option)
        if pattern is not None:
            try:
                found[field] = python_pattern(pattern)
            except ValueError as error:
                raise RowkindError(
                    "CANAL_PATTERN_INVALID",
                    table=choice.context.table,
                    option=f"{choice.name}.{option.name}",
                    pattern=pattern,
                    reason=error,
                ) from None
    return found


class CanalEnvelope(DataOldEnvelope):
    """Canal's, with filters that are asked before anything else is looked at."""

    def __init__(self, *given: Any, filters: Filters, **more: Any) -> None:
        super().__init__(*given, **more)
        self._filters = filters

    def wanted(self, root: Root) -> bool:
        for field, pattern in self._filters.items():
            if field not in root:
                raise Unreadable(f'the "{field}" field is missing')
            if not pattern.fullmatch(_as_text(root[field])):
                return False
        return True

    def doubtful(self, texts: pa.StringArray, events: pa.RecordBatch) -> Bools:
        """A place that is null may as well be absent."""
        found = super().doubtful(texts, events)
        for field in self._filters:
            found |= ~valid(events.column(field))
        return found

    def unwanted(self, events: pa.RecordBatch) -> Bools:
        found = np.zeros(events.num_rows, np.bool_)
        for field, pattern in self._filters.items():
            encoded = events.column(field).dictionary_encode()
            refused = np.array([not pattern.fullmatch(v) for v in encoded.dictionary.to_pylist()] + [False], np.bool_)
            found |= refused[encoded.indices.fill_null(len(refused) - 1).to_numpy()]
        return found


def _as_text(value: Any) -> str:
    """As Jackson's asText: containers are empty."""
    match value:
        case None:
            return "null"
        case True | False:
            return "true" if value else "false"
        case Int() | Real():
            return number_text(value, exact=False)
        case str():
            return value
        case _:
            return ""
