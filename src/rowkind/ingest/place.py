"""Where in a job file something stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rowkind.errors import RowkindError


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of a file, both from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, column {self.column}"

    def error(self, condition: str, /, **params: Any) -> RowkindError:
        """A named error about this place; its wording has {place}."""
        place = {"place": str(self), "file": self.file, "line": self.line, "column": self.column}
        return RowkindError(condition, **place, **params)
