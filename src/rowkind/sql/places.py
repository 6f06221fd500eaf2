"""Where in a script an error belongs that was found after parsing: at its option or column, or at its statement."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rowkind.errors import RowkindError
from rowkind.sql.errors import Source
from rowkind.sql.statements import Statement

_NAMED = ("options", "option", "first", "key", "format", "column", "value", "connector")
"""Parameters of errors that are likely to stand in the script as they are, the most telling first."""


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as it stands in its script."""

    statement: Statement
    source: Source

    def error(self, error: RowkindError) -> RowkindError | None:
        """The error at the words that it is about; None when it is about none of this statement's."""
        offset = _found(self.statement.text, error)
        return None if offset is None else self._at(error, offset)

    def start(self, error: RowkindError) -> RowkindError:
        """The error at the beginning of the statement."""
        return self._at(error, 0)

    def _at(self, error: RowkindError, offset: int) -> RowkindError:
        before = self.statement.text[:offset]
        row = before.count("\n")
        column = offset - (before.rfind("\n") + 1) + (self.statement.column if row == 0 else 1)
        return self.source.error_at(error.condition, self.statement.line + row, column, **error.params)


def _found(text: str, error: RowkindError) -> int | None:
    for name in _NAMED:
        value = error.params.get(name)
        if value is None or not str(value):
            continue
        word = re.escape(str(value).split(", ")[0].strip("'`"))
        found = re.search(rf"'{word}'|`{word}`|(?<![\w.-]){word}(?![\w.-])", text, re.IGNORECASE)
        if found is not None:
            return found.start()
    return None


def placed(error: RowkindError, statement: Written, tables: dict[str, Written]) -> RowkindError:
    """The error with its place: in the statement, or in the definition of the table that it is about."""
    if "place" in error.params:
        return error
    defined = tables.get(str(error.params.get("table")))
    for written in (statement, defined):
        if written is not None and (found := written.error(error)) is not None:
            return found
    return (defined or statement).start(error)
