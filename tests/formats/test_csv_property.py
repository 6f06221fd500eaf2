"""csv: the fast path says what the exact one says, and the encoder what its rules say value by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.formats import text as java
from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.csv.decode import CsvDecoder
from rowkind.formats.csv.encode import CsvEncoder
from rowkind.formats.spans import Bools, Ints
from rowkind.formats.temporal import TimestampStandard, render_date, render_time, render_timestamp
from rowkind.formats.ticks import ticks
from rowkind.types import DataType, Field, Root
from tests.formats.suite import batch, same


class ExactDecoder(CsvDecoder):
    """Reads every row the exact way."""

    def _fast(self, payloads: pa.BinaryArray, present: Bools) -> tuple[Ints, list[pa.Array]]:
        return np.zeros(0, np.int64), [pa.nulls(0, type) for type in self.schema.types]


SIMPLE: list[DataType] = [
    *(t.STRING, t.BOOLEAN, t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.BYTES, t.DATE, t.NULL),
    *(t.decimal(5, 2), t.decimal(38, 10), t.decimal(3, 3), t.decimal(9, 0), t.time(0), t.time(3)),
    *(t.timestamp(3), t.timestamp(6), t.timestamp_ltz(3)),
]
TYPES = (
    SIMPLE
    + [t.array(s) for s in SIMPLE]
    + [t.row(("x", a), ("y", b)) for a, b in zip(SIMPLE, SIMPLE[::-1], strict=True)]
)
columns = st.lists(st.sampled_from(TYPES), min_size=1, max_size=4).map(
    lambda types: tuple(Field(f"f{i}", type) for i, type in enumerate(types))
)
dialects = st.builds(
    Dialect,
    delimiter=st.sampled_from([",", ";", "|", "\t", "é", "0"]),
    quote=st.sampled_from(['"', "'", None]),
    escape=st.sampled_from([None, "\\", "*"]),
    elements=st.sampled_from([";", ":"]),
    null=st.sampled_from([None, "null", "", "-"]),
    comments=st.booleans(),
    ignore_errors=st.booleans(),
    scientific=st.booleans(),
    trim=st.booleans(),
    ignore_trailing=st.booleans(),
    trailing_comma=st.booleans(),
    fail_on_missing=st.booleans(),
    empty_as_null=st.booleans(),
)
numbers = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(repr),
    st.floats(width=32).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.from_regex(r"[+-]?[0-9]{0,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,3})?[fd]?", fullmatch=True),
)
times = st.one_of(
    st.dates().map(str),
    st.datetimes().map(str),
    st.datetimes().map(lambda d: f"{d}Z"),
    st.times().map(str),
    st.from_regex(
        r"[0-9]{4}-[0-3][0-9]-[0-3][0-9]( [0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,10})?)?Z?", fullmatch=True
    ),
    st.from_regex(r"[0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{0,10})?)?", fullmatch=True),
)
words = st.text("ab01 ,;:|\"'\\*#\t\r\n\0é😀=-", max_size=8) | st.sampled_from(
    ["true", "false", "TRUE", "null", "", "QUI=", "\ufeff"]
)
field = st.one_of(numbers, times, words)
pieces = st.one_of(field, st.lists(field, min_size=1, max_size=3).map(";".join))


@st.composite
def message(draw: st.DrawFn, dialect: Dialect) -> bytes | None:
    fields = draw(st.lists(pieces, max_size=5))
    quote = dialect.quote or '"'
    quoted = [f"{quote}{f}{quote}" if draw(st.integers(0, 3)) == 0 else f for f in fields]
    joined = dialect.delimiter.join(quoted).encode()
    return draw(st.sampled_from([joined, joined, joined, joined + b"\n", joined + b"\xff", None]))


@given(columns, dialects, st.data())
def test_fast_equals_exact(columns: tuple[Field, ...], dialect: Dialect, data: st.DataObject) -> None:
    payloads = pa.array(data.draw(st.lists(message(dialect), max_size=6)), pa.binary())
    fast, exact = CsvDecoder(columns, dialect).decode(payloads), ExactDecoder(columns, dialect).decode(payloads)
    assert same(fast.rows, exact.rows)
    assert fast.message == exact.message
    assert fast.bad == exact.bad
    assert fast.ignored == exact.ignored


@given(st.sampled_from(SIMPLE), st.lists(field | words, min_size=1, max_size=20))
def test_fast_equals_exact_in_one_column(type: DataType, fields: list[str]) -> None:
    columns, dialect = (Field("a", type), Field("b", t.array(type))), Dialect(ignore_errors=True)
    payloads = pa.array([f"{f},{f}".encode() for f in fields], pa.binary())
    fast, exact = CsvDecoder(columns, dialect).decode(payloads), ExactDecoder(columns, dialect).decode(payloads)
    assert same(fast.rows, exact.rows)
    assert (fast.message, fast.ignored) == (exact.message, exact.ignored)


def test_most_rows_are_read_fast() -> None:
    columns = tuple(Field(f"f{i}", type) for i, type in enumerate((t.INT, t.STRING, t.timestamp(3), t.DOUBLE)))
    payloads = pa.array([f'{i},"x, y","2020-12-30 12:13:14.{i:03d}",{i / 7}'.encode() for i in range(1000)])
    index, _ = CsvDecoder(columns, Dialect())._fast(payloads, np.ones(1000, np.bool_))
    assert len(index) == 1000


VALUES: dict[Root, st.SearchStrategy[Any]] = {
    Root.VARCHAR: st.text(max_size=30) | words,
    Root.BOOLEAN: st.booleans(),
    Root.TINYINT: st.integers(-128, 127),
    Root.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    Root.INT: st.integers(-(2**31), 2**31 - 1),
    Root.BIGINT: st.integers(-(2**63), 2**63 - 1),
    Root.FLOAT: st.floats(width=32),
    Root.DOUBLE: st.floats(),
    Root.VARBINARY: st.binary(max_size=30),
    Root.DATE: st.integers(-(10**6), 10**7),
    Root.TIME: st.integers(0, 86_399_999).map(lambda ms: ms * 1_000_000),
    Root.TIMESTAMP: st.integers(-(10**17), 10**18),
    Root.TIMESTAMP_LTZ: st.integers(-(10**17), 10**18),
    Root.NULL: st.none(),
}


def values_of(type: DataType) -> st.SearchStrategy[Any]:
    match type.root:
        case Root.DECIMAL:
            limit = 10 ** (type.precision or 0) - 1
            whole = st.integers(-limit, limit).map(lambda n: java.Decimal(n).scaleb(-(type.scale or 0), java._EXACT))
            return st.none() | whole
        case Root.ARRAY:
            assert type.element
            return st.none() | st.lists(values_of(type.element), max_size=3)
        case Root.ROW:
            return st.none() | st.fixed_dictionaries({f.name: values_of(f.type) for f in type.fields})
        case root:
            return st.none() | VALUES[root]


def rendered(value: Any, type: DataType, dialect: Dialect) -> str:
    match type.root:
        case _ if value is None:
            return dialect.null or ""
        case Root.BOOLEAN:
            return "true" if value else "false"
        case Root.FLOAT:
            return java.java_float(value)
        case Root.DOUBLE:
            return java.java_double(value)
        case Root.DECIMAL:
            return java.short_decimal(value) if dialect.scientific else java.plain_decimal(value)
        case Root.VARBINARY:
            return java.base64_text(value)
        case Root.DATE:
            return render_date(value)
        case Root.TIME:
            return render_time(value)
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return render_timestamp(value, TimestampStandard.SQL, type.root is Root.TIMESTAMP_LTZ)
        case Root.ARRAY:
            assert type.element
            return dialect.elements.join(rendered(v, type.element, dialect) for v in value)
        case Root.ROW:
            members = zip(value, type.fields, strict=True)
            return dialect.elements.join(rendered(v, f.type, dialect) for v, f in members)
        case _:
            return str(value)


def written(value: Any, type: DataType, dialect: Dialect) -> str:
    text = rendered(value, type, dialect)
    if value is None or type.root in t.NUMERICS or type.root is Root.BOOLEAN or dialect.quote is None:
        return text
    limit = max(dialect.delimiter, dialect.quote)
    special = dialect.escape or "\\" + dialect.quote
    bare = len(text.encode("utf-16-be")) // 2 <= 24 and all(c > limit and c not in special for c in text)
    if bare:
        return text
    text = text.replace(dialect.quote, dialect.quote * 2)
    if dialect.escape:
        text = text.replace(dialect.escape, dialect.escape * 2)
    return f"{dialect.quote}{text}{dialect.quote}"


@given(columns, dialects, st.data())
def test_encoder_follows_the_rules_value_by_value(
    columns: tuple[Field, ...], dialect: Dialect, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(*(values_of(c.type) for c in columns)), max_size=5))
    given_rows = batch(columns, rows)
    plain = zip(*(ticks(c, f.type) for c, f in zip(given_rows.columns, columns, strict=True)), strict=True)
    expected = [
        dialect.delimiter.join(written(v, c.type, dialect) for v, c in zip(row, columns, strict=True)) for row in plain
    ]
    encoded = CsvEncoder(columns, dialect).encode(given_rows)
    assert [p.decode() for p in encoded.to_pylist()] == expected
