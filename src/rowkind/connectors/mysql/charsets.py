"""Text of the binlog, which is in the character set of its column, as the server itself would convert it to UTF-8.

A snapshot's text has been converted by the server. To get the same characters, the tables of the single-byte sets are
the servers' own (`single_byte_charsets.json`, read from MySQL 8.0 and MariaDB 10.11, which agree), and the sets of more
bytes are Python's codecs with the characters in which the servers differ from them.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from functools import cache
from importlib import resources

import numpy as np
import pyarrow as pa

from rowkind.errors import RowkindError

UTF8 = frozenset({"utf8mb4", "utf8mb3", "utf8"})
_NOT_ASCII = frozenset({"utf16", "utf16le", "ucs2", "utf32", "swe7"})
_WIDE = {"utf16": "utf-16-be", "utf16le": "utf-16-le", "ucs2": "utf-16-be", "utf32": "utf-32-be"}
_MULTI = {
    "gbk": "gbk",
    "gb2312": "gb2312",
    "gb18030": "gb18030",
    "big5": "big5",
    "sjis": "shift_jis",
    "cp932": "cp932",
    "euckr": "cp949",
    "ujis": "euc_jp",
    "eucjpms": "euc_jp",
}
_BIG5_UNKNOWN = ("a15a", "a1c3", "a1c5", "a1fe", "a240", "a2cc", "a2ce")
_DIFFERENT = {
    "big5": {
        **{bytes.fromhex(code): "\ufffd" for code in _BIG5_UNKNOWN},
        **{bytes((0xF9, 0xD6 + i)): character for i, character in enumerate("碁銹裏墻恒粧嫺")},
    },
    "sjis": {b"\x81\x5f": "\\"},
    "gb18030": {b"\xa8\xbc": "ḿ"},
    "ujis": {b"\xa1\xc0": "\\"},
    "eucjpms": dict(
        zip((bytes.fromhex(c) for c in ("a1c1", "a1c2", "a1dd", "a1f1", "a1f2", "a2cc")), "～∥－￠￡￢", strict=True)
    ),
}


def texts(values: pa.BinaryArray, charset: str) -> pa.StringArray:
    """A column of bytes as text; pure ASCII needs no conversion in most sets."""
    if charset in UTF8 or (charset not in _NOT_ASCII and _ascii(values)):
        return utf8_texts(values)
    decode = decoder(charset)
    return pa.array([None if value is None else decode(value) for value in values.to_pylist()], pa.string())


def utf8_texts(values: pa.BinaryArray) -> pa.StringArray:
    """Checked UTF-8. An old server may hold something else: it is replaced, in snapshot and binlog alike."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        found = (None if value is None else value.decode("utf-8", "replace") for value in values.to_pylist())
        return pa.array(list(found), pa.string())


@cache
def decoder(charset: str) -> Callable[[bytes], str]:
    """What turns a value of this character set into text."""
    if charset in UTF8:
        return lambda data: data.decode("utf-8", "replace")
    if charset in _WIDE:
        return lambda data: data.decode(_WIDE[charset], "replace")
    if charset in _MULTI:
        return _multi_byte(charset, _MULTI[charset], _DIFFERENT.get(charset, {}))
    table = _single_byte_tables().get(charset)
    if table is None:
        raise RowkindError("MYSQL_CHARSET", charset=charset, value="")
    return lambda data: codecs.charmap_decode(data, "strict", table)[0]


def _multi_byte(charset: str, codec: str, different: dict[bytes, str]) -> Callable[[bytes], str]:
    def decode(data: bytes) -> str:
        try:
            return convert(data)
        except UnicodeDecodeError as error:
            # What Python does not know, the server may: a wrong character would be worse than an error.
            raise RowkindError("MYSQL_CHARSET", charset=charset, value=f", in the value {data[:100].hex()}") from error

    def convert(data: bytes) -> str:
        if different and any(code in data for code in different):
            # Character by character: a pair of bytes may also straddle two characters.
            characters = re.findall(rb"[\x81-\xfe][\x30-\x39][\x81-\xfe][\x30-\x39]|[\x81-\xfe].|.", data, re.DOTALL)
            return "".join(different.get(each) or each.decode(codec) for each in characters)
        return data.decode(codec)

    return decode


@cache
def _single_byte_tables() -> dict[str, str]:
    text = resources.files("rowkind.connectors.mysql").joinpath("single_byte_charsets.json").read_text("utf-8")
    lower = "".join(map(chr, range(128)))
    return {name: table if len(table) == 256 else lower + table for name, table in json.loads(text).items()}


def _ascii(values: pa.BinaryArray) -> bool:
    data = values.buffers()[2]
    if data is None:
        return True
    bounds = np.frombuffer(values.buffers()[1], np.int32)[values.offset : values.offset + len(values) + 1]
    used = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if len(bounds) else np.empty(0, np.uint8)
    return not (used & 0x80).any()
