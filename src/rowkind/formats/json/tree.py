"""One JSON message as a tree that keeps what Jackson's tokens keep: the text of numbers, the order of keys, duplicates.

Anything Jackson refuses with Flink's settings is refused here; unescaped control characters and text after the first
value are let through.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rowkind.formats.text import java_double, parse_decimal, short_decimal

MAX_DEPTH = 1000
MAX_DIGITS = 1000
MAX_STRING = 20_000_000
_SHALLOW = 200
"""A document with fewer brackets than this cannot come near Python's recursion limit."""
# A text without an end is matched too: otherwise the search goes on after its first quote, again and again.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_ESCAPES = {**{chr(c): f"\\u{c:04X}" for c in range(0x20)}, '"': '\\"', "\\": "\\\\"}
_ESCAPES |= {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = str.maketrans(_ESCAPES)


class Unreadable(ValueError):
    """A message, or a part of it, that is not what its column wants; the text says why."""


class Int(str):
    """A number token without fraction and exponent, as written."""

    __slots__ = ()


class Real(str):
    """A number token with fraction or exponent, as written."""

    __slots__ = ()


class Members(list[tuple[str, Any]]):
    """An object's members in order, duplicates included."""


def _counted(kind: type[str]) -> Any:
    def number(text: str) -> str:
        if len(text) > MAX_DIGITS and sum(c.isdigit() for c in text) > MAX_DIGITS:
            raise Unreadable(f"a number has more than {MAX_DIGITS} digits")
        return kind(text)

    return number


def _refuse(constant: str) -> Any:
    raise Unreadable(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(
    parse_int=_counted(Int),
    parse_float=_counted(Real),
    parse_constant=_refuse,
    object_pairs_hook=Members,
    strict=False,
)


def text_of(payload: bytes) -> str:
    """The message's characters; Unicode's other encodings are recognised as Jackson does, by their first bytes."""
    encoding = json.detect_encoding(payload)
    try:
        return payload.decode("utf-8" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start} is not valid {encoding.upper().removesuffix('-SIG')}") from None


def parse(text: str) -> Any:
    """The first JSON value of the text; blank text has none, which is an error. Call it inside `room_for`."""
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if start == len(text):
        raise Unreadable("the message holds nothing but blanks")
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise Unreadable(f"{error.msg} at character {error.pos}") from None
    if len(text) > MAX_STRING and any(len(s) > MAX_STRING for s in _strings(value)):
        raise Unreadable(f"a string is longer than {MAX_STRING} characters")
    return value


@contextmanager
def room_for(text: str) -> Iterator[None]:
    """Refuses what is nested too deep, and lets Python recurse into what is not."""
    if text.count("[") + text.count("{") < _SHALLOW:
        yield
        return
    _check_depth(text)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 20 * MAX_DEPTH)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _check_depth(text: str) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        depth += (bracket in "[{") - (bracket in "]}")
        if depth > MAX_DEPTH:
            raise Unreadable(f"the document is nested deeper than {MAX_DEPTH} levels")
        if depth <= 0:
            return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, Members):
        for key, member in value:
            yield key
            yield from _strings(member)
    elif isinstance(value, list):
        for element in value:
            yield from _strings(element)
    elif isinstance(value, str):
        yield value


def escaped(text: str, astral: bool) -> str:
    """A string's inside as Jackson writes it; `astral` also escapes what lies outside the BMP, as its bytes do.

    >>> escaped("a\\x1f😀", True)
    'a\\\\u001F\\\\uD83D\\\\uDE00'
    """
    text = text.translate(_ESCAPED)
    if astral and not text.isascii() and max(text) > "\uffff":
        return "".join(c if c <= "\uffff" else _surrogates(c) for c in text)
    return text


def _surrogates(char: str) -> str:
    high, low = divmod(ord(char) - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04X}\\u{0xDC00 + low:04X}"


def number_text(token: str, exact: bool) -> str:
    """A number as Jackson's tree prints it: a double, or with `exact` a decimal without trailing zeros."""
    if isinstance(token, Int):
        return "0" if token == "-0" else str(token)
    return short_decimal(parse_decimal(token)) if exact else java_double(float(token))


def render(value: Any, exact: bool) -> str:
    """A tree as compact JSON text, as Jackson prints it: of duplicate keys the last value, in the first place."""
    match value:
        case None:
            return "null"
        case True | False:
            return "true" if value else "false"
        case Int() | Real():
            text = number_text(value, exact)
            return f'"{text}"' if text.endswith("Infinity") else text
        case str():
            return f'"{escaped(value, astral=False)}"'
        case Members():
            members = dict(value)
            return "{" + ",".join(f'"{escaped(k, False)}":{render(v, exact)}' for k, v in members.items()) + "}"
        case _:
            return "[" + ",".join(render(element, exact) for element in value) + "]"
