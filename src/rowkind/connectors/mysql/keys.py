"""Values of a chunk key: as text in checkpoints, as SQL in conditions.

Strings are ordered by their collation, which only the server knows for certain: whether `ä` comes before `b`, whether
`a` and `A` are one key, whether blanks at the end count. So keys are compared by the server alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from rowkind.connectors.mysql.connection import quoted
from rowkind.connectors.mysql.schemas import TableSchema
from rowkind.connectors.mysql.types import ColumnType, Kind, Reading, column_type
from rowkind.errors import RowkindError

_INTEGERS = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})
_BY_NUMBER = frozenset({Kind.ENUM, Kind.SET, Kind.BIT, Kind.FLAG})
"""Ordered by the number of a member or by their bits, not by their text."""


@dataclass(frozen=True, slots=True)
class ChunkKey:
    """The column whose ranges are chunks."""

    column: ColumnType

    @property
    def name(self) -> str:
        return quoted(self.column.column.name)

    @property
    def expression(self) -> str:
        """The key in conditions and orders."""
        return f"{self.name} + 0" if self.column.kind in _BY_NUMBER else self.name

    @property
    def numeric(self) -> bool:
        """Whether its range can be cut into even steps."""
        return self.column.column.type in _INTEGERS or (self.column.column.type == "decimal")

    @property
    def selected(self) -> str:
        """What to select so that the answer is the key's text; bytes as hexadecimal digits."""
        if self.column.kind in (Kind.BYTES, Kind.PADDED_BYTES):
            return f"HEX({self.name})"
        if self.column.kind in (Kind.FLOAT, Kind.ROUNDED):
            return f"CAST({self.name} * 1E0 AS CHAR)"
        return f"CAST({self.expression} AS CHAR)"

    def literal(self, text: str) -> str:
        """A key's text as an SQL literal of the column's own character set, so that its index can be used."""
        match self.column.kind:
            case Kind.BYTES | Kind.PADDED_BYTES:
                return f"x'{text}'"
            case Kind.TEXT | Kind.UUID | Kind.INET4 | Kind.INET6:
                value = f"_utf8mb4 x'{text.encode().hex()}'"
                charset = self.column.column.charset
                return f"CONVERT({value} USING {charset})" if charset and charset != "utf8mb4" else value
            case Kind.DATE | Kind.DATETIME | Kind.TIMESTAMP | Kind.TIME | Kind.JSON | Kind.GEOMETRY:
                return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
            case Kind.FLOAT | Kind.DOUBLE | Kind.ROUNDED:
                return f"{text}E0" if "e" not in text.lower() else text
            case _:
                return f"{Decimal(text):f}"


def chunk_key(schema: TableSchema, name: str | None = None) -> ChunkKey:
    """The key that was asked for, or the first column of the primary key."""
    wanted = name or next(iter(schema.primary_key), None)
    if wanted is None:
        raise RowkindError("MYSQL_TABLE_WITHOUT_KEY", table=schema.id)
    if schema.index(wanted) is None:
        known = ", ".join(column.name for column in schema.columns)
        raise RowkindError("MYSQL_NO_SUCH_COLUMN", table=schema.id, column=wanted, known=known)
    # As the number it is: a boolean has no range.
    return ChunkKey(column_type(schema, schema.column(wanted), Reading(tinyint1_as_boolean=False)))


def in_range(key: ChunkKey, low: str | None, high: str | None) -> str:
    """The condition of a chunk; NULL, which only a key that was chosen can have, belongs to the first."""
    parts = []
    if low is not None:
        parts.append(f"{key.expression} >= {key.literal(low)}")
    if high is not None:
        upper = f"{key.expression} < {key.literal(high)}"
        nulls = key.column.column.nullable and low is None
        parts.append(f"({upper} OR {key.name} IS NULL)" if nulls else upper)
    return " AND ".join(parts)
