"""The statements of a script, as data. A query is a sqlglot tree in the Flink dialect; everything else is plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlglot import exp

from rowkind.definitions import TableDefinition, ViewDefinition

Query = exp.Query | exp.Values
"""exp.Select, a set operation, exp.Values, or exp.Subquery around one of them."""


@dataclass(frozen=True, slots=True)
class Statement:
    """`text` is the statement as written, `line` and `column` (from 1) where it starts in the script."""

    text: str
    line: int
    column: int


class Merge(StrEnum):
    """How LIKE takes over one feature of the source table."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


@dataclass(frozen=True, slots=True)
class Like:
    """`LIKE source (INCLUDING ALL EXCLUDING OPTIONS …)`: (strategy, feature) pairs in the order written.

    Features: ALL, CONSTRAINTS, DISTRIBUTION, GENERATED, METADATA, OPTIONS, PARTITIONS, WATERMARKS.
    """

    source: str
    choices: tuple[tuple[Merge, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    definition: TableDefinition
    if_not_exists: bool = False
    like: Like | None = None


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    definition: ViewDefinition
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    view: bool
    name: str
    if_exists: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class Select(Statement):
    query: Query


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """`on_conflict` is NOTHING, ERROR or DEDUPLICATE; `options` are those of a hint `/*+ OPTIONS(…) */` on the sink."""

    table: str
    query: Query
    columns: tuple[str, ...] | None = None
    on_conflict: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True)
class Set(Statement):
    """`SET 'key' = 'value'`; a bare SET lists what is set."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Reset(Statement):
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """`details` are the words asked for: ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN, PLAN_ADVICE."""

    target: Select | Insert | StatementSet
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    name: str


@dataclass(frozen=True, slots=True)
class ShowTables(Statement):
    """SHOW TABLES lists tables and views, as Flink does; SHOW VIEWS views only."""

    views_only: bool = False


@dataclass(frozen=True, slots=True)
class ShowCreate(Statement):
    view: bool
    name: str
