"""The logical plan: frozen nodes, each a changelog made of the changelogs below it.

A node's columns have names that are unique within the node. `KIND_COLUMN` is never among them: it always comes along.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from sqlglot import exp

from rowkind.connectors.contract import Table
from rowkind.join_kind import JoinKind
from rowkind.options.session_options import Placement
from rowkind.types import DataType, Field


@dataclass(frozen=True, slots=True)
class Expr:
    """A scalar expression over a node's columns: its resolved tree, its Spark SQL text and its Flink type."""

    tree: exp.Expr = field(compare=False)
    sql: str
    type: DataType

    @property
    def column(self) -> str | None:
        """The column that this expression merely passes on, if it does."""
        if isinstance(self.tree, exp.Column) and not self.tree.args.get("table"):
            return str(self.tree.name)
        return None

    @property
    def columns(self) -> frozenset[str]:
        """Every column that the expression reads."""
        return frozenset(c.name for c in self.tree.find_all(exp.Column))


@dataclass(frozen=True, slots=True)
class Named:
    """An expression with the name of the column it makes."""

    name: str
    expr: Expr

    @property
    def field(self) -> Field:
        return Field(self.name, self.expr.type)


@dataclass(frozen=True, slots=True)
class Node:
    """Part of a plan."""

    @property
    def columns(self) -> tuple[Field, ...]:
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self

    def column(self, name: str) -> Field:
        return next(c for c in self.columns if c.name == name)


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """A node with one input; its columns are those of the input unless it says otherwise."""

    input: Node

    @property
    def columns(self) -> tuple[Field, ...]:
        return self.input.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs[0] is self.input else replace(self, input=inputs[0])


@dataclass(frozen=True, slots=True)
class Watermarked:
    """The event time of a scan: its column and the watermark expression over the scan's columns."""

    column: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Scan(Node):
    """Rows of a table: physical columns, then metadata columns in their connector's type."""

    table: Table
    emit_before: bool = True
    """False: old rows (-U) of a CDC format are left out, as every reader goes by the primary key."""

    @property
    def columns(self) -> tuple[Field, ...]:
        metadata = (Field(m.name, m.message_type) for m in self.table.metadata)
        return (*self.table.physical, *metadata)


@dataclass(frozen=True, slots=True)
class Values(Node):
    """Rows written in the query itself, read once."""

    rows: tuple[tuple[Expr, ...], ...]
    fields: tuple[Field, ...]

    @property
    def columns(self) -> tuple[Field, ...]:
        return self.fields


@dataclass(frozen=True, slots=True)
class Project(Unary):
    """Computes columns, row by row."""

    expressions: tuple[Named, ...] = ()

    @property
    def columns(self) -> tuple[Field, ...]:
        return tuple(e.field for e in self.expressions)


@dataclass(frozen=True, slots=True)
class Filter(Unary):
    """Keeps the rows for which the condition is true."""

    condition: Expr = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class WatermarkAssigner(Unary):
    """Marks the event-time column of its input and how far behind the watermark runs."""

    watermark: Watermarked = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Union(Node):
    """UNION ALL: every row of every input; columns by position, with the first input's names and the common types."""

    branches: tuple[Node, ...]

    @property
    def columns(self) -> tuple[Field, ...]:
        return self.branches[0].columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs == self.branches else replace(self, branches=inputs)


@dataclass(frozen=True, slots=True)
class Normalize(Unary):
    """Turns the upserts of a source into a changelog with old rows: keeps the last row of every key."""

    key: tuple[str, ...] = ()
    filter: Expr | None = None
    emit_before: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """One aggregate call over columns of the input."""

    name: str
    function: str
    arguments: tuple[str, ...]
    type: DataType
    distinct: bool = False
    filter: str | None = None
    separator: str | None = None
    """Of LISTAGG."""
    offset: int = 1
    """Of LAG: so many rows before, or after where it is negative; a second argument counts where there is none."""


@dataclass(frozen=True, slots=True)
class Aggregate(Unary):
    """GROUP BY: one row per distinct key. No calls: SELECT DISTINCT. No keys: one row always."""

    keys: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    emit_before: bool = True
    split_distinct: bool = False
    """Whether a first stage, by group and value, does DISTINCT, and a second one merges."""

    @property
    def columns(self) -> tuple[Field, ...]:
        return (*(self.input.column(k) for k in self.keys), *(Field(c.name, c.type) for c in self.calls))


def joined_columns(left: Node, right: Node, kind: JoinKind) -> tuple[Field, ...]:
    """The columns of both sides, those that an outer join pads nullable; of a semi or anti join those of the left."""
    if kind.filters:
        return left.columns
    pads_right, pads_left = kind.unmatched
    return *_padded(left, pads_left), *_padded(right, pads_right)


def _padded(side: Node, padded: bool) -> tuple[Field, ...]:
    return tuple(Field(c.name, c.type.as_nullable()) for c in side.columns) if padded else side.columns


@dataclass(frozen=True, slots=True)
class Join(Node):
    """Joins two changelogs on equal key columns and a residual condition over both sides' columns.

    `null_aware` is NOT IN of one column: a null on either side decides as SQL says.
    """

    left: Node
    right: Node
    kind: JoinKind
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    residual: Expr | None = None
    null_aware: bool = False
    emit_before: bool = True

    @property
    def columns(self) -> tuple[Field, ...]:
        return joined_columns(self.left, self.right, self.kind)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True, slots=True)
class Order:
    """One ORDER BY item over a column.

    `arrival`: the column is a processing time, so that rows come in the order of their arrival, whatever it holds.
    """

    column: str
    descending: bool = False
    nulls_first: bool = True
    arrival: bool = False


@dataclass(frozen=True, slots=True)
class Rank(Unary):
    """Top-N: the rows of rank `first` to `last` within each partition; `rank` names the rank column, if it is kept.

    Without `order`, and by ascending arrival, the rows that came first stay.
    """

    function: str = "ROW_NUMBER"
    partition: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    first: int = 1
    last: int | None = None
    rank: str | None = None
    rank_type: DataType | None = None
    emit_before: bool = True

    @property
    def columns(self) -> tuple[Field, ...]:
        if self.rank is None or self.rank_type is None:
            return self.input.columns
        return (*self.input.columns, Field(self.rank, self.rank_type))


@dataclass(frozen=True, slots=True)
class SetDifference(Node):
    """INTERSECT and EXCEPT: rows of the left input by how often they stand in both; columns by position."""

    left: Node
    right: Node
    intersect: bool
    all: bool
    emit_before: bool = True

    @property
    def columns(self) -> tuple[Field, ...]:
        return self.left.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs == self.inputs else replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True, slots=True)
class Unnest(Unary):
    """CROSS JOIN UNNEST: one row per element of an array, map or multiset column. `outer` keeps rows without any."""

    collection: Expr = None  # type: ignore[assignment]
    made: tuple[Field, ...] = ()
    ordinality: bool = False
    outer: bool = False

    @property
    def columns(self) -> tuple[Field, ...]:
        return (*self.input.columns, *self.made)


@dataclass(frozen=True, slots=True)
class SinkMaterialize(Unary):
    """Keeps all live rows of a sink key, because the query's own key is another: the newest one is written."""

    key: tuple[str, ...] = ()
    upsert_key: tuple[str, ...] | None = None
    table: str = ""
    on_conflict: str | None = None


@dataclass(frozen=True, slots=True)
class SinkBuffer(Unary):
    """Holds rows back before a sink and lets the last one of each key pass. How long may change while a job rests."""

    key: tuple[str, ...] = ()
    table: str = ""
    net: bool = False
    """Whether the changes of a batch are reduced to one per key: so behind a stateful operator."""
    max_rows: int = field(default=0, compare=False)
    interval: timedelta = field(default=timedelta(0), compare=False)


@dataclass(frozen=True, slots=True)
class Sink(Unary):
    """Writes a changelog into a Kafka table; the input's columns are the table's writable columns, in order."""

    table: Table = None  # type: ignore[assignment]
    index: int = 0
    """Which INSERT of the job this is: two INSERTs into one table each have their own producer."""
    on_conflict: str | None = None
    materialize: Placement = Placement.AUTO
    """Whether the live rows of the sink's key are kept: where the query's key is another, never, always."""
    conflict_named: bool = False
    """Whether ON CONFLICT must be said where the query's key is another."""
    net: bool = False
    """Whether the changes of a batch are reduced to one per key: so behind a stateful operator."""


@dataclass(frozen=True, slots=True)
class Sorted(Unary):
    """The order of a bounded query's final rows, and how many of the columns are shown. Only right below Print."""

    order: tuple[Order, ...] = ()
    width: int = 0


@dataclass(frozen=True, slots=True)
class Print(Unary):
    """Shows a changelog on the screen, or with an order the rows that are left at the end."""

    fields: tuple[Field, ...] = ()
    """What is shown, as the query has it: the input may have it as text, and further columns to sort by."""
    order: tuple[Order, ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)


def walk(node: Node) -> Iterator[Node]:
    """Every node of a plan, inputs before the nodes that use them."""
    for below in node.inputs:
        yield from walk(below)
    yield node


def transform(node: Node, change: Any) -> Node:
    """The plan with `change(node)` applied from the bottom up."""
    inputs = tuple(transform(i, change) for i in node.inputs)
    result: Node = change(node.with_inputs(inputs) if inputs != node.inputs else node)
    return result
