"""Hostile payloads into every decoder, what they made into every encoder, and the bad ones into errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.connectors.kafka.messages import MessageDecoder
from rowkind.errors import RowkindError
from rowkind.formats.charsets import utf8_text
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.registry import BUILT_IN, format_named
from rowkind.runtime.worker_errors import WorkerError, carried, new_nonce
from rowkind.types import Field
from tests.formats.test_schema_registry import Server, server  # noqa: F401
from tests.runtime.tables import APPEND, table
from tests.runtime.test_messages import raw
from tests.security.corpus import RAW, TEXTS, json_rows

FLAT = (
    *(Field("s", t.STRING), Field("i", t.INT), Field("l", t.BIGINT), Field("f", t.FLOAT), Field("d", t.DOUBLE)),
    *(Field("n", t.decimal(38, 10)), Field("b", t.BYTES), Field("q", t.BOOLEAN), Field("e", t.DATE)),
    *(Field("h", t.time(3)), Field("z", t.timestamp(3)), Field("a", t.array(t.STRING))),
)
COLUMNS = (*FLAT, Field("m", t.map_of(t.STRING, t.STRING)), Field("r", t.row(("s", t.STRING))))
NAMES = [c.name for c in COLUMNS]
RAW_COLUMNS = tuple(c for c in COLUMNS if c.name in "silfdbq")
IGNORE = {"ignore-parse-errors": True}
EVENTS: dict[str, Callable[[bytes], bytes]] = {
    "debezium-json": lambda row: b'{"before":' + row + b',"after":' + row + b',"op":"u"}',
    "canal-json": lambda row: b'{"data":[' + row + b'],"old":[' + row + b'],"type":"UPDATE"}',
    "maxwell-json": lambda row: b'{"data":' + row + b',"old":' + row + b',"type":"update"}',
    "ogg-json": lambda row: b'{"before":' + row + b',"after":' + row + b',"op_type":"U"}',
}
PAYLOADS = [*RAW.values(), *(text.encode() for text in TEXTS.values())]


def choice(name: str, options: dict[str, Any] | None = None) -> FormatChoice:
    return FormatChoice(name, options or {}, FormatContext("t", topic="t"))


def decoded(
    name: str, columns: Iterable[Field], payloads: list[bytes], options: dict[str, Any] | None = None
) -> Decoded:
    """One by one and together: no exception, and nothing but valid columns."""
    decoder = format_named(name).decoder(tuple(columns), (), choice(name, options))
    whole = decoder.decode(pa.array(payloads, pa.binary()))
    whole.rows.validate(full=True)
    assert all(bad.reason for bad in whole.bad)
    return whole


def encoded(rows: pa.RecordBatch, columns: tuple[Field, ...]) -> None:
    """Rows into every format that takes the columns; what is written as json is json in UTF-8."""
    for name in ("json", "csv", "avro", *EVENTS):
        taken = [i for i, c in enumerate(columns) if name != "csv" or c in FLAT]
        if not taken:
            continue
        some = pa.RecordBatch.from_arrays([rows.column(i) for i in taken], names=[columns[i].name for i in taken])
        encoder = format_named(name).encoder(tuple(columns[i] for i in taken), choice(name))
        kinds = pa.array([0] * rows.num_rows, pa.int8())
        for payload in encoder.encode(some, kinds).to_pylist():
            if name.endswith("json"):
                json.loads(payload.decode())
    for i, column in enumerate(columns):
        if column in RAW_COLUMNS:
            one = pa.RecordBatch.from_arrays([rows.column(i)], names=[column.name])
            format_named("raw").encoder((column,), choice("raw")).encode(one)


def test_every_format_is_here() -> None:
    assert {*EVENTS, "json", "csv", "avro", "raw", "avro-confluent", "debezium-avro-confluent"} == {*BUILT_IN}


@pytest.mark.parametrize("options", [{}, IGNORE], ids=["failing", "ignoring"])
def test_json(options: dict[str, Any]) -> None:
    found = decoded("json", COLUMNS, [*PAYLOADS, *json_rows(NAMES)], options)
    assert found.bad or options
    if options:
        assert found.rows.num_rows > 1000
        encoded(found.rows.slice(0, 2000), COLUMNS)


@pytest.mark.parametrize("name", list(EVENTS))
def test_change_events(name: str) -> None:
    rows = list(json_rows(NAMES))[[*EVENTS].index(name) :: 4]  # each format a part: they share how a row is read
    found = decoded(name, COLUMNS, [*PAYLOADS, *map(EVENTS[name], rows)], IGNORE)
    assert found.rows.num_rows > 200


@pytest.mark.parametrize("column", FLAT, ids=[c.name for c in FLAT])
def test_csv(column: Field) -> None:
    found = decoded("csv", [column], PAYLOADS)
    encoded(found.rows, (column,))


@pytest.mark.parametrize("column", COLUMNS, ids=NAMES)
def test_avro(column: Field) -> None:
    found = decoded("avro", [column], PAYLOADS)
    encoded(found.rows, (column,))
    decoded("avro", [column], [*PAYLOADS, *json_rows([column.name])], {"encoding": "json"})


@pytest.mark.parametrize("options", [{}, {"charset": "UTF-16"}, {"line-delimiter": "|"}, {"charset": "GBK"}], ids=str)
def test_raw(options: dict[str, Any]) -> None:
    for column in RAW_COLUMNS:
        encoded(decoded("raw", [column], PAYLOADS, options).rows, (column,))


def test_bytes_become_text_as_java_reads_them() -> None:
    expected = {
        b'caf\xe9 "\t': 'caf\ufffd "\t',
        b"\xe2\x82": "\ufffd",
        b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf": "\ufffd" * 9,
        b"\xed\xa0\x80\xed\xbf\xbf \xed\xa0": "\ufffd\ufffd \ufffd",
        b"\xed\xa0A\xf4\x90\x80\x80\xff": "\ufffdA" + "\ufffd" * 5,
        "ü€😀\0".encode(): "ü€😀\0",
    }  # recorded from Java's `new String(bytes, UTF_8)`
    assert {data: utf8_text(data) for data in expected} == expected
    text = (Field("s", t.STRING),)
    for name, payloads in (("raw", [*expected]), ("avro", [b"\x02" + bytes([2 * len(d)]) + d for d in expected])):
        assert decoded(name, text, payloads).rows.column(0).to_pylist() == [*expected.values()]


def bad_messages(on_error: str) -> MessageDecoder:
    dead = {"scan_dead__letter_topic": "dead"} if on_error == "dead-letter" else {}
    columns = "s STRING, i INT, l BIGINT, d DOUBLE, n DECIMAL(38, 10), b BYTES, e DATE, z TIMESTAMP(3)"
    return MessageDecoder(table(columns, APPEND, scan_on__error=on_error, **dead))


MESSAGES = [*PAYLOADS, *json_rows(["i", "l", "d", "n", "b", "e", "z"])]


def test_errors_are_short_and_reach_the_driver() -> None:
    decoder, nonce, failed = bad_messages("fail"), new_nonce(), 0
    for payload in MESSAGES:
        error = raised(lambda payload=payload: decoder.decode(raw(decoder, (None, payload)), "t", 3))
        if error is None:
            continue
        failed += 1
        sent = str(WorkerError(error, nonce))
        assert len(sent.encode()) < 20_000
        found = carried(RuntimeError(sent), nonce)
        assert found is not None
        assert found.params == error.params
    assert failed > 200


def raised(call: Callable[[], object]) -> RowkindError | None:
    try:
        call()
    except RowkindError as error:
        return error
    return None


def test_dead_letters_are_what_came_with_short_reasons() -> None:
    decoder, keys = bad_messages("dead-letter"), [text.encode() for text in TEXTS.values() if len(text) < 1000]
    headers = [{"key": text, "value": text.encode()} for text in TEXTS.values() if len(text) < 1000]
    lists = [headers] * len(MESSAGES)
    pairs = [(keys[i % len(keys)], payload) for i, payload in enumerate(MESSAGES)]
    decoder.decode(raw(decoder, *pairs, **{"header-list": lists}), "t", 3)
    letters = decoder.take_diverted()
    assert len(letters) > 200
    assert {(letter.key, letter.value) for letter in letters} <= set(pairs)
    for letter in letters:
        assert letter.headers[: len(headers)] == [(h["key"], h["value"]) for h in headers]
        own = dict(letter.headers[len(headers) :])
        assert set(own) == {f"rowkind.{name}" for name in ("topic", "partition", "offset", "role", "reason")}
        assert all(len(value or b"") < 2000 for value in own.values())


DOUBLING = [
    {"type": "record", "name": f"r{i}", "fields": [{"name": n, "type": f"r{i - 1}" if i else "int"} for n in "xyzuvw"]}
    for i in range(15)
]
SCHEMAS: list[Any] = [
    *("", "nonsense", "[" * 100_000, '{"type":' * 100_000, "\ud800", "null", "1", '{"type":"record"}'),
    *({"type": "fixed", "name": "f", "size": size} for size in (-1, 2**40, "x", None, True)),
    {"type": "record", "name": "r", "fields": 5},
    {"type": "record", "name": "r", "fields": [5]},
    {"type": "record", "name": "r", "fields": [{"name": 5, "type": "int"}]},
    {"type": "record", "name": "r", "fields": [{"name": "s", "type": "int", "aliases": 5}]},
    {"type": "record", "name": "r", "namespace": 5, "fields": []},
    {
        "type": "record",
        "name": "r",
        "fields": [{"name": "s", "type": {"type": "bytes", "logicalType": [], "scale": {}}}],
    },
    {"type": "record", "name": "r", "fields": [{"name": "s", "type": "r"}]},
    {"type": "record", "name": "r", "fields": [{"name": "x", "type": ["null", "r", "r"]}]},
    {"type": "enum", "name": "e", "symbols": [1, {}]},
    {"type": "record", "name": "r", "fields": [{"name": "x", "type": {"type": "array", "items": "null"}}]},
    {
        "type": "record",
        "name": "r",
        "fields": [
            *({"name": r["name"], "type": ["null", r]} for r in DOUBLING),
            {"name": "all", "type": {"type": "array", "items": "r14"}},
        ],
    },
]
DATUMS = [b"", b"\0", b"\xff" * 20, b"\xfe\xff\x03" * 20_000, bytes(200), b"\x02" * 200]


@pytest.mark.parametrize("name", ["avro-confluent", "debezium-avro-confluent"])
def test_schemas_that_a_registry_may_answer_with(server: Server, name: str) -> None:  # noqa: F811
    for id, schema in enumerate(SCHEMAS):
        server.script = [(200, {"schema": schema if isinstance(schema, str) else json.dumps(schema)})]
        framed = [b"\0" + id.to_bytes(4, "big") + datum for datum in (*DATUMS, *RAW.values())]
        decoded(name, COLUMNS, framed, {"url": server.url})


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"schema": 5},
        {"schema": '"int"', "references": 5},
        {"schema": '"int"', "references": [{"subject": "a/../b"}]},
        {"schema": '"int"', "references": [{"subject": "a", "version": "1/../../x"}]},
        {"schema": '"int"', "references": [{"subject": "a", "version": 1}]},
    ],
    ids=str,
)
def test_answers_that_a_registry_may_give(server: Server, answer: Any) -> None:  # noqa: F811
    server.script = [(200, answer)]
    framed = [b"\0\0\0\0\1" + datum for datum in DATUMS]
    decoder = format_named("avro-confluent").decoder(COLUMNS, (), choice("avro-confluent", {"url": server.url}))
    error = raised(lambda: decoder.decode(pa.array(framed, pa.binary())))
    if error is None:
        assert len(decoder.decode(pa.array(framed, pa.binary())).bad) == len(DATUMS)
    else:
        assert error.condition == "REGISTRY_REFUSED"
    assert len(server.asked) < 60


def test_the_trap_of_the_corpus_works() -> None:
    """The mark is one that was obeyed once: a pickle of a call."""
    assert b"system" in base64.b64decode(TEXTS["mark"].partition(":")[2].rstrip(">"))
