from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.sql import parse_type
from rowkind.types import MAX_LENGTH, DataType, Root

MONTHS, SECONDS = DataType(Root.INTERVAL_YEAR_MONTH), DataType(Root.INTERVAL_DAY_TIME)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("char", DataType(Root.CHAR, length=1)),
        ("CHAR(5)", DataType(Root.CHAR, length=5)),
        ("VARCHAR(5)", DataType(Root.VARCHAR, length=5)),
        ("VARCHAR", t.STRING),
        ("STRING", t.STRING),
        ("BOOLEAN", t.BOOLEAN),
        ("BINARY", DataType(Root.BINARY, length=1)),
        ("VARBINARY(3)", DataType(Root.VARBINARY, length=3)),
        ("VARBINARY(2147483647)", DataType(Root.VARBINARY, length=MAX_LENGTH)),
        ("BYTES", t.BYTES),
        ("DECIMAL", t.decimal(10, 0)),
        ("DEC(5)", t.decimal(5, 0)),
        ("NUMERIC(38, 18)", t.decimal(38, 18)),
        ("TINYINT", t.TINYINT),
        ("SMALLINT", t.SMALLINT),
        ("INT", t.INT),
        ("INTEGER", t.INT),
        ("BIGINT", t.BIGINT),
        ("FLOAT", t.FLOAT),
        ("DOUBLE", t.DOUBLE),
        ("DOUBLE PRECISION", t.DOUBLE),
        ("DATE", t.DATE),
        ("TIME", t.time(0)),
        ("TIME(3) WITHOUT TIME ZONE", t.time(3)),
        ("TIMESTAMP", t.timestamp(6)),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", t.timestamp(3)),
        ("TIMESTAMP_LTZ", t.timestamp_ltz(6)),
        ("TIMESTAMP_LTZ(0)", t.timestamp_ltz(0)),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", t.timestamp_ltz(3)),
        ("INTERVAL YEAR(2) TO MONTH", MONTHS),
        ("INTERVAL MONTH", MONTHS),
        ("INTERVAL DAY(3) TO SECOND(6)", SECONDS),
        ("INTERVAL SECOND", SECONDS),
        ("ARRAY<INT NOT NULL> NOT NULL", t.array(t.INT.not_null()).not_null()),
        ("INT NOT NULL ARRAY ARRAY NOT NULL", t.array(t.array(t.INT.not_null())).not_null()),
        ("MULTISET<STRING>", DataType(Root.MULTISET, element=t.STRING)),
        ("STRING MULTISET", DataType(Root.MULTISET, element=t.STRING)),
        ("MAP<STRING, ARRAY<INT>>", t.map_of(t.STRING, t.array(t.INT))),
        ("ROW<a INT, `b c` STRING NOT NULL 'why'>", t.row(("a", t.INT), t.Field("b c", t.STRING.not_null(), "why"))),
        ("ROW(value INT, timestamp ROW<x INT>)", t.row(("value", t.INT), ("timestamp", t.row(("x", t.INT))))),
        ("INT NULL", t.INT),
    ],
)
def test_every_type(text: str, expected: DataType) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("TIMESTAMP(9)", "TYPE_TOO_PRECISE"),
        ("TIMESTAMP_LTZ(7)", "TYPE_TOO_PRECISE"),
        ("TIME(9)", "TYPE_TOO_PRECISE"),
        ("TIMESTAMP(3) WITH TIME ZONE", "TYPE_NOT_SUPPORTED"),
        ("TIME WITH TIME ZONE", "TYPE_NOT_SUPPORTED"),
        ("RAW('java.lang.Object', 'x')", "TYPE_NOT_SUPPORTED"),
        ("VARIANT", "TYPE_NOT_SUPPORTED"),
        ("DESCRIPTOR", "TYPE_NOT_SUPPORTED"),
        ("ARRAY<VARIANT>", "TYPE_NOT_SUPPORTED"),
        ("STRUCTURED<'a.B', x INT>", "TYPE_NOT_SUPPORTED"),
        ("BIGINTT", "UNKNOWN_TYPE"),
        ("`my`.`type`", "UNKNOWN_TYPE"),
        ("DECIMAL(39)", "TYPE_OUT_OF_RANGE"),
        ("DECIMAL(5, 6)", "TYPE_OUT_OF_RANGE"),
        ("CHAR(0)", "TYPE_OUT_OF_RANGE"),
        ("ROW<a INT, a STRING>", "DUPLICATE_COLUMN"),
        ("INTERVAL YEAR TO SECOND", "SQL_SYNTAX"),
        ("ARRAY<INT", "SQL_SYNTAX"),
        ("INT INT", "SQL_SYNTAX"),
        ("", "SQL_SYNTAX"),
        ("'x'", "SQL_SYNTAX"),
    ],
)
def test_refused_types(text: str, condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        parse_type(text)
    assert caught.value.condition == condition


def test_the_nearest_type_is_named() -> None:
    with pytest.raises(RowkindError) as caught:
        parse_type("BIGINTT")
    assert "BIGINT" in caught.value.params["suggestion"]


_names = st.text(min_size=1, max_size=6)
_leaves = st.sampled_from(
    [
        t.BOOLEAN,
        t.INT,
        t.STRING,
        t.BYTES,
        t.DATE,
        t.time(3),
        t.timestamp(3),
        t.timestamp_ltz(0),
        t.decimal(9, 3),
        MONTHS,
    ]
) | st.integers(1, MAX_LENGTH - 1).map(lambda n: DataType(Root.VARCHAR, length=n))


def _nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.dictionaries(_names, inner, min_size=1, max_size=3).map(lambda d: t.row(*d.items()))
    return st.one_of(inner.map(t.array), st.builds(t.map_of, inner, inner), fields, inner.map(DataType.not_null))


@given(st.recursive(_leaves, _nested, max_leaves=8))
def test_a_type_written_out_is_read_back(type: DataType) -> None:
    assert parse_type(str(type)) == type
