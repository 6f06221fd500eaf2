"""Row kinds and changelog modes: what a row does to the table it belongs to."""

from __future__ import annotations

from enum import Enum, IntEnum

KIND_COLUMN = "__kind"
"""The int8 column that carries the row kind in every Arrow batch and DataFrame of a changelog."""


class RowKind(IntEnum):
    """What a row does; the numbers are those of Flink."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    @property
    def symbol(self) -> str:
        return ("+I", "-U", "+U", "-D")[self]

    @property
    def adds(self) -> bool:
        """Whether the row is in the table afterwards (+I, +U) or gone (-U, -D)."""
        return self in (RowKind.INSERT, RowKind.UPDATE_AFTER)


class ChangelogMode(Enum):
    """Which kinds a stream of rows may hold."""

    INSERT_ONLY = "insert-only"
    UPSERT = "upsert"
    """+I, +U and -D by key, without -U; a -D may carry the key columns only."""
    RETRACT = "retract"
    """+I, -U, +U and -D; -U and -D carry the whole old row."""

    @property
    def kinds(self) -> tuple[RowKind, ...]:
        if self is ChangelogMode.INSERT_ONLY:
            return (RowKind.INSERT,)
        if self is ChangelogMode.UPSERT:
            return (RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE)
        return tuple(RowKind)
