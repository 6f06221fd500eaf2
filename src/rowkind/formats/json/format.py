"""The json format: its options, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkind.errors import RowkindError
from rowkind.formats.contract import Decoder, Encoder, FormatChoice
from rowkind.formats.json.cells import JsonReading
from rowkind.formats.json.decode import JsonDecoder
from rowkind.formats.json.encode import JsonEncoder
from rowkind.formats.json.exact_encode import JsonWriting, NullKeys
from rowkind.formats.temporal import TimestampStandard, timestamp_standard
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, boolean, text
from rowkind.types import CHARACTERS, DataType, Field, Root, map_members

STANDARD = Option(
    "timestamp-format.standard",
    timestamp_standard,
    "Enum",
    TimestampStandard.SQL,
    "How timestamps are written and read: SQL (`2020-12-30 12:13:14.123`, with a Z after it for TIMESTAMP_LTZ) or "
    "ISO-8601 (a T instead of the blank). Microseconds are kept; further digits are cut.",
)
IGNORE_ERRORS = Option(
    "ignore-parse-errors",
    boolean,
    "Boolean",
    False,
    "Make NULL of a field that cannot be read and drop a message that cannot be parsed, counting both, instead of "
    "failing.",
)
NULL_KEY_MODE = Option(
    "map-null-key.mode",
    text,
    "Enum",
    "FAIL",
    "What to do with a NULL key of a MAP when writing: FAIL, DROP the entry, or write the LITERAL of "
    "map-null-key.literal.",
)
NULL_KEY_LITERAL = Option("map-null-key.literal", text, "String", "null", "The key written for NULL in LITERAL mode.")
PLAIN_DECIMAL = Option(
    "encode.decimal-as-plain-number",
    boolean,
    "Boolean",
    False,
    "Write a DECIMAL with all digits of its scale (0.000000027) instead of the shortest form (2.7E-8).",
)
IGNORE_NULLS = Option(
    "encode.ignore-null-fields", boolean, "Boolean", False, "Leave fields that are NULL out of the written object."
)
FAIL_ON_MISSING = Option(
    "fail-on-missing-field", boolean, "Boolean", False, "Fail when a declared field is absent from a message."
)
JSON_PARSER = Option(
    "decode.json-parser.enabled",
    boolean,
    "Boolean",
    True,
    "Read as Flink's streaming parser does; false: as its tree parser, which differs for duplicate keys, and for "
    "numbers read into strings.",
)


class JsonFormat:
    """One JSON object a message, one column a field."""

    name = "json"
    options: tuple[Option[Any], ...] = (
        FAIL_ON_MISSING,
        IGNORE_ERRORS,
        STANDARD,
        NULL_KEY_MODE,
        NULL_KEY_LITERAL,
        PLAIN_DECIMAL,
        IGNORE_NULLS,
        JSON_PARSER,
    )
    changelog = ChangelogMode.INSERT_ONLY
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        if value(choice, FAIL_ON_MISSING) and value(choice, IGNORE_ERRORS):
            raise RowkindError("JSON_MISSING_FIELD_AND_IGNORE", table=choice.context.table)
        refuse_unwritable(columns, choice)

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        reading = JsonReading(
            value(choice, IGNORE_ERRORS),
            value(choice, FAIL_ON_MISSING),
            value(choice, STANDARD),
            value(choice, JSON_PARSER),
            any(holds_decimal(c.type) for c in columns),
        )
        return JsonDecoder(columns, reading)

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        return JsonEncoder(columns, writing(choice))


def refuse_unwritable(columns: Sequence[Field], choice: FormatChoice) -> None:
    """The checks that json shares with the formats that carry rows in JSON."""
    for column in columns:
        _refuse_key(column.type, column.name, choice)
    if choice.context.sink and null_keys(choice) is None:
        given = value(choice, NULL_KEY_MODE)
        raise RowkindError("JSON_MAP_NULL_KEY_MODE", table=choice.context.table, format=choice.name, value=given)


def writing(choice: FormatChoice) -> JsonWriting:
    return JsonWriting(
        value(choice, STANDARD),
        null_keys(choice) or NullKeys.FAIL,
        value(choice, NULL_KEY_LITERAL),
        value(choice, PLAIN_DECIMAL),
        value(choice, IGNORE_NULLS),
    )


def value(choice: FormatChoice, option: Option[Any]) -> Any:
    return choice.options.get(option.name, option.default)


def null_keys(choice: FormatChoice) -> NullKeys | None:
    given = str(value(choice, NULL_KEY_MODE)).upper()
    return NullKeys(given) if given in set(NullKeys) else None


def _refuse_key(type: DataType, column: str, choice: FormatChoice) -> None:
    if type.root in (Root.MAP, Root.MULTISET) and map_members(type)[0].root not in CHARACTERS:
        raise RowkindError("JSON_MAP_KEY_NOT_TEXT", table=choice.context.table, column=column, type=str(type))
    for inner in (type.element, type.key, *(f.type for f in type.fields)):
        if inner:
            _refuse_key(inner, column, choice)


def holds_decimal(type: DataType) -> bool:
    if type.root is Root.DECIMAL:
        return True
    inner = (type.element, type.key, *(f.type for f in type.fields))
    return any(holds_decimal(t) for t in inner if t)
