"""raw: one column, its bytes are the message."""

from __future__ import annotations

from typing import Any, ClassVar

import pyarrow as pa
import pytest

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.formats.contract import Decoded, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from tests.formats.suite import FormatSuite

RAW = format_named("raw")


def choice(**options: Any) -> FormatChoice:
    values = {o.name: o.default for o in RAW.options} | {k.replace("_", "-"): v for k, v in options.items()}
    return FormatChoice("raw", values, FormatContext("t"))


def decode(type: t.DataType, *payloads: bytes | None, **options: Any) -> Decoded:
    decoder = RAW.decoder([t.Field("f", type)], [], choice(**options))
    return decoder.decode(pa.array(payloads, pa.binary()))


def encode(type: t.DataType, *values: Any, **options: Any) -> list[bytes | None]:
    rows = pa.RecordBatch.from_arrays([pa.array(values, t.arrow_type(type))], ["f"])
    return RAW.encoder([t.Field("f", type)], choice(**options)).encode(rows).to_pylist()  # type: ignore[no-any-return]


NUMBERS: list[tuple[t.DataType, str, Any, bytes]] = [
    (t.BOOLEAN, "big-endian", True, b"\x01"),
    (t.BOOLEAN, "big-endian", False, b"\x00"),
    (t.TINYINT, "big-endian", -2, b"\xfe"),
    (t.SMALLINT, "big-endian", 258, b"\x01\x02"),
    (t.SMALLINT, "little-endian", 258, b"\x02\x01"),
    (t.INT, "big-endian", 16909060, b"\x01\x02\x03\x04"),
    (t.INT, "LITTLE-endian", 16909060, b"\x04\x03\x02\x01"),
    (t.BIGINT, "big-endian", -1, b"\xff" * 8),
    (t.BIGINT, "little-endian", 1, b"\x01" + b"\x00" * 7),
    (t.FLOAT, "big-endian", 1.5, b"\x3f\xc0\x00\x00"),
    (t.DOUBLE, "big-endian", 1.5, b"\x3f\xf8" + b"\x00" * 6),
    (t.DOUBLE, "little-endian", 1.5, b"\x00" * 6 + b"\xf8\x3f"),
]


@pytest.mark.parametrize(("type", "order", "value", "wire"), NUMBERS)
def test_numbers_both_ways(type: t.DataType, order: str, value: Any, wire: bytes) -> None:
    assert encode(type, value, None, endianness=order) == [wire, None]
    decoded = decode(type, wire, None, endianness=order)
    assert decoded.rows.column(0).to_pylist() == [value, None]
    assert decoded.message is None
    assert decoded.rows.column(0).type == t.arrow_type(type)


@pytest.mark.parametrize(
    ("charset", "wire"),
    [
        ("UTF-8", "käse".encode()),
        ("utf8", "käse".encode()),
        ("ISO-8859-1", b"k\xe4se"),
        ("UTF-16", b"\xfe\xff\x00k\x00\xe4\x00s\x00e"),
        ("UTF-16LE", b"k\x00\xe4\x00s\x00e\x00"),
        ("windows-1252", b"k\xe4se"),
    ],
)
def test_text_in_a_charset(charset: str, wire: bytes) -> None:
    assert encode(t.STRING, "käse", None, "", charset=charset) == [wire, None, b""]
    assert decode(t.STRING, wire, None, b"", charset=charset).rows.column(0).to_pylist() == ["käse", None, ""]


def test_what_a_charset_cannot_hold_is_replaced() -> None:
    assert encode(t.STRING, "日", charset="ISO-8859-1") == [b"?"]
    assert decode(t.STRING, b"\xff", charset="US-ASCII").rows.column(0).to_pylist() == ["�"]


def test_what_is_not_utf8_is_replaced_in_a_text_and_kept_in_bytes() -> None:
    for type, written in ((t.STRING, "\ufffd\ufffd".encode()), (t.BYTES, b"\xff\xfe")):
        decoded = decode(type, b"\xff\xfe")
        assert RAW.encoder([t.Field("f", type)], choice()).encode(decoded.rows).to_pylist() == [written]


def test_bytes_pass_through() -> None:
    assert decode(t.BYTES, b"", None, b"\x00\xff").rows.column(0).to_pylist() == [b"", None, b"\x00\xff"]
    assert encode(t.BYTES, b"", None, b"\x00\xff") == [b"", None, b"\x00\xff"]


def test_wrong_length_is_bad_and_the_others_stay() -> None:
    decoded = decode(t.INT, b"\x00\x00\x00\x07", b"", b"\x01", None, b"\x00" * 5)
    assert decoded.rows.column(0).to_pylist() == [7, None]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [0, 3]
    assert [b.index for b in decoded.bad] == [1, 2, 4]


def test_boolean_reads_any_other_byte_as_true() -> None:
    assert decode(t.BOOLEAN, b"\x07", b"\x00").rows.column(0).to_pylist() == [True, False]


def test_line_delimiter_splits_and_appends() -> None:
    decoded = decode(t.STRING, b"a|b|", None, b"", b"|", b"a||b", line_delimiter="|")
    assert decoded.rows.column(0).to_pylist() == ["a", "b", "", "a", "", "b"]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [0, 0, 3, 4, 4, 4]
    assert encode(t.STRING, "a", None, "", line_delimiter="|") == [b"a|", None, b"|"]


def test_one_bad_part_spoils_its_message() -> None:
    decoded = decode(t.TINYINT, b"a|bb|c", b"d", line_delimiter="|")
    assert decoded.rows.column(0).to_pylist() == [100]
    assert decoded.message is not None
    assert decoded.message.to_pylist() == [1]
    assert [b.index for b in decoded.bad] == [0]


def test_sliced_arrays() -> None:
    payloads = pa.array([b"x", b"\x00\x00\x00\x01", None, b"\x00\x00\x00\x02", b"y"], pa.binary()).slice(1, 3)
    decoded = RAW.decoder([t.Field("f", t.INT)], [], choice()).decode(payloads)
    assert decoded.rows.column(0).to_pylist() == [1, None, 2]
    rows = pa.RecordBatch.from_arrays([pa.array([9, 1, None, 2], pa.int32())], ["f"]).slice(1, 2)
    assert RAW.encoder([t.Field("f", t.INT)], choice()).encode(rows).to_pylist() == [b"\x00\x00\x00\x01", None]


@pytest.mark.parametrize(
    ("columns", "options", "condition"),
    [
        ([], {}, "RAW_NEEDS_ONE_COLUMN"),
        ([t.Field("a", t.STRING), t.Field("b", t.BIGINT)], {}, "RAW_NEEDS_ONE_COLUMN"),
        ([t.Field("a", t.timestamp(3))], {}, "RAW_UNSUPPORTED_TYPE"),
        ([t.Field("a", t.decimal(5, 2))], {}, "RAW_UNSUPPORTED_TYPE"),
        ([t.Field("a", t.array(t.INT))], {}, "RAW_UNSUPPORTED_TYPE"),
        ([t.Field("a", t.STRING)], {"charset": "UNKNOWN"}, "RAW_UNSUPPORTED_CHARSET"),
        ([t.Field("a", t.STRING)], {"charset": "base64"}, "RAW_UNSUPPORTED_CHARSET"),
        ([t.Field("a", t.INT)], {"endianness": "BIG_ENDIAN"}, "RAW_UNSUPPORTED_ENDIANNESS"),
    ],
)
def test_refused_at_planning(columns: list[t.Field], options: dict[str, str], condition: str) -> None:
    with pytest.raises(RowkindError) as caught:
        RAW.validate(columns, choice(**options))
    assert caught.value.condition == condition


class TestRawText(FormatSuite):
    name = "raw"
    types = ("string", "char", "bytes", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double")
    single_column = True
    null_is_row = True
    probe = (t.Field("v", t.BYTES),)
    probe_rows: ClassVar[list[tuple[Any, ...]]] = [(f"value {i}".encode(),) for i in range(10)]


class TestRawNumbers(TestRawText):
    types = ("int",)
    options: ClassVar[dict[str, Any]] = {"endianness": "little-endian"}
    probe = (t.Field("v", t.INT),)
    probe_rows: ClassVar[list[tuple[Any, ...]]] = [(i * 1000,) for i in range(10)]
