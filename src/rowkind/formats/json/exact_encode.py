"""Rows to JSON messages, one value at a time: what the fast path must agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rowkind.errors import RowkindError
from rowkind.formats.json.tree import escaped
from rowkind.formats.temporal import TimestampStandard, render_date, render_time, render_timestamp
from rowkind.formats.text import base64_text, java_double, java_float, plain_decimal, short_decimal
from rowkind.types import DataType, Field, Root, map_members

Text = Callable[[Any], str]
"""The JSON text of a value as `ticks` gives it, null included."""


class NullKeys(StrEnum):
    """What becomes of a MAP's NULL key."""

    LITERAL = "LITERAL"
    FAIL = "FAIL"
    DROP = "DROP"


@dataclass(frozen=True, slots=True)
class JsonWriting:
    """How rows are written: the options of an encoder."""

    standard: TimestampStandard = TimestampStandard.SQL
    null_keys: NullKeys = NullKeys.FAIL
    null_literal: str = "null"
    plain_decimals: bool = False
    ignore_nulls: bool = False


def quoted(text: str) -> str:
    return f'"{escaped(text, astral=True)}"'


def text_of(type: DataType, writing: JsonWriting) -> Text:
    """The writer of a type's values."""
    write = _not_null(type, writing)
    return lambda value: "null" if value is None else write(value)


def _not_null(type: DataType, writing: JsonWriting) -> Text:
    match type.root:
        case Root.NULL:
            return lambda value: "null"
        case Root.BOOLEAN:
            return lambda value: "true" if value else "false"
        case Root.FLOAT:
            return lambda value: _number(java_float(value))
        case Root.DOUBLE:
            return lambda value: _number(java_double(value))
        case Root.DECIMAL:
            return plain_decimal if writing.plain_decimals else short_decimal
        case Root.CHAR | Root.VARCHAR:
            return quoted
        case Root.BINARY | Root.VARBINARY:
            return lambda value: f'"{base64_text(value)}"'
        case Root.DATE:
            return lambda value: f'"{render_date(value)}"'
        case Root.TIME:
            return lambda value: f'"{render_time(value)}"'
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            local_zone = type.root is Root.TIMESTAMP_LTZ
            return lambda value: f'"{render_timestamp(value, writing.standard, local_zone)}"'
        case Root.INTERVAL_DAY_TIME:
            return lambda value: str(value // 1000)
        case Root.ARRAY:
            assert type.element
            element = text_of(type.element, writing)
            return lambda value: f"[{','.join(map(element, value))}]"
        case Root.MAP | Root.MULTISET:
            return _map(type, writing)
        case Root.ROW:
            return object_text(type.fields, writing)
        case _:
            return str


def _number(text: str) -> str:
    return f'"{text}"' if text.endswith(("NaN", "Infinity")) else text


def _map(type: DataType, writing: JsonWriting) -> Text:
    member = text_of(map_members(type)[1], writing)

    def write(value: list[tuple[str | None, Any]]) -> str:
        members = {}
        for key, inner in value:
            if key is None and writing.null_keys is NullKeys.FAIL:
                raise RowkindError("JSON_MAP_NULL_KEY")
            if key is not None or writing.null_keys is NullKeys.LITERAL:
                members[writing.null_literal if key is None else key] = member(inner)
        return "{" + ",".join(f"{quoted(k)}:{v}" for k, v in members.items()) + "}"

    return write


def object_text(fields: Sequence[Field], writing: JsonWriting) -> Callable[[Any], str]:
    """The writer of a ROW, whose value is a tuple of its fields' values."""
    members = [(f"{quoted(f.name)}:", text_of(f.type, writing)) for f in fields]

    def write(row: tuple[Any, ...]) -> str:
        cells = zip(members, row, strict=True)
        if writing.ignore_nulls:
            return "{" + ",".join(name + text(v) for (name, text), v in cells if v is not None) + "}"
        return "{" + ",".join(name + text(v) for (name, text), v in cells) + "}"

    return write
