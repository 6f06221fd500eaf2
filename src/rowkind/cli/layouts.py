"""Rows on their way to stdout: a text table that grows with its rows, JSON lines, CSV, or Markdown."""

from __future__ import annotations

import os
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Protocol, TextIO

import orjson
import typer

from rowkind.cli.cells import cell, cut, padded, width
from rowkind.cli.terminal import say
from rowkind.types import NUMERICS, STRING, DataType, Field, Root

NARROWEST, WIDEST = 12, 30
"""Columns of a terminal for a cell of rows that come bit by bit."""
KIND = "op"
Row = Sequence[object]


class OutputFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


Format = Annotated[
    OutputFormat,
    typer.Option("--format", help="How rows are printed; what goes into a pipe or a file is never cut."),
]


class Layout(Protocol):
    """Prints the rows of one result. `begin` is called once and first, `end` once and last."""

    def begin(self, fields: Sequence[Field], out: TextIO) -> None: ...

    def rows(self, rows: Sequence[Row]) -> None: ...

    def end(self) -> None: ...


class TextTable:
    """Columns grow as wider cells come, below a new heading; only a terminal cuts what is too wide for it."""

    def __init__(self, narrowest: int = NARROWEST) -> None:
        self._narrowest = narrowest
        self._widths: list[int] = []

    def begin(self, fields: Sequence[Field], out: TextIO) -> None:
        self._out, self._cuts = out, out.isatty()
        self._titles = [cell(f.name) for f in fields]
        self._kinds = bool(fields) and fields[0] is KIND_FIELD
        self._widest = _widest(out, len(fields)) if self._cuts else WIDEST
        self._shown = False

    def rows(self, rows: Sequence[Row]) -> None:
        cells = [[cell(value) for value in row] for row in rows]
        self._fit(cells)
        for line in cells:
            print(self._line(line), file=self._out)

    def end(self) -> None:
        if not self._shown:
            self._fit([])
        print(self._rule(), file=self._out)

    def _fit(self, cells: Sequence[Sequence[str]]) -> None:
        """See that the columns hold these cells; a heading above them whenever they have changed."""
        needed = [
            min(self._widest, max(self._narrowest, *map(width, column)))
            for column in zip(self._titles, *cells, strict=True)
        ]
        if self._kinds:
            needed[0] = len(KIND)
        grown = [max(pair) for pair in zip(needed, self._widths or needed, strict=True)]
        if grown == self._widths:
            return
        self._widths, self._shown = grown, True
        print(self._rule(), self._line(self._titles), self._rule(), sep="\n", file=self._out)

    def _rule(self) -> str:
        return "+" + "+".join("-" * (w + 2) for w in self._widths) + "+"

    def _line(self, cells: Sequence[str]) -> str:
        shown = (cut(c, w) for c, w in zip(cells, self._widths, strict=True)) if self._cuts else cells
        return "|" + "|".join(f" {padded(c, w)} " for c, w in zip(shown, self._widths, strict=True)) + "|"


def _widest(out: TextIO, columns: int) -> int:
    """What a cell may take where a terminal has room for all of them."""
    try:
        room = os.get_terminal_size(out.fileno()).columns
    except OSError:
        room = 0
    return max(WIDEST, room // max(columns, 1) - 3)


class Json:
    """An object a line; numbers, truth values and nested values as such."""

    def begin(self, fields: Sequence[Field], out: TextIO) -> None:
        self._out = out
        self._names = [orjson.dumps(f.name).decode() for f in fields]
        self._values = [_json(f.type) for f in fields]

    def rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            members = zip(self._names, self._values, row, strict=True)
            say("{" + ",".join(f"{name}:{value(v)}" for name, value, v in members) + "}", self._out)

    def end(self) -> None:
        pass


_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


def _json(type: DataType) -> Callable[[object], str]:
    """How a value that is shown as text is written: Infinity and NaN are no numbers of JSON."""

    def written(value: object) -> str:
        if value is None:
            return "null"
        if type.root is Root.BOOLEAN:
            return str(value).lower()
        if type.root in NUMERICS and _NUMBER.fullmatch(str(value)):
            return str(value)
        if isinstance(value, (bytes, bytearray)):
            return f'"{b64encode(value).decode()}"'
        return orjson.dumps(str(value)).decode()

    return written


class Csv:
    """As in RFC 4180. NULL is nothing at all, an empty text is a pair of quotes."""

    def begin(self, fields: Sequence[Field], out: TextIO) -> None:
        self._out = out
        self.rows([[f.name for f in fields]])

    def rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            say(",".join(map(_csv, row)), self._out)

    def end(self) -> None:
        pass


def _csv(value: object) -> str:
    if value is None:
        return ""
    text = f"x'{value.hex()}'" if isinstance(value, (bytes, bytearray)) else str(value)
    if text and text == text.strip() and not re.search(r'[",\r\n]', text):
        return text
    return '"' + text.replace('"', '""') + '"'


class Markdown:
    """A table for a page or an issue."""

    def begin(self, fields: Sequence[Field], out: TextIO) -> None:
        self._out = out
        self.rows([[f.name for f in fields]])
        print("|" + "---|" * len(fields), file=out)

    def rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            print("| " + " | ".join(cell(v).replace("|", r"\|") for v in row) + " |", file=self._out)

    def end(self) -> None:
        pass


LAYOUTS: dict[OutputFormat, Callable[[], Layout]] = {
    OutputFormat.TABLE: TextTable,
    OutputFormat.JSON: Json,
    OutputFormat.CSV: Csv,
    OutputFormat.MARKDOWN: Markdown,
}

KIND_FIELD = Field(KIND, STRING)


def with_kind(fields: Sequence[Field]) -> tuple[Field, ...]:
    """The columns of a changelog: the row's kind first, under a name that no column has."""
    taken = any(f.name == KIND for f in fields)
    return (Field(f"${KIND}", STRING) if taken else KIND_FIELD, *fields)


def texts(names: Sequence[str]) -> tuple[Field, ...]:
    """Columns of texts under these names."""
    return tuple(Field(name, STRING) for name in names)


def print_all(names: Sequence[str], rows: Sequence[Row], format: OutputFormat, out: TextIO | None = None) -> None:
    """An answer that is known whole: a text table is as narrow as it can be."""
    layout = TextTable(narrowest=0) if format is OutputFormat.TABLE else LAYOUTS[format]()
    layout.begin(texts(names), out or sys.stdout)
    if rows:
        layout.rows(rows)
    layout.end()
