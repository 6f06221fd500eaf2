"""Where in a text something is wrong, and how to show it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.options.secrets import masked_text


def pointer(text: str, line: int, column: int) -> str:
    """The source line with a caret under the column; both count from 1.

    >>> print(pointer("SELECT a\\nFORM t", 2, 1))
      2 | FORM t
        | ^
    """
    lines = text.split("\n")
    return _excerpt(lines[min(line, len(lines)) - 1], line, column)


def _excerpt(source_line: str, line: int, column: int) -> str:
    number = str(line)
    # A tab keeps its own width in front of the caret, whatever the terminal makes of it.
    margin = "".join("\t" if c == "\t" else " " for c in source_line[: column - 1].ljust(column - 1))
    return f"  {number} | {masked_text(source_line).rstrip()}\n  {' ' * len(number)} | {margin}^"


@dataclass(frozen=True, slots=True)
class Source:
    """A text to parse, and where it comes from: a file, or a piece of one that starts at `line` and `column`.

    `origin` names what holds the text, such as "view recent_orders".
    """

    text: str
    file: str | None = None
    line: int = 1
    column: int = 1
    origin: str | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, in the whole script."""
        starts = line_starts(self.text)
        row = bisect_right(starts, offset) - 1
        column = offset - starts[row] + 1
        return (self.line, self.column + column - 1) if row == 0 else (self.line + row, column)

    def error(self, condition: str, offset: int, /, **params: Any) -> RowkindError:
        """A named error that shows the place of an offset into the text."""
        return self.error_at(condition, *self.position(offset), **params)

    def error_at(self, condition: str, line: int, column: int, /, **params: Any) -> RowkindError:
        """A named error that shows a line and column of the script; its wording has {place} and {pointer}."""
        lines = self.text.split("\n")
        row = min(max(line - self.line, 0), len(lines) - 1)
        shown = _excerpt(lines[row], line, column - self.column + 1 if row == 0 else column)
        place = ", ".join(p for p in (self.file, self.origin, f"line {line}, column {column}") if p)
        where = {"place": place, "pointer": shown, "line": line, "column": column, "file": self.file}
        return RowkindError(condition, **(where | params))  # what the error is about may be a column, too


def position_of(node: exp.Expr) -> tuple[int, int] | None:
    """Line and column in the script where a tree starts."""
    return min(((n.meta["line"], n.meta["col"]) for n in node.walk() if n.meta.get("line")), default=None)


def line_starts(text: str) -> list[int]:
    """The offset of each line's first character."""
    return [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]
