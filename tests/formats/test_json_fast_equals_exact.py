"""The fast path says what the exact path says, or leaves the row to it: random schemas, adversarial documents."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.formats.json.cells import JsonReading
from rowkind.formats.json.decode import ExactReader
from rowkind.formats.json.fast_decode import FastReader
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.temporal import TimestampStandard
from rowkind.types import DataType, Field
from tests.formats.suite import damaged, same

SCALARS = [
    t.BOOLEAN, t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.decimal(5, 2), t.decimal(38, 18),
    t.decimal(3, 3), t.decimal(18, 0), t.decimal(20, 16), t.STRING, t.BYTES, t.DATE, t.time(3), t.timestamp(3),
    t.timestamp_ltz(6), DataType(t.Root.INTERVAL_YEAR_MONTH), DataType(t.Root.INTERVAL_DAY_TIME), t.NULL,
]  # fmt: skip
NAMES = ["a", "A", "b", "é", 'q"uote', "with space", "$.x", "a.b", "'", "😀"]
NUMBERS = [
    "0", "-0", "-0.0", "0.0", "1", "-1", "127", "128", "-129", "32768", "2147483647", "2147483648", "112.9", "112.0",
    "1.0E5", "1e5", "1E-7", "1e400", "-1e400", "9223372036854775807", "9223372036854775808", "18446744073709551616",
    "9.223372036854775807E18", "16777217.0000000000000001", "16777217", "0.1", "0.10", "1.005", "0.145", "0.005",
    "0.14999999999999999999", "999.99", "999.995", "1000", "12345678901234567890.123456789012345678", "1e-400",
    "5e-324", "1.401298464324817e-45", "3.4028235677973366e38", "3.5e38", "0.000001", "0.0000001", "01", "+1", ".5",
    "5.", "1_000", "0x10", "NaN", "nan", "-Infinity", "inf", "Inf", "1" * 1001, "0." + "3" * 1000, "123456789012345.5",
    "12345678901234.125", "1e15", "-5", "99999999999999999999999999999999999999.5",
]  # fmt: skip
TEXTS = [
    "", "true", "TRUE", " true ", "yes", "1", " 12 ", "+7", "-0", "007", "1.5", "1e3", "NaN", "Infinity", "0x1p3", "1d",
    "12.50", "YWJj", "YQ==", "YQ", "YW Jj", "YQ==YQ==",
    "2020-12-30", "2020-02-30", "20201230", "2020-1-1", "0000-01-01",
    "+12020-12-30", "2020-12-30 12:13:14", "2020-12-30 12:13:14.", "2020-12-30 12:13:14.1",
    "2020-12-30 12:13:14.123456789",
    "2020-12-30 12:13:14.1234567891", "2020-12-30T12:13:14", "2020-12-30T12:13", "2020-12-30t12:13:14",
    "2020-12-30 12:13:14Z", "2020-12-30 12:13:14.123Z", "2020-12-30T12:13:14.12Z", "2021-02-30 00:00:00",
    "2020-12-30 24:00:00", "2020-12-30 23:59:60", "2020-12-30 12:13:14+08:00", "12:13:14", "12:13:14.1239", "24:00:00",
    "12:13", "٣", "１２", "ein \"Wort\"", "tab\t", "nul\x00", "\u2028", "日本", "😀", ",}", ": NaN", "[1,]", "-0,",
    "\\", "/", "\x7f", "null",
]  # fmt: skip


def types() -> st.SearchStrategy[DataType]:
    return st.recursive(
        st.sampled_from(SCALARS),
        lambda inner: st.one_of(
            inner.map(t.array), inner.map(lambda v: t.map_of(t.STRING, v)), fields(inner).map(lambda f: t.row(*f))
        ),
        max_leaves=3,
    )


def fields(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[tuple[Field, ...]]:
    named = st.tuples(st.sampled_from(NAMES), inner)
    return st.lists(named, min_size=1, max_size=4, unique_by=lambda f: f[0]).map(
        lambda all: tuple(Field(name, type) for name, type in all)
    )


@st.composite
def string(draw: st.DrawFn, text: st.SearchStrategy[str]) -> str:
    """A string token, with some characters escaped that need not be, or control characters left as they are."""
    value = draw(text)
    token = json.dumps(value, ensure_ascii=draw(st.booleans()))
    match draw(st.integers(0, 9)):
        case 0:
            return '"' + "".join(f"\\u{ord(c):04x}" if c <= "\uffff" else c for c in value) + '"'
        case 1:
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case 2:
            return token[:-1] + '\\ud83d"'
        case 3:
            return token.replace("/", "\\/")
        case _:
            return token


@st.composite
def scalar(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 9))
    if kind <= 2:
        return draw(st.sampled_from(NUMBERS))
    if kind == 3:
        return draw(
            st.one_of(
                st.integers(-(2**65), 2**65).map(str),
                st.floats(allow_nan=False, allow_infinity=False).map(repr),
                st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
                st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda f: str(Decimal(f))),
            )
        )
    if kind <= 7:
        return draw(string(st.sampled_from(TEXTS) | st.text(max_size=5)))
    return draw(st.sampled_from(["true", "false", "null", "null", "{}", "[]", "{'a':1}", "tru", '{"a":1}', "[1,]"]))


@st.composite
def fitting(draw: st.DrawFn, type: DataType) -> str:
    """A token that mostly fits the type, so that the fast path has something to take."""
    if draw(st.integers(0, 11)) == 0:
        return draw(scalar())
    match type.root:
        case t.Root.ARRAY:
            assert type.element
            return (
                "["
                + ",".join(draw(st.lists(fitting(type.element), max_size=3)))
                + draw(st.sampled_from(["]"] * 9 + [",]"]))
            )
        case t.Root.MAP:
            assert type.element
            members = st.tuples(string(st.sampled_from(["k", "l", "k\n", "😀"])), fitting(type.element))
            return "{" + ",".join(f"{k}:{v}" for k, v in draw(st.lists(members, max_size=3))) + "}"
        case t.Root.ROW:
            return draw(document(type.fields))
        case t.Root.VARCHAR:
            return draw(string(st.sampled_from(TEXTS)))
        case t.Root.DATE | t.Root.TIME | t.Root.TIMESTAMP | t.Root.TIMESTAMP_LTZ | t.Root.VARBINARY:
            return json.dumps(draw(st.sampled_from(TEXTS)))
        case t.Root.BOOLEAN:
            return draw(st.sampled_from(["true", "false", "null"]))
        case _:
            return draw(st.sampled_from(NUMBERS[:12]) | st.sampled_from(NUMBERS))


@st.composite
def document(draw: st.DrawFn, columns: tuple[Field, ...]) -> str:
    members = []
    for column in draw(st.permutations(columns)):
        if draw(st.integers(0, 9)):
            members.append((draw(string(st.just(column.name))), draw(fitting(column.type))))
    if draw(st.integers(0, 4)) == 0:
        members.append((draw(string(st.sampled_from([*NAMES, "extra"]))), draw(scalar())))
    blank = draw(st.sampled_from(["", "", "", " ", "\n", "\x0b"]))
    end = draw(st.sampled_from(["}"] * 12 + [",}", ", }", "} ", "}x", "}{}", ""]))
    return "{" + blank + f",{blank}".join(f"{k}:{blank}{v}" for k, v in members) + end


@st.composite
def payload(draw: st.DrawFn, columns: tuple[Field, ...]) -> bytes | None:
    kind = draw(st.integers(0, 24))
    body = draw(document(columns)).encode("utf-8", "surrogatepass")
    if kind == 0:
        return draw(st.sampled_from([None, b"", b" ", b"null", b"[]", b"5", b"\xef\xbb\xbf{}", b"{", b"\x00{\x00}"]))
    if kind == 1:
        return b"[" + body + b"]"
    if kind == 2:
        return draw(damaged(body))
    if kind == 3:
        encoding = draw(st.sampled_from(["utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"]))
        return body.decode(errors="replace").encode(encoding)
    return body


@st.composite
def case(draw: st.DrawFn) -> tuple[tuple[Field, ...], JsonReading, list[bytes | None]]:
    columns = draw(fields(types()))
    lenient = draw(st.booleans())
    reading = JsonReading(
        ignore_errors=lenient,
        fail_on_missing=not lenient and draw(st.booleans()),
        standard=draw(st.sampled_from(TimestampStandard)),
        streaming=draw(st.booleans()),
        exact_reals=draw(st.booleans()),
    )
    return columns, reading, draw(st.lists(payload(columns), min_size=1, max_size=12))


def check(columns: tuple[Field, ...], reading: JsonReading, payloads: list[bytes | None]) -> float:
    """Every row the fast path takes is what the exact path makes of that message. Returns the share it took."""
    messages, schema = pa.array(payloads, pa.binary()), decoded_schema(columns)
    fast = FastReader(columns, schema, reading, least=0).read(messages)
    assert sorted([*fast.message.tolist(), *fast.left.tolist()]) == list(range(len(payloads)))
    exact = ExactReader(columns, reading).read(messages, fast.message.tolist())
    assert not exact.bad
    assert exact.ignored == 0
    assert exact.message == fast.message.tolist()
    wanted = pa.RecordBatch.from_arrays(
        [pa.array([r[i] for r in exact.rows], f.type) for i, f in enumerate(schema)], schema=schema
    )
    fast.rows.validate(full=True)
    assert same(fast.rows, wanted) or fast.rows.to_pylist() == wanted.to_pylist(), (fast.rows, wanted)
    return fast.rows.num_rows / len(payloads)


@settings(max_examples=20)
@given(case())
def test_random_documents(case: tuple[tuple[Field, ...], JsonReading, list[bytes | None]]) -> None:
    columns, reading, payloads = case
    note(f"columns {', '.join(f'{c.name} {c.type}' for c in columns)}")
    check(columns, reading, payloads)


@pytest.mark.parametrize("type", [*SCALARS, t.array(t.DOUBLE), t.map_of(t.STRING, t.STRING)], ids=str)
@pytest.mark.parametrize("standard", TimestampStandard)
@pytest.mark.parametrize("streaming", [True, False])
def test_every_odd_token_in_every_type(type: DataType, standard: TimestampStandard, streaming: bool) -> None:
    tokens = [*NUMBERS, *map(json.dumps, TEXTS), "true", "false", "null", "{}", "[]", '{"x":1}', "[null]"]
    if type.root is t.Root.ARRAY:
        tokens = [f"[{token}]" for token in tokens]
    if type.root is t.Root.MAP:
        tokens = [f'{{"k":{token}}}' for token in tokens]
    payloads: list[Any] = [f'{{"v":{token}}}'.encode() for token in tokens]
    taken = check((Field("v", type),), JsonReading(standard=standard, streaming=streaming), payloads)
    assert taken > 0 or type.root is t.Root.NULL


@pytest.mark.parametrize("token", NUMBERS)
def test_odd_tokens_where_no_column_looks(token: str) -> None:
    payloads: list[Any] = [f'{{"v":1,"x":{inner}}}'.encode() for inner in (token, f"[{token}]", f'{{"y":{token}}}')]
    check((Field("v", t.INT),), JsonReading(), payloads)


@pytest.mark.parametrize("depth", [998, 999, 1000, 1001, 3000])
def test_depth_where_no_column_looks(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    check((Field("v", t.INT),), JsonReading(), [b'{"v":1,"x":' + deep + b"}", b'{"v":"' + deep + b'"}'])
    check((Field("v", t.STRING),), JsonReading(), [b'{"v":"' + deep + b'"}'])
