"""Odd values in messages of every JSON format, beside what real Flink makes of them with ignore-parse-errors."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import Any

import pyarrow as pa
import pytest

from rowkind.formats.differences import DIFFERENCES
from rowkind.formats.document import FORMATS, path, with_section
from rowkind.formats.registry import format_named
from rowkind.formats.text import java_double
from rowkind.sql import parse_type
from rowkind.types import INT, DataType, Field, Root
from tests.formats.changes import choice
from tools.record_messages import FIXTURE, message

ANSWERS = json.loads(gzip.decompress(FIXTURE.read_bytes()))


def text(value: Any, type: DataType) -> str:
    """A value of an Arrow column as Flink's CAST to STRING writes it, bytes in base64."""
    match type.root:
        case _ if value is None:
            return "NULL"
        case Root.BOOLEAN:
            return str(value).upper()
        case Root.DOUBLE:
            return java_double(value)
        case Root.VARBINARY:
            return b64encode(value).decode()
        case Root.TIME:
            return f"{value:%H:%M:%S}"
        case Root.TIMESTAMP:
            return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03}"
        case Root.ARRAY:
            return f"[{', '.join('NULL' if item is None else str(item) for item in value)}]"
        case Root.ROW:
            return f"({', '.join('NULL' if item is None else str(item) for item in value.values())})"
    return str(value)


def rows_here(form: str, type: DataType, tokens: list[str]) -> dict[int, str]:
    """What becomes of the rows, by the number of their message."""
    columns = (Field("id", INT), Field("v", type), Field("z", INT))
    decoder = format_named(form).decoder(columns, (), choice(form, ignore_parse_errors=True))
    messages = [message(form, number, token).encode() for number, token in enumerate(tokens)]
    ids, values, rest = (column.to_pylist() for column in decoder.decode(pa.array(messages, pa.binary())).rows.columns)
    return {i: outcome([text(v, type), z]) for i, v, z in zip(ids, values, rest, strict=True)}


def outcome(row: list[Any] | None) -> str:
    if row is None:
        return "no row"
    value, rest = row
    return ("NULL" if value is None else str(value)) + ("" if rest == 1 else ", rest lost")


@pytest.mark.parametrize("form", ANSWERS)
def test_rows_are_those_of_flink_or_in_the_list(form: str) -> None:
    wrong = []
    for name, answers in ANSWERS[form].items():
        here = rows_here(form, parse_type(name), [token for token, _ in answers])
        for number, (token, row) in enumerate(answers):
            mine, flink = here.get(number, "no row"), outcome(row)
            if mine != flink and not any(d.covers(form, name, token, mine, flink) for d in DIFFERENCES):
                wrong.append(f"{name} of {token}: should be {flink!r}, but is {mine!r}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("name", FORMATS)
def test_pages_show_the_list(name: str) -> None:
    """If this fails: run `python -m rowkind.formats.document` in the root of the repository."""
    page = path(name).read_text("utf-8")
    assert page == with_section(name, page)
