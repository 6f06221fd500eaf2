"""The first record of a csv message, cut into fields character by character: the exact way."""

from __future__ import annotations

import re

from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.text import trimmed

_ESCAPED = {"0": "\0", "n": "\n", "r": "\r", "t": "\t"}


class RecordReader:
    """Cuts the first record of a message into at most as many fields as there are columns."""

    def __init__(self, dialect: Dialect, columns: int) -> None:
        self.dialect = dialect
        self.columns = columns
        stops = [dialect.delimiter, "\r", "\n", *([dialect.escape] if dialect.escape else [])]
        self.stop = re.compile("[" + re.escape("".join(stops)) + "]")
        self.inside = re.compile("[" + re.escape((dialect.quote or '"') + (dialect.escape or "")) + "]")

    def read(self, payload: bytes) -> list[str]:
        """Raises ValueError when there is no record, or one that cannot be cut or has too many fields."""
        text = payload.decode("utf-8")
        if text.startswith("\ufeff") and len(payload) > 3:
            text = text[1:]
        return self._fitted(self._fields(text, self._start(text)))

    def _start(self, text: str) -> int:
        at = 0
        if self.dialect.comments:
            while at < len(text) and text[at] in "# \r\n":
                if text[at] == "#":
                    line_end = re.compile("[\r\n]").search(text, at)
                    at = line_end.start() if line_end else len(text)
                else:
                    at += 1
        if at >= len(text):
            raise ValueError("there is no record in the message")
        return at

    def _fields(self, text: str, at: int) -> list[str]:
        fields = []
        more = True
        while more:
            value, at, more = self._field(text, at)
            fields.append(value)
        return fields

    def _field(self, text: str, at: int) -> tuple[str, int, bool]:
        """A field, where the next one starts, and whether there is one."""
        dialect = self.dialect
        if dialect.trim:
            while at < len(text) and text[at] <= " " and text[at] not in "\r\n" and text[at] != dialect.delimiter:
                at += 1
        if dialect.quote and text[at : at + 1] == dialect.quote:
            return self._quoted(text, at + 1)
        value, at, more = self._bare(text, at)
        return (value.rstrip("".join(map(chr, range(33)))) if dialect.trim else value), at, more

    def _bare(self, text: str, at: int) -> tuple[str, int, bool]:
        parts = []
        while found := self.stop.search(text, at):
            parts.append(text[at : found.start()])
            at = found.end()
            if found[0] == self.dialect.delimiter:
                return "".join(parts), at, True
            if found[0] in "\r\n":
                return "".join(parts), at, False
            parts.append(self._escaped(text, at))
            at += 1
        return "".join([*parts, text[at:]]), len(text), False

    def _quoted(self, text: str, at: int) -> tuple[str, int, bool]:
        parts = []
        while found := self.inside.search(text, at):
            parts.append(text[at : found.start()])
            at = found.end()
            if found[0] != self.dialect.quote:
                parts.append(self._escaped(text, at))
            elif text[at : at + 1] == self.dialect.quote:
                parts.append(found[0])
            else:
                return self._after_quote("".join(parts), text, at)
            at += 1
        raise ValueError("a quoted field has no closing quote")

    def _after_quote(self, value: str, text: str, at: int) -> tuple[str, int, bool]:
        for i in range(at, len(text)):
            if text[i] == self.dialect.delimiter:
                return value, i + 1, True
            if text[i] in "\r\n":
                return value, i + 1, False
            if text[i] > " ":
                raise ValueError(f"'{text[i]}' stands between a closing quote and the next delimiter")
        return value, len(text), False

    def _escaped(self, text: str, at: int) -> str:
        if at >= len(text):
            raise ValueError("the message ends with an escape character")
        return _ESCAPED.get(text[at], text[at])

    def _fitted(self, fields: list[str]) -> list[str]:
        dialect, extra = self.dialect, fields[self.columns :]
        if extra and not dialect.ignore_trailing:
            blank = len(extra) == 1 and not trimmed(extra[0]) and dialect.trailing_comma
            if not blank:
                raise ValueError(f"Too many fields: {self.columns} expected but was {len(fields)}.")
        if len(fields) < self.columns and (dialect.fail_on_missing or not dialect.ignore_errors):
            raise ValueError(f"Row length mismatch. {self.columns} fields expected but was {len(fields)}.")
        return fields[: self.columns]
