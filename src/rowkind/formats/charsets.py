"""Java's character sets by Python's codecs: what cannot be decoded or encoded is replaced, never an error."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import pyarrow as pa

_NOT_CHARSETS = {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7", "mbcs", "oem"}

_AS_JAVA = "rowkind-as-java"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """One U+FFFD for what Java calls one malformed piece; Python only cuts half a surrogate pair into more of them."""
    assert isinstance(error, UnicodeDecodeError)
    data, at = error.object, error.start
    if data[at] == 0xED and b"\xa0" <= data[at + 1 : at + 2] <= b"\xbf":
        return "\ufffd", at + 2 + (b"\x80" <= data[at + 2 : at + 3] <= b"\xbf")
    return "\ufffd", error.end


codecs.register_error(_AS_JAVA, _replaced)


def utf8_text(data: bytes) -> str:
    """Bytes as Java's `new String(data, UTF_8)` reads them.

    >>> utf8_text(b"caf\\xe9 \\xed\\xa0\\x80")
    'caf\ufffd \ufffd'
    """
    return data.decode("utf-8", _AS_JAVA)


def utf8_texts(payloads: pa.BinaryArray) -> pa.StringArray:
    """Bytes become text here, checked: from here on every text of a column is valid UTF-8."""
    try:
        return payloads.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if p is None else utf8_text(p) for p in payloads.to_pylist()], pa.string())


@dataclass(frozen=True, slots=True)
class Charset:
    """A named character set; `codec` is Python's name."""

    codec: str
    mark: bytes = b""
    """The byte order mark that Java writes before encoded text."""
    marks: tuple[tuple[bytes, str], ...] = ()
    """Byte order marks that Java takes off, and the codec each one calls for."""

    @property
    def utf8(self) -> bool:
        return self.codec == "utf-8"

    def decode(self, data: bytes) -> str:
        for mark, codec in self.marks:
            if data.startswith(mark):
                return data[len(mark) :].decode(codec, "replace")
        return utf8_text(data) if self.utf8 else data.decode(self.codec, "replace")

    def encode(self, value: str) -> bytes:
        encoded = value.encode(self.codec, "replace")
        return self.mark + encoded if encoded else b""

    def split(self, data: bytes, delimiter: bytes) -> list[bytes]:
        """The parts between delimiters, each as this character set writes it."""
        if self.utf8 and _is_utf8(data):
            return data.split(delimiter)
        parts = self.decode(data).split(self.decode(delimiter))
        return [self.encode(part) for part in parts]


def charset(name: str) -> Charset | None:
    """The character set of this Java name, or None when there is none.

    >>> charset("UTF-8").utf8
    True
    """
    match re.sub(r"[-_]", "", name).lower():
        case "utf16" | "unicode":
            return Charset("utf-16-be", b"\xfe\xff", ((b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le")))
        case "utf32":
            marks = ((b"\x00\x00\xfe\xff", "utf-32-be"), (b"\xff\xfe\x00\x00", "utf-32-le"))
            return Charset("utf-32-be", b"", marks)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9+.:_-]*", name):
        return None
    try:
        codec = codecs.lookup(name)
        "".encode(codec.name)
    except LookupError:
        return None
    return None if codec.name.replace("-", "_") in _NOT_CHARSETS else Charset(codec.name)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
