"""What json makes of each token for each type; strict, lenient, and by both of Flink's parsers."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.formats.contract import Decoded
from rowkind.formats.json.cells import JsonReading
from rowkind.formats.json.decode import JsonDecoder
from rowkind.formats.temporal import TimestampStandard
from rowkind.formats.ticks import ticks
from rowkind.types import DataType, Field
from tests.formats.suite import same

STREAMING, TREE = JsonReading(), JsonReading(streaming=False)
EXACT_TREE = JsonReading(streaming=False, exact_reals=True)
LENIENT = JsonReading(ignore_errors=True)
COMPLETE = JsonReading(fail_on_missing=True)
ISO = JsonReading(standard=TimestampStandard.ISO_8601)
MULTISET = DataType(t.Root.MULTISET, element=t.STRING)
MONTHS, SECONDS = DataType(t.Root.INTERVAL_YEAR_MONTH), DataType(t.Root.INTERVAL_DAY_TIME)
ROW = t.row(("x", t.INT), ("y", t.STRING))


class Bad:
    """Stands for a value that cannot be read."""

    def __repr__(self) -> str:
        return "bad"


BAD = Bad()


def decode(columns: tuple[Field, ...], reading: JsonReading, *payloads: bytes | None) -> Decoded:
    """The messages alone, and again among many good ones, where the fast path is at work: the same must come out."""
    alone = JsonDecoder(columns, reading).decode(pa.array(payloads, pa.binary()))
    filler = [b"{" + b",".join(json.dumps(c.name).encode() + b":null" for c in columns) + b"}"] * 150
    together = JsonDecoder(columns, reading).decode(pa.array([*payloads, *filler], pa.binary()))
    assert same(together.rows.slice(0, alone.rows.num_rows), alone.rows)
    assert together.bad == alone.bad
    assert together.ignored == alone.ignored
    return alone


def value(type: DataType, token: str, reading: JsonReading = STREAMING) -> Any:
    decoded = decode((Field("v", type),), reading, f'{{"v":{token}}}'.encode())
    if decoded.bad:
        assert decoded.rows.num_rows == 0
        return BAD
    return ticks(decoded.rows.column(0), type)[0]


@pytest.mark.parametrize("reading", [STREAMING, TREE], ids=["streaming", "tree"])
@pytest.mark.parametrize(
    ("type", "token", "wanted"),
    [
        (t.STRING, '"a"', "a"),
        (t.STRING, "1", "1"),
        (t.STRING, "true", "true"),
        (t.STRING, "null", None),
        (t.STRING, '{"a" : [1, 2.50], "b":null}', '{"a":[1,2.5],"b":null}'),
        (t.STRING, '{"a":1,"b":2,"a":"\\u001f/😀"}', '{"a":"\\u001F/😀","b":2}'),
        (t.STRING, "[ ]", "[]"),
        (t.STRING, '"\\ud83d\\ude00\\n\\/"', "😀\n/"),
        (t.STRING, '"\\ud83d!"', "?!"),
        (t.STRING, '"\x01\x1f"', "\x01\x1f"),
        (DataType(t.Root.CHAR, length=2), '"longer"', "longer"),
        (t.BOOLEAN, "true", True),
        (t.BOOLEAN, "false", False),
        (t.BOOLEAN, '"TRUE"', True),
        (t.BOOLEAN, '" true "', True),
        (t.BOOLEAN, '"yes"', False),
        (t.BOOLEAN, '"abc"', False),
        (t.BOOLEAN, "1", False),
        (t.BOOLEAN, "{}", False),
        (t.BYTES, json.dumps(base64.b64encode(b"abc").decode()), b"abc"),
        (t.BYTES, '""', b""),
        (t.BYTES, '"YQ=="', b"a"),
        (t.BYTES, '"YQ"', BAD),
        (t.BYTES, '"Y!=="', BAD),
        (t.BYTES, "1", BAD),
        (t.TINYINT, "127", 127),
        (t.TINYINT, "128", BAD),
        (t.TINYINT, '" -128 "', -128),
        (t.TINYINT, "1.5", BAD),
        (t.TINYINT, "1.0", BAD),
        (t.TINYINT, '"+5"', 5),
        (t.SMALLINT, "-32768", -32768),
        (t.SMALLINT, "32768", BAD),
        (t.SMALLINT, '"12"', 12),
        (t.SMALLINT, "1.5", BAD),
        (t.INT, "112.013", 112),
        (t.INT, "-112.999", -112),
        (t.INT, "1e3", 1000),
        (t.INT, "2147483647", 2147483647),
        (t.INT, "2147483648", BAD),
        (t.INT, "2147483647.5", BAD),
        (t.INT, '" 7 "', 7),
        (t.INT, '"7.5"', BAD),
        (t.INT, '"abc"', BAD),
        (t.INT, "true", BAD),
        (t.INT, "{}", BAD),
        (t.INT, "[1]", BAD),
        (t.INT, '""', BAD),
        (t.INT, '"1_000"', BAD),
        (t.BIGINT, "9223372036854775807", 2**63 - 1),
        (t.BIGINT, "9223372036854775808", BAD),
        (t.BIGINT, "1.9E10", 19_000_000_000),
        (t.BIGINT, '"-9223372036854775808"', -(2**63)),
        (t.FLOAT, "3.14", 3.140000104904175),
        (t.FLOAT, "1", 1.0),
        (t.FLOAT, '"1e40"', float("inf")),
        (t.FLOAT, '"abc"', BAD),
        (t.DOUBLE, "0.1", 0.1),
        (t.DOUBLE, "12345678901234567890", 1.2345678901234567e19),
        (t.DOUBLE, '" 1e3 "', 1000.0),
        (t.DOUBLE, '"Infinity"', float("inf")),
        (t.DOUBLE, '"-Infinity"', float("-inf")),
        (t.DOUBLE, '"1d"', 1.0),
        (t.DOUBLE, '"0x1p3"', 8.0),
        (t.DOUBLE, '"inf"', BAD),
        (t.DOUBLE, "true", BAD),
        (t.decimal(10, 2), "1.005", Decimal("1.01")),
        (t.decimal(10, 2), "-1.005", Decimal("-1.01")),
        (
            t.decimal(38, 18),
            "12345678901234567890.123456789012345678",
            Decimal("12345678901234567890.123456789012345678"),
        ),
        (t.decimal(5, 2), "1000", None),
        (t.decimal(5, 2), "999.995", None),
        (t.decimal(5, 2), "1e1000000", None),
        (t.decimal(5, 2), "1e-1000000", Decimal("0.00")),
        (t.decimal(5, 2), '"12.5"', Decimal("12.50")),
        (t.decimal(5, 2), '"NaN"', BAD),
        (t.decimal(5, 2), "false", BAD),
        (t.DATE, '"2020-12-30"', 18626),
        (t.DATE, "20191112", BAD),
        (t.DATE, '"20191112"', BAD),
        (t.DATE, '"2020-1-1"', BAD),
        (t.DATE, '"2021-02-29"', BAD),
        (t.DATE, '" 2020-12-30"', BAD),
        (t.DATE, '"+10000-01-01"', 2932897),
        (t.time(0), '"12:13:14"', 43_994_000_000_000),
        (t.time(0), '"12:13:14.1239"', 43_994_123_000_000),
        (t.time(0), '"12:13"', BAD),
        (t.time(0), '"24:00:00"', 0),
        (t.time(0), '"12:13:60"', BAD),
        (t.timestamp(3), '"2020-12-30 12:13:14"', 1_609_330_394_000_000),
        (t.timestamp(3), '"2020-12-30 12:13:14.123456789"', 1_609_330_394_123_456),
        (t.timestamp(3), '"2020-12-30 12:13:14.1234567891"', BAD),
        (t.timestamp(3), '"2020-12-30T12:13:14"', BAD),
        (t.timestamp(3), '"2020-12-30 12:13:14Z"', BAD),
        (t.timestamp(3), '"2020-12-30 12:13"', BAD),
        (t.timestamp(3), '"2021-02-30 00:00:00"', 1_614_470_400_000_000),
        (t.timestamp(3), '"2021-02-28 24:00:00"', 1_614_556_800_000_000),
        (t.timestamp(3), "1609330394000", BAD),
        (t.timestamp_ltz(3), '"2020-12-30 12:13:14.5Z"', 1_609_330_394_500_000),
        (t.timestamp_ltz(3), '"2020-12-30 12:13:14.5"', BAD),
        (t.timestamp_ltz(3), '"2020-12-30 12:13:14+08:00"', BAD),
        (MONTHS, "14", 14),
        (SECONDS, "1500", 1_500_000),
        (SECONDS, "9223372036854775807", BAD),
        (t.array(t.INT), "[1,null,3]", [1, None, 3]),
        (t.array(t.INT), '[1,"x"]', BAD),
        (t.array(t.INT), "5", BAD),
        (t.array(t.INT), "{}", BAD),
        (t.map_of(t.STRING, t.INT), '{"a":1,"b":null}', [("a", 1), ("b", None)]),
        (t.map_of(t.STRING, t.INT), '{"a":1,"a":2}', [("a", 2)]),
        (t.map_of(t.STRING, t.INT), "[1]", BAD),
        (MULTISET, '{"a":2}', [("a", 2)]),
        (ROW, '{"x":1,"z":[1]}', (1, None)),
        (ROW, '{"x":"no"}', BAD),
        (ROW, "5", BAD),
        (t.NULL, "5", None),
    ],
    ids=str,
)
def test_values(type: DataType, token: str, wanted: Any, reading: JsonReading) -> None:
    assert value(type, token, reading) == wanted


def test_nan() -> None:
    assert str(value(t.DOUBLE, '"NaN"')) == "nan"
    assert str(value(t.FLOAT, '"NaN"')) == "nan"


@pytest.mark.parametrize(
    ("type", "token", "wanted"),
    [
        (t.timestamp(3), '"2020-12-30T12:13:14.5"', 1_609_330_394_500_000),
        (t.timestamp(3), '"2020-12-30T12:13"', 1_609_330_380_000_000),
        (t.timestamp(3), '"2020-12-30 12:13:14"', BAD),
        (t.timestamp(3), '"2021-02-30T00:00:00"', BAD),
        (t.timestamp(3), '"2021-02-28T24:00:00"', BAD),
        (t.timestamp(3), '"2020-12-30T12:13:14Z"', BAD),
        (t.timestamp_ltz(3), '"2020-12-30T12:13:14Z"', 1_609_330_394_000_000),
        (t.timestamp_ltz(3), '"2020-12-30T12:13Z"', 1_609_330_380_000_000),
        (t.timestamp_ltz(3), '"2020-12-30T12:13:14"', BAD),
        (t.timestamp_ltz(3), '"2020-12-30T12:13:14+0800"', BAD),
    ],
    ids=str,
)
def test_iso_timestamps(type: DataType, token: str, wanted: Any) -> None:
    assert value(type, token, ISO) == wanted


@pytest.mark.parametrize(
    ("type", "token", "wanted"),
    [
        (t.INT, '"abc"', None),
        (t.TINYINT, "1000", None),
        (t.BOOLEAN, '"abc"', False),
        (t.array(t.INT), '[123,"abc"]', [123, None]),
        (t.array(t.INT), '"abc"', None),
        (t.map_of(t.STRING, t.INT), '{"a":"x","b":1}', [("a", None), ("b", 1)]),
        (ROW, '{"x":"no","y":"b"}', (None, "b")),
        (ROW, "5", None),
        (t.timestamp(3), '"soon"', None),
    ],
    ids=str,
)
def test_ignored_at_the_smallest_level(type: DataType, token: str, wanted: Any) -> None:
    assert value(type, token, LENIENT) == wanted


def test_object_where_a_number_is_expected_does_not_disturb_its_neighbours() -> None:
    columns = (Field("a", t.INT), Field("b", t.INT))
    decoded = decode(columns, LENIENT, b'{"a":{"b":5},"b":2}')
    assert decoded.rows.to_pylist() == [{"a": None, "b": 2}]
    assert decoded.ignored == 1


@pytest.mark.parametrize(
    ("token", "streaming", "tree", "exact_tree"),
    [
        ("1.0E5", "1.0E5", "100000.0", "1E+5"),
        ("1.50", "1.50", "1.5", "1.5"),
        ("1e400", "1e400", "Infinity", "1E+400"),
        ("-0", "-0", "0", "0"),
        ("12345678901234567890123", *["12345678901234567890123"] * 3),
        ('{"a":1.0E5}', '{"a":100000.0}', '{"a":100000.0}', '{"a":1E+5}'),
    ],
)
def test_numbers_read_into_strings(token: str, streaming: str, tree: str, exact_tree: str) -> None:
    assert value(t.STRING, token, STREAMING) == streaming
    assert value(t.STRING, token, TREE) == tree
    assert value(t.STRING, token, EXACT_TREE) == exact_tree


@pytest.mark.parametrize("type", [t.FLOAT, t.DOUBLE], ids=str)
def test_minus_zero(type: DataType) -> None:
    for token, *wanted in (("-0", "-0.0", "0.0", "0.0"), ("-0.0", "-0.0", "-0.0", "0.0"), ("0", "0.0", "0.0", "0.0")):
        assert [str(value(type, token, reading)) for reading in (STREAMING, TREE, EXACT_TREE)] == wanted


def test_float_is_rounded_once_from_the_text_by_the_streaming_parser() -> None:
    assert value(t.FLOAT, "16777217.0000000001", STREAMING) == 16777218.0
    assert value(t.FLOAT, "16777217.0000000001", TREE) == 16777216.0


ID_NAME = (Field("id", t.INT), Field("name", t.STRING))


def rows(decoded: Decoded) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in decoded.rows.to_pylist()]


@pytest.mark.parametrize(
    ("payload", "streaming", "tree"),
    [
        (b'{"id":1,"id":2}', [(2, None)], [(2, None)]),
        (b'{"id":1,"id":2,"name":"a"}', [(2, None)], [(2, "a")]),
        (b'{"id":1,"name":"a","id":2}', [(1, "a")], [(2, "a")]),
        (b'{"x":1,"x":2,"id":3,"name":"a"}', [(3, "a")], [(3, "a")]),
        (b'{"id":1,"\\u0069d":2}', [(2, None)], [(2, None)]),
    ],
)
def test_duplicate_keys(payload: bytes, streaming: list[Any], tree: list[Any]) -> None:
    assert rows(decode(ID_NAME, STREAMING, payload)) == streaming
    assert rows(decode(ID_NAME, TREE, payload)) == tree


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [
        (None, []),
        (b"", []),
        (b"[]", []),
        (b'[{"id":1},{"id":2,"name":"b"}]', [(1, None), (2, "b")]),
        (b"{}", [(None, None)]),
        (b'{"ID":1,"Name":"x"}', [(None, None)]),
        (b'{"id":1} trailing text', [(1, None)]),
        (b'{"id":1}{"id":2}', [(1, None)]),
        (b' \t\r\n{ "id" : 1 , "name" : "a" }\n', [(1, "a")]),
        (b'\xef\xbb\xbf{"id":1}', [(1, None)]),
        ('{"id":1,"name":"é"}'.encode("utf-16"), [(1, "é")]),
        (b'{"id":1,"x":' + b"[" * 999 + b"]" * 999 + b"}", [(1, None)]),
        (b'{"id":1,"x":' + b"1" * 1000 + b"}", [(1, None)]),
        (b'{"id":1,"x":"' + b"[" * 2000 + b'"}', [(1, None)]),
    ],
)
@pytest.mark.parametrize("reading", [STREAMING, TREE], ids=["streaming", "tree"])
def test_messages(payload: bytes | None, wanted: list[Any], reading: JsonReading) -> None:
    decoded = decode(ID_NAME, reading, payload)
    assert rows(decoded) == wanted
    assert not decoded.bad


@pytest.mark.parametrize(
    "payload",
    [
        b"{",
        b'{"id":1',
        b'{"id":1,}',
        b'{"id":1,"x":[1,]}',
        b'{"id":01}',
        b'{"id":+1}',
        b'{"id":.5}',
        b'{"id":1.}',
        b'{"id":1,"x":NaN}',
        b'{"id":1,"x":-Infinity}',
        b"{'id':1}",
        b'{"id":1 /* c */}',
        b"// c\n{}",
        b"{id:1}",
        b'{"id":1 "name":2}',
        b'{"id":tru}',
        b"5",
        b'"text"',
        b"true",
        b"[5]",
        b'[{"id":1},null]',
        b'[{"id":1},',
        b'{"name":"\xff"}',
        b'{"name":"\\x"}',
        b'{"id":1,"x":' + b"[" * 1000 + b"]" * 1000 + b"}",
        b'{"id":1,"x":' + b"1" * 1001 + b"}",
        b'{"id":1,"x":0.' + b"1" * 1000 + b"}",
    ],
)
@pytest.mark.parametrize("streaming", [True, False])
def test_unreadable_messages(payload: bytes, streaming: bool) -> None:
    good = b'{"id":7}'
    strict = decode(ID_NAME, JsonReading(streaming=streaming), good, payload, good)
    assert [b.index for b in strict.bad] == [1]
    assert strict.bad[0].reason
    assert strict.message is not None
    assert strict.message.to_pylist() == [0, 2]
    lenient = decode(ID_NAME, JsonReading(streaming=streaming, ignore_errors=True), good, payload, good)
    assert not lenient.bad
    assert lenient.ignored == 1
    one_left = payload == b'[{"id":1},null]'
    assert [row["id"] for row in lenient.rows.to_pylist()] == ([7, 1, 7] if one_left else [7, 7])


@pytest.mark.parametrize("payload", [b"null", b"  \n "])
def test_null_and_blank_messages(payload: bytes) -> None:
    assert decode(ID_NAME, STREAMING, payload).bad
    assert decode(ID_NAME, JsonReading(ignore_errors=True), payload).ignored == 1
    tree = decode(ID_NAME, TREE, payload)
    assert not tree.bad
    assert rows(tree) == []


def test_missing_fields_at_any_level() -> None:
    columns = (Field("id", t.INT), Field("r", ROW))
    assert rows(decode(columns, COMPLETE, b'{"id":null,"r":{"x":null,"y":null}}')) == [(None, {"x": None, "y": None})]
    assert rows(decode(columns, COMPLETE, b'{"id":1,"r":null}')) == [(1, None)]
    for payload in (b"{}", b'{"id":1}', b'{"id":1,"r":{"x":1}}'):
        decoded = decode(columns, COMPLETE, payload)
        assert "missing" in decoded.bad[0].reason


def test_reasons_name_the_field() -> None:
    decoded = decode((Field("r", ROW),), STREAMING, b'{"r":{"x":"no"}}')
    assert decoded.bad[0].reason.startswith("field 'r': field 'x':")


def test_names_that_differ_in_case_only() -> None:
    columns = (Field("id", t.INT), Field("ID", t.STRING), Field("Id", t.BOOLEAN))
    many = JsonDecoder(columns, STREAMING).decode(pa.array([b'{"Id":true,"ID":"a","id":1}'] * 150, pa.binary()))
    assert set(rows(many)) == {(1, "a", True)}


def test_not_null_columns_take_nulls() -> None:
    columns = (Field("id", t.INT.not_null()), Field("l", t.array(t.INT.not_null()).not_null()))
    decoded = decode(columns, STREAMING, b'{"id":null,"l":[null]}', b"{}")
    assert rows(decoded) == [(None, [None]), (None, None)]


def test_one_odd_row_does_not_take_the_others_along(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = JsonDecoder(ID_NAME, STREAMING)
    payloads: list[Any] = [f'{{"id":{i},"name":"n"}}'.encode() for i in range(1000)]
    payloads[500] = b'{"id":"x"}'
    payloads[501] = b'{"id":1.5,"name":1.0E5}'
    payloads[502] = b"\xff"
    seen: list[int] = []
    read = decoder._exact.read
    monkeypatch.setattr(decoder._exact, "read", lambda p, i: read(p, seen.extend(i) or list(seen)))
    decoded = decoder.decode(pa.array(payloads, pa.binary()))
    assert seen == [500, 501, 502]
    assert [b.index for b in decoded.bad] == [500, 502]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [i for i in range(1000) if i not in (500, 502)]
    assert decoded.rows.to_pylist()[500] == {"id": 1, "name": "1.0E5"}
