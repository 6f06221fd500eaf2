"""MySQL's binary JSON as the text that the server makes of it: blanks behind commas and colons, keys as stored."""

from __future__ import annotations

import struct
from base64 import b64encode
from decimal import Decimal

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = 0, 1, 2, 3, 4
_DOUBLE, _STRING, _OPAQUE = 11, 12, 15
_NUMBERS = {5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q"}
_LITERALS = {0: "null", 1: "true", 2: "false"}
_DATE, _TIME, _MOMENTS, _DECIMAL = 10, 11, (7, 12), 246
_LINE = 76
"""The server breaks Base64 into lines."""


def json_text(value: bytes) -> str:
    """The text of a document; one of no bytes is what an emptied column has.

    >>> json_text(bytes.fromhex("05f6ff"))
    '-10'
    """
    return _value(value[0], value, 1) if value else "null"


def _value(kind: int, data: bytes, at: int) -> str:
    if kind in (_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY):
        return _container(kind, data, at)
    if kind == _LITERAL:
        return _LITERALS[data[at]]
    if kind in _NUMBERS:
        return str(struct.unpack_from(_NUMBERS[kind], data, at)[0])
    if kind == _DOUBLE:
        return double_text(struct.unpack_from("<d", data, at)[0])
    if kind == _STRING:
        length, at = _length(data, at)
        return quoted(data[at : at + length].decode("utf-8", "replace"))
    if kind == _OPAQUE:
        length, start = _length(data, at + 1)
        return _opaque(data[at], data[start : start + length])
    raise ValueError(f"unknown kind of JSON value: {kind}")


def _container(kind: int, data: bytes, at: int) -> str:
    large = kind in (_LARGE_OBJECT, _LARGE_ARRAY)
    size, number = (4, "<I") if large else (2, "<H")
    (count,) = struct.unpack_from(number, data, at)
    keys: list[str] = []
    entry = at + 2 * size
    if kind in (_SMALL_OBJECT, _LARGE_OBJECT):
        for _ in range(count):
            (offset,) = struct.unpack_from(number, data, entry)
            (length,) = struct.unpack_from("<H", data, entry + size)
            keys.append(quoted(data[at + offset : at + offset + length].decode("utf-8", "replace")))
            entry += size + 2
    values = []
    for _ in range(count):
        inner = data[entry]
        # Small values stand in the entry itself.
        inline = inner in (4, 5, 6) or (large and inner in (7, 8))
        place = entry + 1 if inline else at + struct.unpack_from(number, data, entry + 1)[0]
        values.append(_value(inner, data, place))
        entry += 1 + size
    if kind in (_SMALL_ARRAY, _LARGE_ARRAY):
        return "[" + ", ".join(values) + "]"
    return "{" + ", ".join(f"{key}: {value}" for key, value in zip(keys, values, strict=True)) + "}"


def _length(data: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, the low ones first."""
    length = shift = 0
    while True:
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            return length, at
        shift += 7


_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TRANSLATION = str.maketrans({**{chr(code): f"\\u{code:04x}" for code in range(32)}, **_ESCAPED})


def quoted(text: str) -> str:
    """A JSON string with the escapes that the server writes."""
    return f'"{text.translate(_TRANSLATION)}"'


def double_text(value: float) -> str:
    """The shortest digits, with an exponent from 1e15 on and below 1e-15; a whole number keeps one zero behind it."""
    sign, numbers, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, numbers)).rstrip("0") or "0"
    point = len(numbers) + exponent
    minus = "-" if sign else ""
    if digits == "0":
        return f"{minus}0.0"
    if point > 15 or point < -14:
        return f"{minus}{digits[0]}{'.' + digits[1:] if digits[1:] else ''}e{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    whole, fraction = digits[:point].ljust(point, "0"), digits[point:]
    return f"{minus}{whole}.{fraction or '0'}"


def _opaque(kind: int, data: bytes) -> str:
    if kind == _DECIMAL:
        from rowkind.connectors.mysql.decimals import decimal_text

        return decimal_text(data[2:], data[0], data[1])
    if kind in (_DATE, _TIME, *_MOMENTS):
        return f'"{_moment(kind, int.from_bytes(data[:8], "little", signed=True))}"'
    encoded = b64encode(data).decode()
    lines = [encoded[at : at + _LINE] for at in range(0, len(encoded), _LINE)]
    return quoted(f"base64:type{kind}:" + "\n".join(lines))


def _moment(kind: int, packed: int) -> str:
    sign, packed = ("-", -packed) if packed < 0 else ("", packed)
    micros, clock = packed & 0xFFFFFF, packed >> 24
    time = f"{(clock >> 12) & (0x3FF if kind == _TIME else 31):02}:{(clock >> 6) & 63:02}:{clock & 63:02}.{micros:06}"
    if kind == _TIME:
        return sign + time
    months, day = clock >> 22, (clock >> 17) & 31
    date = f"{months // 13:04}-{months % 13:02}-{day:02}"
    return date if kind == _DATE else f"{date} {time}"
