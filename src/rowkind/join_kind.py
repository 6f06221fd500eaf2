"""The kinds of joins, by what they keep."""

from __future__ import annotations

from enum import StrEnum


class JoinKind(StrEnum):
    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"

    @property
    def filters(self) -> bool:
        """Whether the result is rows of the left side."""
        return self in (JoinKind.SEMI, JoinKind.ANTI)

    @property
    def unmatched(self) -> tuple[bool, bool]:
        """Whether the left and the right side's rows appear when they match nothing."""
        return self in (JoinKind.LEFT, JoinKind.FULL, JoinKind.ANTI), self in (JoinKind.RIGHT, JoinKind.FULL)
