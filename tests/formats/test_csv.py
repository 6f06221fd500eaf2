"""csv: fields both ways, options, and the bad-input table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.csv.csv_dialect import unescaped
from rowkind.formats.registry import format_named
from rowkind.types import DataType, Field, Root
from tests.formats.suite import FormatSuite, batch

CSV = format_named("csv")
PAIR = (Field("f0", t.STRING), Field("f1", t.INT), Field("f2", t.STRING))


def choice(**options: Any) -> FormatChoice:
    values = {o.name: o.default for o in CSV.options} | {k.replace("_", "-"): v for k, v in options.items()}
    return FormatChoice("csv", values, FormatContext("t"))


def decode(columns: tuple[Field, ...], *payloads: str | bytes | None, **options: Any) -> Decoded:
    raw = [p.encode() if isinstance(p, str) else p for p in payloads]
    return CSV.decoder(columns, [], choice(**options)).decode(pa.array(raw, pa.binary()))


def encode(columns: tuple[Field, ...], *rows: tuple[Any, ...], **options: Any) -> list[str]:
    payloads = CSV.encoder(columns, choice(**options)).encode(batch(columns, list(rows)))
    return [p.decode() for p in payloads.to_pylist()]


def around(type: DataType) -> tuple[Field, ...]:
    return (Field("f0", t.STRING), Field("f1", type), Field("f2", t.STRING))


def ticks(decoded: Decoded, name: str) -> list[Any]:
    column = decoded.rows.column(name)
    for type, number in (("date32", pa.int32()), ("time64", pa.int64()), ("timestamp", pa.int64())):
        if str(column.type).startswith(type):
            column = column.cast(number)
    return column.to_pylist()  # type: ignore[no-any-return]


def days(year: int, month: int, day: int) -> int:
    from datetime import date

    return date(year, month, day).toordinal() - 719_163


MS = 1_000_000
BOTH_WAYS: list[tuple[DataType, str, Any]] = [
    (t.STRING, '"This is a test."', "This is a test."),
    (t.STRING, '"This is a test\n\r."', "This is a test\n\r."),
    (t.BOOLEAN, "true", True),
    (t.BOOLEAN, "null", None),
    (t.TINYINT, "124", 124),
    (t.SMALLINT, "10000", 10000),
    (t.INT, "1234567", 1234567),
    (t.BIGINT, "12345678910", 12345678910),
    (t.FLOAT, "0.33333334", 0.3333333432674408),
    (t.DOUBLE, "0.33333333332", 0.33333333332),
    (t.DOUBLE, "1.0E10", 1e10),
    (t.DOUBLE, "NaN", float("nan")),
    (t.DOUBLE, "-Infinity", float("-inf")),
    (t.decimal(38, 25), "1234.0000000000000000000000001", Decimal("1234.0000000000000000000000001")),
    (t.decimal(38, 0), "123400000000000000000000000001", Decimal("123400000000000000000000000001")),
    (t.decimal(10, 3), "100000.000", Decimal("100000.000")),
    (t.decimal(10, 9), "0.000000100", Decimal("0.000000100")),
    (t.DATE, "2018-10-12", days(2018, 10, 12)),
    (t.time(0), "12:12:12", 43_932_000 * MS),
    (t.time(3), "12:12:12.232", 43_932_232 * MS),
    (t.timestamp(0), '"2018-10-12 12:12:12"', days(2018, 10, 12) * 86_400 * MS + 43_932 * MS),
    (t.timestamp(0), '"2018-10-12 12:12:12.123"', days(2018, 10, 12) * 86_400 * MS + 43_932_123_000),
    (t.timestamp_ltz(0), '"1970-01-01 00:02:03Z"', 123 * MS),
    (t.timestamp_ltz(0), '"1970-01-01 00:02:03.456Z"', 123_456_000),
    (
        t.row(("f0", t.STRING), ("f1", t.INT), ("f2", t.BOOLEAN)),
        "Hello;42;false",
        {"f0": "Hello", "f1": 42, "f2": False},
    ),
    (t.array(t.STRING), "a;b;c", ["a", "b", "c"]),
    (t.array(t.TINYINT), "12;4;null", [12, 4, None]),
    (t.BYTES, "awML", bytes([107, 3, 11])),
    (t.NULL, "null", None),
]


@pytest.mark.parametrize(("type", "text", "value"), BOTH_WAYS)
def test_both_ways_with_a_null_literal(type: DataType, text: str, value: Any) -> None:
    message = f"BEGIN,{text},END"
    decoded = decode(around(type), message, null_literal="null")
    assert not decoded.bad
    assert repr(ticks(decoded, "f1")) == repr([value])
    again = CSV.encoder(around(type), choice(null_literal="null")).encode(decoded.rows)
    assert again.to_pylist() == [message.encode()]


ODD = {"escape_character": "*", "quote_character": "'", "array_element_delimiter": ":", "field_delimiter": ";"}


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (t.STRING, "123*'4**", "123'4*"),
        (t.STRING, "'123''4**'", "123'4*"),
        (t.STRING, "'a;b*'c'", "a;b'c"),
        (t.STRING, "'a;b''c'", "a;b'c"),
        (t.INT, "       12          ", 12),
        (t.row(("f0", t.STRING), ("f1", t.STRING)), "'1:hello'", {"f0": "1", "f1": "hello"}),
        (t.STRING, "a*nb*rc*td*0e*xf", "a\nb\rc\td\0exf"),
        (t.STRING, "'x'  ", "x"),
    ],
)
def test_odd_characters(type: DataType, text: str, value: Any) -> None:
    decoded = decode(around(type), f"BEGIN;{text};END", **ODD)
    assert not decoded.bad
    assert decoded.rows.column(1).to_pylist() == [value]


@pytest.mark.parametrize(
    ("value", "text"),
    [("123'4*", "'123''4**'"), ("a;b'c", "'a;b''c'"), ("null", "null"), ("9", "'9'"), ("x", "x"), ("ä", "ä")],
)
def test_odd_characters_written(value: str, text: str) -> None:
    assert encode(around(t.STRING), ("BEGIN", value, "END"), **ODD) == [f"BEGIN;{text};END"]


@pytest.mark.parametrize(
    ("options", "value", "text"),
    [
        ({}, "a b", '"a b"'),
        ({}, "#", '"#"'),
        ({}, "-./09:;AZ", "-./09:;AZ"),
        ({}, "a\\b", '"a\\b"'),
        ({}, 'say "hi"', '"say ""hi"""'),
        ({}, "x" * 24, "x" * 24),
        ({}, "x" * 25, '"' + "x" * 25 + '"'),
        ({}, "é" * 24, "é" * 24),
        ({}, "😀" * 12, "😀" * 12),
        ({}, "😀" * 12 + "a", '"' + "😀" * 12 + 'a"'),
        ({}, "", ""),
        ({"field_delimiter": "|"}, "abc", '"abc"'),
        ({"field_delimiter": "|"}, "é", "é"),
        ({"field_delimiter": "\\t"}, "a,b", "a,b"),
        ({"field_delimiter": "\\t"}, "a\tb", '"a\tb"'),
        ({"escape_character": "\\"}, "a\\b", '"a\\\\b"'),
        ({"escape_character": "\\"}, 'a"b', '"a""b"'),
        ({"disable_quote_character": True}, "a,b", "a,b"),
        ({"disable_quote_character": True, "escape_character": "\\"}, 'a\\"b', 'a\\"b'),
    ],
)
def test_when_a_value_is_quoted(options: dict[str, Any], value: str, text: str) -> None:
    assert encode((Field("a", t.STRING),), (value,), **options) == [text]


def test_numbers_and_booleans_are_never_quoted() -> None:
    columns = (Field("a", t.INT), Field("b", t.BOOLEAN), Field("c", t.decimal(30, 1)), Field("d", t.DATE))
    rows = encode(columns, (1, True, Decimal("12345678901234567890123456789.5"), 0), field_delimiter="|")
    assert rows == ['1|true|12345678901234567890123456789.5|"1970-01-01"']


def test_decimals_in_scientific_notation() -> None:
    columns = (Field("a", t.decimal(10, 3)), Field("b", t.array(t.decimal(10, 3))))
    row = (Decimal("100000.000"), [Decimal("0.500"), Decimal("10.000")])
    assert encode(columns, row) == ["100000.000,0.500;10.000"]
    assert encode(columns, row, write_bigdecimal_in_scientific_notation=True) == ['1E+5,"0.5;1E+1"']


def test_nulls_without_a_literal() -> None:
    columns = (Field("a", t.STRING), Field("b", t.INT), Field("c", t.array(t.INT)), Field("d", t.row(("x", t.INT))))
    assert encode(columns, (None, None, None, None), ("", 1, [None, 2], {"x": None})) == [",,,", ",1,;2,"]
    assert encode((Field("a", t.STRING),), (None,), ("",)) == ["", ""]


def test_a_nested_row_that_is_null_reads_back_only_without_a_literal() -> None:
    columns = (Field("a", t.INT), Field("r", t.row(("x", t.INT), ("y", t.INT))), Field("l", t.array(t.INT)))
    (plain,) = encode(columns, (1, None, None))
    assert decode(columns, plain).rows.to_pylist() == [{"a": 1, "r": None, "l": []}]
    (literal,) = encode(columns, (1, None, None), null_literal="n/a")
    assert literal == "1,n/a,n/a"
    assert len(decode(columns, literal, null_literal="n/a").bad) == 1


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (t.BOOLEAN, " TRUE\t", True),
        (t.BOOLEAN, "yes", False),
        (t.BOOLEAN, "", False),
        (t.INT, "+5", 5),
        (t.INT, " 5 ", 5),
        (t.INT, "007", 7),
        (t.INT, "٣", 3),
        (t.FLOAT, " 1.5f ", 1.5),
        (t.DOUBLE, "1e3", 1000.0),
        (t.DOUBLE, "Infinity", float("inf")),
        (t.DOUBLE, "0x1p3", 8.0),
        (t.DOUBLE, "1e400", float("inf")),
        (t.decimal(5, 2), "1.005", Decimal("1.01")),
        (t.decimal(5, 2), "1000", None),
        (t.decimal(5, 2), "1E+2", Decimal("100.00")),
        (t.decimal(5, 2), ".5", Decimal("0.50")),
        (t.decimal(2, 2), "0.5", Decimal("0.50")),
        (t.decimal(2, 2), "-0.50", Decimal("-0.50")),
        (t.STRING, "", ""),
        (t.STRING, "  a ", "  a "),
        (t.STRING, 'a"b', 'a"b'),
        (t.STRING, '""', ""),
        (t.STRING, '"a""b"', 'a"b'),
        (t.STRING, '"a" ', "a"),
        (t.STRING, ' "a"', ' "a"'),
        (t.BYTES, "", b""),
        (t.BYTES, "QUI=", b"AB"),
        (t.DATE, "2018-1-2", days(2018, 1, 2)),
        (t.DATE, "2021-02-30", days(2021, 3, 2)),
        (t.DATE, "2020-02-29", days(2020, 2, 29)),
        (t.DATE, "1582-10-10", days(1582, 10, 20)),
        (t.time(0), "12:12", 43_920_000 * MS),
        (t.time(3), "12:12:12.232342", 43_932_232 * MS),
        (t.time(2), "12:12:12.239", 43_932_230 * MS),
        (t.time(1), "12:12:12.29", 43_932_200 * MS),
        (t.time(0), "12:12:12.45", 43_932_000 * MS),
        (t.timestamp(3), " 1970-01-01 00:00:01 ", MS),
        (t.timestamp(3), "1970-02-30 00:00:00", 58 * 86_400 * MS),
        (t.timestamp(3), "1970-01-01 24:00:00", 86_400 * MS),
        (t.timestamp(3), "1970-01-01 00:00:00.1234567", 123_456),
        (t.timestamp_ltz(3), "1970-01-01 00:00:00.5Z", 500_000),
        (t.array(t.INT), "", []),
        (t.array(t.INT), " ", []),
        (t.array(t.STRING), "a;", ["a", ""]),
        (t.row(("x", t.INT), ("y", t.INT)), "1;2;3", {"x": 1, "y": 2}),
        (t.row(("x", t.INT)), " ", None),
    ],
)
def test_what_a_field_may_hold(type: DataType, text: str, value: Any) -> None:
    decoded = decode(around(type), f"a,{text},b")
    assert not decoded.bad
    assert ticks(decoded, "f1") == [value]


BAD_FIELDS: list[tuple[DataType, str]] = [
    (t.INT, ""),
    (t.INT, "1.5"),
    (t.INT, "2147483648"),
    (t.TINYINT, "128"),
    (t.BIGINT, "9223372036854775808"),
    (t.INT, "1_000"),
    (t.DOUBLE, ""),
    (t.DOUBLE, "1,5".replace(",", "_")),
    (t.DOUBLE, "inf"),
    (t.decimal(5, 2), " 1"),
    (t.decimal(5, 2), ""),
    (t.decimal(5, 2), "NaN"),
    (t.DATE, "20181012"),
    (t.DATE, " 2018-10-12"),
    (t.DATE, "2018-13-01"),
    (t.DATE, "1500-02-29"),
    (t.DATE, "12018-01-01"),
    (t.time(0), "24:00:00"),
    (t.time(0), " 12:12:12"),
    (t.timestamp(3), "2018-10-12T12:12:12"),
    (t.timestamp(3), "2018-10-12 12:12"),
    (t.timestamp(3), "2018-10-12 12:12:12Z"),
    (t.timestamp_ltz(3), "2018-10-12 12:12:12"),
    (t.timestamp_ltz(3), "2018-10-12 12:12:12+0800"),
    (t.BYTES, "QUI"),
    (t.BYTES, "Q?=="),
    (t.array(t.INT), "1;x"),
    (t.row(("x", t.INT), ("y", t.INT)), "1"),
]


@pytest.mark.parametrize(("type", "text"), BAD_FIELDS)
def test_a_bad_field_fails_and_is_null_when_ignoring(type: DataType, text: str) -> None:
    strict = decode(around(type), f"a,{text},b", "a")
    assert [b.index for b in strict.bad] == [0, 1]
    assert "f1" in strict.bad[0].reason
    assert strict.rows.num_rows == 0
    lenient = decode(around(type), f"a,{text},b", ignore_parse_errors=True)
    assert not lenient.bad
    assert lenient.ignored == 1
    expected = {"ARRAY": [1, None], "ROW": {"x": 1, "y": None}}.get(type.root)
    assert lenient.rows.column(1).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("options", "message", "strict", "lenient"),
    [
        ({}, "", "bad", "dropped"),
        ({}, "a", "bad", ["a", None, None]),
        ({}, "a,1,b,c", "bad", "dropped"),
        ({}, "a,1,b,", ["a", 1, "b"], ["a", 1, "b"]),
        ({}, "a,1,b, ", ["a", 1, "b"], ["a", 1, "b"]),
        ({}, "a,1,b,,", "bad", "dropped"),
        ({"allow_trailing_comma": False}, "a,1,b,", "bad", "dropped"),
        ({"ignore_trailing_unmappable": True}, "a,1,b,c,d", ["a", 1, "b"], ["a", 1, "b"]),
        ({"fail_on_missing_columns": True}, "a,1", "bad", "dropped"),
        ({}, 'a,1,"b', "bad", "dropped"),
        ({}, '"a"x,1,b', "bad", "dropped"),
        ({}, b"\xff,1,b", "bad", "dropped"),
        ({}, "\ufeffa,1,b", ["a", 1, "b"], ["a", 1, "b"]),
        ({}, "a,1,b\nc,2,d", ["a", 1, "b"], ["a", 1, "b"]),
        ({}, "a,1,b\r\n", ["a", 1, "b"], ["a", 1, "b"]),
        ({}, "\na,1,b", "bad", ["", None, None]),
        ({}, "#a,1,b", ["#a", 1, "b"], ["#a", 1, "b"]),
        ({"allow_comments": True}, "#a,1,b", "bad", "dropped"),
        ({"allow_comments": True}, "#x\n\n a,1,b", ["a", 1, "b"], ["a", 1, "b"]),
        ({"trim_spaces": True}, " a , 1 , b ", ["a", 1, "b"], ["a", 1, "b"]),
        ({"trim_spaces": True}, ' "a " ,1, "b"', ["a ", 1, "b"], ["a ", 1, "b"]),
        ({"trim_spaces": True}, "a,1,b", ["a", 1, "b"], ["a", 1, "b"]),
        ({"empty_string_as_null": True}, ",,", [None, None, None], [None, None, None]),
        ({"null_literal": "null"}, '"null",null,b', [None, None, "b"], [None, None, "b"]),
        ({"null_literal": ""}, ",,b", [None, None, "b"], [None, None, "b"]),
        ({"disable_quote_character": True}, '"a,1,b"', ['"a', 1, 'b"'], ['"a', 1, 'b"']),
        ({"field_delimiter": "é"}, "aé1éb", ["a", 1, "b"], ["a", 1, "b"]),
        ({"field_delimiter": "\\u0001"}, "a\x011\x01b", ["a", 1, "b"], ["a", 1, "b"]),
        ({"escape_character": "\\"}, "a\\", "bad", "dropped"),
    ],
)
def test_messages(options: dict[str, Any], message: str | bytes, strict: Any, lenient: Any) -> None:
    decoded = decode(PAIR, message, **options)
    assert ("bad" if decoded.bad else list(decoded.rows.to_pylist()[0].values())) == strict
    decoded = decode(PAIR, message, ignore_parse_errors=True, **options)
    assert not decoded.bad
    found = "dropped" if decoded.rows.num_rows == 0 else list(decoded.rows.to_pylist()[0].values())
    assert found == lenient
    assert decoded.ignored == (0 if strict == lenient else max(1, [strict, *lenient].count(None) > 0))


def test_null_messages_give_no_row() -> None:
    decoded = decode(PAIR, "a,1,b", None, "c,2,d")
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [0, 2]
    assert not decoded.bad
    assert decoded.ignored == 0


def test_slow_rows_keep_their_place() -> None:
    messages = ["a,1,b", 'x"",2,y', "bad", "c,3,d", '"e""",4,f', "g,+5,h"]
    decoded = decode(PAIR, *messages)
    assert decoded.rows.column(1).to_pylist() == [1, 2, 3, 4, 5]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [0, 1, 3, 4, 5]
    assert [b.index for b in decoded.bad] == [2]


@pytest.mark.parametrize(
    ("columns", "options", "condition"),
    [
        (PAIR, {"disable_quote_character": True, "quote_character": "'"}, "CSV_QUOTE_DISABLED_AND_GIVEN"),
        (PAIR, {"quote_character": "abc"}, "CSV_NOT_ONE_CHARACTER"),
        (PAIR, {"field_delimiter": "||"}, "CSV_NOT_ONE_CHARACTER"),
        (PAIR, {"field_delimiter": ""}, "CSV_NOT_ONE_CHARACTER"),
        (PAIR, {"escape_character": "😀"}, "CSV_NOT_ONE_CHARACTER"),
        (PAIR, {"array_element_delimiter": ";;"}, "CSV_NOT_ONE_CHARACTER"),
        (around(t.time(5)), {}, "CSV_TIME_PRECISION"),
        (around(t.array(t.time(6))), {}, "CSV_TIME_PRECISION"),
        (around(DataType(Root.INTERVAL_YEAR_MONTH)), {}, "CSV_UNSUPPORTED_TYPE"),
        (around(t.map_of(t.STRING, t.INT)), {}, "CSV_UNSUPPORTED_TYPE"),
        (around(DataType(Root.MULTISET, element=t.STRING)), {}, "CSV_UNSUPPORTED_TYPE"),
        (around(t.array(t.array(t.INT))), {}, "CSV_NESTED_TOO_DEEP"),
        (around(t.row(("r", t.row(("x", t.INT))))), {}, "CSV_NESTED_TOO_DEEP"),
    ],
)
def test_refused_at_planning(columns: tuple[Field, ...], options: dict[str, Any], condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        CSV.validate(columns, choice(**options))
    assert caught.value.condition == condition


def test_java_escapes_in_the_delimiter() -> None:
    assert [unescaped(x) for x in ("\\t", "\\u0001", "\\001", "\\\\", "|", "\\|", "é")] == [
        "\t",
        "\x01",
        "\x01",
        "\\",
        "|",
        "|",
        "é",
    ]


class TestCsv(FormatSuite):
    name = "csv"
    types = (
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "wide decimal", "string"),
        *("char", "bytes", "date", "time", "timestamp", "timestamp_ltz", "array", "row"),
    )
    options: ClassVar[dict[str, Any]] = {"null-literal": "NULL"}

    def test_null_of_every_type(self, sample: str) -> None:
        if sample not in ("array", "row"):  # the literal is not looked for in such a column as a whole
            super().test_null_of_every_type(sample)
