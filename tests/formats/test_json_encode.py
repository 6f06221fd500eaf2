"""What json writes, byte for byte; and that columns are written as single values are."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.json.encode import ExactEncoder, JsonEncoder
from rowkind.formats.json.exact_encode import JsonWriting, NullKeys, text_of
from rowkind.formats.temporal import TimestampStandard
from rowkind.types import DataType, Field
from tests.formats.suite import batch

ISO = JsonWriting(standard=TimestampStandard.ISO_8601)
PLAIN = JsonWriting(plain_decimals=True)
MULTISET = DataType(t.Root.MULTISET, element=t.STRING)


def written(type: DataType, value: Any, writing: JsonWriting = JsonWriting()) -> str:  # noqa: B008
    columns = (Field("v", type),)
    rows = batch(columns, [(value,)])
    payload = JsonEncoder(columns, writing).encode(rows)
    assert payload.equals(ExactEncoder(columns, writing).encode(rows))
    text = payload[0].as_py().decode()
    assert text.startswith('{"v":')
    return text[5:-1]


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (t.BOOLEAN, True, "true"),
        (t.BOOLEAN, False, "false"),
        (t.TINYINT, -128, "-128"),
        (t.SMALLINT, 32767, "32767"),
        (t.INT, -7, "-7"),
        (t.BIGINT, -(2**63), "-9223372036854775808"),
        (t.FLOAT, 3.140000104904175, "3.14"),
        (t.FLOAT, 0.3333333432674408, "0.33333334"),
        (t.FLOAT, 1e10, "1.0E10"),
        (t.FLOAT, float("nan"), '"NaN"'),
        (t.DOUBLE, 1.0, "1.0"),
        (t.DOUBLE, 0.0, "0.0"),
        (t.DOUBLE, -0.0, "-0.0"),
        (t.DOUBLE, 0.001, "0.001"),
        (t.DOUBLE, 0.00099, "9.9E-4"),
        (t.DOUBLE, 1234567.0, "1234567.0"),
        (t.DOUBLE, 9999999.999, "9999999.999"),
        (t.DOUBLE, 1e7, "1.0E7"),
        (t.DOUBLE, 1e10, "1.0E10"),
        (t.DOUBLE, 1e-5, "1.0E-5"),
        (t.DOUBLE, 1.7976931348623157e308, "1.7976931348623157E308"),
        (t.DOUBLE, 5e-324, "4.9E-324"),
        (t.DOUBLE, 2e23, "2.0E23"),
        (t.DOUBLE, float("inf"), '"Infinity"'),
        (t.DOUBLE, float("-inf"), '"-Infinity"'),
        (t.decimal(10, 3), Decimal("100000.000"), "1E+5"),
        (t.decimal(10, 3), Decimal("1.500"), "1.5"),
        (t.decimal(10, 3), Decimal("0.000"), "0"),
        (t.decimal(10, 3), Decimal("-120.000"), "-1.2E+2"),
        (t.decimal(10, 9), Decimal("2.7E-8"), "2.7E-8"),
        (t.decimal(10, 9), Decimal("0E-9"), "0"),
        (t.decimal(5, 0), Decimal(12345), "12345"),
        (t.decimal(5, 0), Decimal(10), "1E+1"),
        (t.STRING, "a", '"a"'),
        (t.STRING, "", '""'),
        (t.STRING, '"\\/', '"\\"\\\\/"'),
        (t.STRING, "\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        (t.STRING, "\x00\x1f\x7f", '"\\u0000\\u001F\x7f"'),
        (t.STRING, "é\u2028日", '"é\u2028日"'),
        (t.STRING, "a😀b", '"a\\uD83D\\uDE00b"'),
        (t.BYTES, b"\xfb\xff\xfe", '"+//+"'),
        (t.BYTES, b"a" * 100, '"' + "YWFh" * 33 + 'YQ=="'),
        (t.DATE, 18626, '"2020-12-30"'),
        (t.DATE, 2932897, '"+10000-01-01"'),
        (t.DATE, -719529, '"-0001-12-31"'),
        (t.DATE, -719528, '"0000-01-01"'),
        (t.time(0), 43_994_000_000_000, '"12:13:14"'),
        (t.time(3), 43_994_120_000_000, '"12:13:14.12"'),
        (t.time(9), 43_994_123_456_789, '"12:13:14.123"'),
        (t.timestamp(3), 1_609_330_394_123_000, '"2020-12-30 12:13:14.123"'),
        (t.timestamp(3), 1_609_330_394_120_000, '"2020-12-30 12:13:14.12"'),
        (t.timestamp(3), 1_609_330_394_000_000, '"2020-12-30 12:13:14"'),
        (t.timestamp(3), 1_609_330_394_123_456, '"2020-12-30 12:13:14.123456"'),
        (t.timestamp(3), 1_609_286_400_000_000, '"2020-12-30 00:00:00"'),
        (t.timestamp(3), -1, '"1969-12-31 23:59:59.999999"'),
        (t.timestamp(3), 253_402_300_800_000_000, '"+10000-01-01 00:00:00"'),
        (t.timestamp_ltz(3), 1_609_330_394_123_000, '"2020-12-30 12:13:14.123Z"'),
        (DataType(t.Root.INTERVAL_YEAR_MONTH), 14, "14"),
        (DataType(t.Root.INTERVAL_DAY_TIME), 1_500_000, "1500"),
        (t.array(t.INT), [1, None, 3], "[1,null,3]"),
        (t.array(t.INT), [], "[]"),
        (t.array(t.STRING), ["a", None], '["a",null]'),
        (t.map_of(t.STRING, t.INT), [("k", 1), ('q"', None)], '{"k":1,"q\\"":null}'),
        (t.map_of(t.STRING, t.INT), [], "{}"),
        (MULTISET, [("x", 2)], '{"x":2}'),
        (t.row(("x", t.INT), ("y", t.STRING)), {"x": None, "y": "b"}, '{"x":null,"y":"b"}'),
        (t.NULL, None, "null"),
        *((type, None, "null") for type in (t.INT, t.STRING, t.timestamp(3), t.array(t.INT), t.row(("x", t.INT)))),
    ],
    ids=str,
)
def test_values(type: DataType, value: Any, text: str) -> None:
    assert written(type, value) == text


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (t.timestamp(3), 1_609_330_394_120_000, '"2020-12-30T12:13:14.12"'),
        (t.timestamp_ltz(3), 1_609_330_394_000_000, '"2020-12-30T12:13:14Z"'),
        (t.timestamp_ltz(3), -62_167_219_200_000_001, '"-0001-12-31T23:59:59.999999Z"'),
    ],
    ids=str,
)
def test_iso_timestamps(type: DataType, value: Any, text: str) -> None:
    assert written(type, value, ISO) == text


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (t.decimal(10, 3), Decimal("100000.000"), "100000.000"),
        (t.decimal(10, 2), Decimal("1.5"), "1.50"),
        (t.decimal(10, 9), Decimal("2.7E-8"), "0.000000027"),
        (t.decimal(10, 9), Decimal(0), "0.000000000"),
    ],
    ids=str,
)
def test_plain_decimals(type: DataType, value: Any, text: str) -> None:
    assert written(type, value, PLAIN) == text


def test_fields_in_order_with_exact_names() -> None:
    columns = (Field('Na"me', t.INT), Field("id", t.INT), Field("ID", t.STRING))
    rows = batch(columns, [(1, 2, "x"), (None, None, None)])
    assert JsonEncoder(columns, JsonWriting()).encode(rows).to_pylist() == [
        b'{"Na\\"me":1,"id":2,"ID":"x"}',
        b'{"Na\\"me":null,"id":null,"ID":null}',
    ]


def test_null_fields_left_out_at_all_levels_of_rows_only() -> None:
    columns = (
        Field("a", t.INT),
        Field("r", t.row(("x", t.INT), ("y", t.STRING))),
        Field("l", t.array(t.INT)),
        Field("m", t.map_of(t.STRING, t.INT)),
    )
    rows = batch(columns, [(None, {"x": None, "y": "b"}, [None, 1], [("k", None)]), (None, None, None, None)])
    writing = JsonWriting(ignore_nulls=True)
    assert JsonEncoder(columns, writing).encode(rows).to_pylist() == [
        b'{"r":{"y":"b"},"l":[null,1],"m":{"k":null}}',
        b"{}",
    ]


@pytest.mark.parametrize(
    ("mode", "entries", "text"),
    [
        (NullKeys.DROP, [(None, 1), ("a", 2)], '{"a":2}'),
        (NullKeys.LITERAL, [(None, 1), ("a", 2)], '{"null key":1,"a":2}'),
        (NullKeys.LITERAL, [(None, 1), ("b", 3), ("null key", 2)], '{"null key":2,"b":3}'),
    ],
)
def test_null_keys_which_arrow_itself_never_holds(
    mode: NullKeys, entries: list[tuple[str | None, int]], text: str
) -> None:
    writing = JsonWriting(null_keys=mode, null_literal="null key")
    assert text_of(t.map_of(t.STRING, t.INT), writing)(entries) == text


def test_null_key_fails() -> None:
    with pytest.raises(RowkindError) as error:
        text_of(t.map_of(t.STRING, t.INT), JsonWriting())([(None, 1)])
    assert error.value.condition == "JSON_MAP_NULL_KEY"


SMALL = st.integers(-1000, 1000)
VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    t.BOOLEAN: st.booleans(),
    t.TINYINT: st.integers(-128, 127),
    t.BIGINT: st.integers(-(2**63), 2**63 - 1),
    t.FLOAT: st.floats(width=32),
    t.DOUBLE: st.floats() | st.floats(1e-4, 1e8) | st.integers(-20_000_000, 20_000_000).map(float),
    t.decimal(20, 4): st.decimals(-(10**15), 10**15, places=4) | SMALL.map(lambda i: Decimal(i * 10)),
    t.decimal(38, 30): st.decimals(-(10**7), 10**7, places=30) | SMALL.map(lambda i: Decimal(i).scaleb(-30)),
    t.decimal(10, 0): st.integers(-(10**9), 10**9).map(Decimal),
    t.STRING: st.text(max_size=10),
    t.BYTES: st.binary(max_size=10),
    t.DATE: st.integers(-3_000_000, 4_000_000),
    t.time(9): st.integers(0, 86_399_999_999_999),
    t.timestamp(6): st.integers(-(2**59), 2**59) | st.integers(0, 2 * 10**9).map(lambda s: s * 1_000_000),
    t.timestamp_ltz(3): st.integers(-(2**59), 2**59) | st.integers(0, 2 * 10**12).map(lambda s: s * 1000),
    DataType(t.Root.INTERVAL_DAY_TIME): st.integers(-(2**62), 2**62),
    DataType(t.Root.INTERVAL_YEAR_MONTH): st.integers(-(2**31), 2**31 - 1),
    t.NULL: st.none(),
}  # fmt: skip


def values_of(type: DataType) -> st.SearchStrategy[Any]:
    match type.root:
        case t.Root.ARRAY:
            assert type.element
            values: st.SearchStrategy[Any] = st.lists(values_of(type.element), max_size=3)
        case t.Root.MAP:
            assert type.element
            values = st.lists(st.tuples(st.text(max_size=2), values_of(type.element)), max_size=3)
        case t.Root.ROW:
            values = st.fixed_dictionaries({f.name: values_of(f.type) for f in type.fields})
        case _:
            values = VALUES[type]
    return st.none() | values | values


TYPES = st.recursive(
    st.sampled_from(list(VALUES)),
    lambda inner: st.one_of(
        inner.map(t.array),
        inner.map(lambda v: t.map_of(t.STRING, v)),
        st.tuples(inner, inner).map(lambda p: t.row(("x", p[0]), ('y"', p[1]))),
    ),
    max_leaves=4,
)


@st.composite
def case(draw: st.DrawFn) -> tuple[tuple[Field, ...], JsonWriting, pa.RecordBatch]:
    columns = tuple(Field(f"f{i}", type) for i, type in enumerate(draw(st.lists(TYPES, min_size=1, max_size=3))))
    rows = draw(st.lists(st.tuples(*(values_of(c.type) for c in columns)), max_size=8))
    writing = JsonWriting(
        draw(st.sampled_from(TimestampStandard)),
        plain_decimals=draw(st.booleans()),
        ignore_nulls=draw(st.booleans()),
    )
    whole = batch(columns, rows)
    start = draw(st.integers(0, len(rows)))
    return columns, writing, whole.slice(start, draw(st.integers(0, len(rows) - start)))


@settings(max_examples=40)
@given(case())
def test_columns_are_written_as_single_values_are(case: tuple[tuple[Field, ...], JsonWriting, pa.RecordBatch]) -> None:
    columns, writing, rows = case
    assert (
        JsonEncoder(columns, writing).encode(rows).to_pylist()
        == ExactEncoder(columns, writing).encode(rows).to_pylist()
    )


def test_lists_of_nothing_but_null_inside_maps() -> None:
    columns = (Field("m", t.map_of(t.STRING, t.array(t.NULL))),)
    rows = batch(columns, [([("k", [None, None, None])],), (None,)])
    written = [b'{"m":{"k":[null,null,null]}}', b'{"m":null}']
    assert JsonEncoder(columns, JsonWriting()).encode(rows).to_pylist() == written
    assert ExactEncoder(columns, JsonWriting()).encode(rows).to_pylist() == written
