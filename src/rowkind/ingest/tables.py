"""A table of the database as the job sees it, and the ids that tables have."""

from __future__ import annotations

from dataclasses import dataclass

from rowkind.types import DataType, Field


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A captured table: columns in the order of its definition, the primary key in the order of its constraint."""

    database: str
    name: str
    columns: tuple[Field, ...]
    primary_key: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def types(self) -> dict[str, DataType]:
        return {c.name: c.type for c in self.columns}


@dataclass(frozen=True, slots=True)
class TableId:
    """Where a table goes: up to three names, as the text of a route says.

    >>> TableId.of("shop.orders").schema
    'shop'
    """

    table: str
    schema: str | None = None
    namespace: str | None = None

    @staticmethod
    def of(text: str) -> TableId:
        """An id from its text, cut at the dots; ValueError says what is wrong with it."""
        parts = text.split(".")
        if len(parts) > 3 or "" in parts:
            raise ValueError("an id is 'table', 'schema.table' or 'namespace.schema.table'")
        return TableId(*reversed(parts))

    @property
    def text(self) -> str:
        return ".".join(part for part in (self.namespace, self.schema, self.table) if part is not None)

    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """The headers that name the table, absent parts empty."""
        named = (("namespace", self.namespace), ("schemaName", self.schema), ("tableName", self.table))
        return tuple((key, (value or "").encode()) for key, value in named)
