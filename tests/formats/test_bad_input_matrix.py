"""What every decoder makes of bad input, cell by cell: a message fails, is dropped and counted, or gives a row."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.types import Field
from tests.formats.test_schema_registry import Server, server  # noqa: F401

COLUMNS = (Field("id", t.INT.not_null()), Field("price", t.decimal(4, 2)))
NUMBER = (Field("id", t.INT.not_null()),)
GOOD = (1, Decimal("1.50"))
FAILS, DROPPED, NOTHING = "fails", "dropped", "nothing"
IGNORE = {"ignore-parse-errors": True}

WRAPPED: dict[str, Callable[[str], str]] = {
    "json": lambda row: row,
    "debezium-json": lambda row: f'{{"before":null,"after":{row},"op":"c"}}',
    "canal-json": lambda row: f'{{"data":[{row}],"type":"INSERT"}}',
    "maxwell-json": lambda row: f'{{"data":{row},"type":"insert"}}',
    "ogg-json": lambda row: f'{{"before":null,"after":{row},"op_type":"I"}}',
}
CDC = [name for name in WRAPPED if name != "json"]

CSV = [
    ("unparsable", {}, '1,"x', FAILS),
    ("unparsable, ignored", IGNORE, '1,"x', DROPPED),
    ("wrong type", {}, "x,1.5", FAILS),
    ("wrong type, ignored", IGNORE, "x,1.5", (None, GOOD[1])),
    ("missing field", {}, "1", FAILS),
    ("missing field, ignored", IGNORE, "1", (1, None)),
    ("extra field", {}, "1,1.5,more", FAILS),
    ("extra field, ignored", IGNORE, "1,1.5,more", DROPPED),
    ("null in a NOT NULL column", {"null-literal": "n"}, "n,1.5", (None, GOOD[1])),
    ("decimal too large", {}, "1,12345.6", (1, None)),
    ("tombstone", {}, None, NOTHING),
]
JSON = [
    ("unparsable", {}, "{", FAILS),
    ("unparsable, ignored", IGNORE, "{", DROPPED),
    ("wrong type", {}, '{"id":"x","price":1.5}', FAILS),
    ("wrong type, ignored", IGNORE, '{"id":"x","price":1.5}', (None, GOOD[1])),
    ("missing field", {}, '{"id":1}', (1, None)),
    ("extra field", {}, '{"id":1,"price":1.5,"more":[{}]}', GOOD),
    ("null in a NOT NULL column", {}, '{"id":null,"price":1.5}', (None, GOOD[1])),
    ("decimal too large", {}, '{"id":1,"price":12345.6}', (1, None)),
    ("tombstone", {}, None, NOTHING),
    ("empty", {}, "", NOTHING),
]
AVRO: list[tuple[str, dict[str, Any], bytes | None, Any]] = [
    ("unparsable", {}, b"\x80", FAILS),
    ("missing field", {}, b"\x02", FAILS),
    ("extra bytes", {}, b"\x02\x02\x04\x00\x96\x04", GOOD),
    ("null price", {}, b"\x02\x00", (1, None)),
    ("decimal too large", {}, b"\x02\x02\x06\x12\xd6\x87", (1, None)),
    ("tombstone", {}, None, NOTHING),
    ("empty", {}, b"", FAILS),
]


def check(decoded: Decoded, outcome: Any, columns: tuple[Field, ...] = COLUMNS) -> None:
    found = list(zip(*(c.to_pylist() for c in decoded.rows.columns), strict=True))
    if outcome in (FAILS, DROPPED, NOTHING):
        assert found == []
        assert [b.index for b in decoded.bad] == ([0] if outcome == FAILS else [])
        assert decoded.ignored == (outcome == DROPPED)
    else:
        assert found == [outcome]
        assert not decoded.bad


def decoded(
    name: str, payload: bytes | None, options: dict[str, Any] | None = None, columns: tuple[Field, ...] = COLUMNS
) -> Decoded:
    chosen = FormatChoice(name, options or {}, FormatContext("t", topic="t"))
    return format_named(name).decoder(columns, (), chosen).decode(pa.array([payload], pa.binary()))


@pytest.mark.parametrize(("options", "payload", "outcome"), [c[1:] for c in CSV], ids=[c[0] for c in CSV])
def test_csv(options: dict[str, Any], payload: str | None, outcome: Any) -> None:
    check(decoded("csv", None if payload is None else payload.encode(), options), outcome)


def test_csv_without_bytes() -> None:
    check(decoded("csv", b""), FAILS)
    check(decoded("csv", b"", IGNORE), DROPPED)


@pytest.mark.parametrize("name", list(WRAPPED))
@pytest.mark.parametrize(("options", "payload", "outcome"), [c[1:] for c in JSON], ids=[c[0] for c in JSON])
def test_json_and_the_formats_built_on_it(
    name: str, options: dict[str, Any], payload: str | None, outcome: Any
) -> None:
    whole = payload if not payload or payload == "{" else WRAPPED[name](payload)
    check(decoded(name, None if whole is None else whole.encode(), options), outcome)


@pytest.mark.parametrize("name", list(WRAPPED))
def test_a_boolean_is_never_wrong(name: str) -> None:
    columns = (Field("b", t.BOOLEAN),)
    for token, value in (('"maybe"', False), ("1", False), ('" TRUE "', True), ("{}", False)):
        check(decoded(name, WRAPPED[name](f'{{"b":{token}}}').encode(), columns=columns), (value,))


def test_json_can_insist_on_fields() -> None:
    check(decoded("json", b'{"id":1}', {"fail-on-missing-field": True}), FAILS)
    for name in CDC:
        assert "fail-on-missing-field" not in {o.name for o in format_named(name).options}


@pytest.mark.parametrize("name", CDC)
def test_an_unknown_operation(name: str) -> None:
    message = WRAPPED[name]('{"id":1}').replace('"c"', '"t"').replace('"I"', '"T"')
    message = message.replace("INSERT", "TRUNCATE").replace("insert", "truncate")
    check(decoded(name, message.encode()), FAILS)
    check(decoded(name, message.encode(), IGNORE), DROPPED)


@pytest.mark.parametrize(("options", "payload", "outcome"), [c[1:] for c in AVRO], ids=[c[0] for c in AVRO])
def test_avro(options: dict[str, Any], payload: bytes | None, outcome: Any) -> None:
    check(decoded("avro", payload, options), outcome)


ID, PRICE = {"name": "id", "type": "int"}, {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}
MAYBE_PRICE = {"name": "price", "type": ["null", PRICE]}
EXTRA = {"name": "more", "type": "string"}
CONFLUENT = [
    ("unparsable", [ID, MAYBE_PRICE], b"\x80", FAILS),
    ("wrong type", [{"name": "id", "type": "string"}, MAYBE_PRICE], b"\x02x\x00", FAILS),
    ("missing nullable field", [ID], b"\x02", (1, None)),
    ("missing NOT NULL field", [MAYBE_PRICE], b"\x00", FAILS),
    ("extra field", [ID, EXTRA, MAYBE_PRICE], b"\x02\x02x\x02\x04\x00\x96", GOOD),
    ("null for a NOT NULL column", [{"name": "id", "type": ["null", "int"]}, MAYBE_PRICE], b"\x00\x00", FAILS),
    (
        "no null for a NOT NULL column",
        [{"name": "id", "type": ["null", "int"]}, MAYBE_PRICE],
        b"\x02\x02\x00",
        (1, None),
    ),
    ("decimal too large", [ID, MAYBE_PRICE], b"\x02\x02\x06\x12\xd6\x87", (1, None)),
]


@pytest.mark.parametrize(("fields", "datum", "outcome"), [c[1:] for c in CONFLUENT], ids=[c[0] for c in CONFLUENT])
def test_avro_confluent(server: Server, fields: list[Any], datum: bytes, outcome: Any) -> None:  # noqa: F811
    server.script = [(200, {"schema": json.dumps({"type": "record", "name": "r", "fields": fields})})]
    check(decoded("avro-confluent", b"\0\0\0\0\1" + datum, {"url": server.url}), outcome)


def test_avro_confluent_without_a_datum(server: Server) -> None:  # noqa: F811
    check(decoded("avro-confluent", None, {"url": server.url}), NOTHING)
    check(decoded("avro-confluent", b"", {"url": server.url}), FAILS)
    check(decoded("avro-confluent", b"no frame", {"url": server.url}), FAILS)


def test_raw() -> None:
    check(decoded("raw", b"\0\0\1", columns=NUMBER), FAILS)
    check(decoded("raw", b"\0\0\0\0\1", columns=NUMBER), FAILS)
    check(decoded("raw", b"", columns=NUMBER), FAILS)
    check(decoded("raw", None, columns=NUMBER), (None,))
    check(decoded("raw", b"", columns=(Field("s", t.STRING),)), ("",))


@pytest.mark.parametrize("name", ["avro", "avro-confluent", "debezium-avro-confluent", "raw"])
def test_formats_that_never_ignore(name: str) -> None:
    assert "ignore-parse-errors" not in {o.name for o in format_named(name).options}
