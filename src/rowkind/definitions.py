"""What CREATE TABLE and CREATE VIEW define, before any option is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rowkind.types import DataType, Field


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """A column that is in the message's key or value."""

    name: str
    type: DataType
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """`name AS expression`: computed when the table is read, never written. The expression is Flink SQL text.

    `line` and `column` (here and below) are where that text starts in its script, for errors found later.
    """

    name: str
    expression: str
    comment: str | None = None
    line: int = field(default=1, compare=False)
    column: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """`name TYPE METADATA [FROM 'key'] [VIRTUAL]`: something of the message other than key and value."""

    name: str
    type: DataType
    key: str
    virtual: bool = False
    comment: str | None = None


Column = PhysicalColumn | ComputedColumn | MetadataColumn


@dataclass(frozen=True, slots=True)
class Watermark:
    """`WATERMARK FOR column AS expression`. The expression is Flink SQL text."""

    column: str
    expression: str
    expression_line: int = field(default=1, compare=False)
    expression_column: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table as its DDL says; `options` are as written, `line` is where the statement starts in its script."""

    name: str
    columns: tuple[Column, ...]
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    primary_key: tuple[str, ...] = ()
    constraint: str | None = None
    watermark: Watermark | None = None
    comment: str | None = None
    temporary: bool = False
    line: int = 1

    @property
    def physical(self) -> tuple[Field, ...]:
        """Physical columns in table order; primary key columns are implicitly NOT NULL."""
        return tuple(
            Field(c.name, c.type.not_null() if c.name in self.primary_key else c.type)
            for c in self.columns
            if isinstance(c, PhysicalColumn)
        )

    @property
    def metadata(self) -> tuple[MetadataColumn, ...]:
        return tuple(c for c in self.columns if isinstance(c, MetadataColumn))

    @property
    def computed(self) -> tuple[ComputedColumn, ...]:
        return tuple(c for c in self.columns if isinstance(c, ComputedColumn))


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view: a query as Flink SQL text, with column names of its own if it gave any."""

    name: str
    query: str
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    line: int = 1
    query_line: int = field(default=1, compare=False)
    query_column: int = field(default=1, compare=False)
