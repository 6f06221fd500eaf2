"""Transforms through rowkind's own expressions: bound as a SELECT over the table, run on the rows of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from rowkind.catalog.catalog import Catalog
from rowkind.connectors.mysql.staged import EVENT_TIME, SEQUENCE
from rowkind.definitions import PhysicalColumn, TableDefinition
from rowkind.ingest.transforms import EVENT_TYPE, OP_TS, Transform
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.options.session_values import SessionOptions
from rowkind.plan import nodes as n
from rowkind.plan.expressions import Moment, bind_clock
from rowkind.runtime.driver.planning import Planner
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from rowkind.sql.errors import Source
from rowkind.types import BIGINT, STRING, Field, quote

_UNREAD = {"connector": "kafka", "topic": "rows", "properties.bootstrap.servers": "-", "format": "json"}
"""The table of a transform is never read as such: its rows are those of a batch."""

_EVENT_TYPES = " ".join(f"WHEN {kind.value} THEN '{kind.symbol}'" for kind in RowKind)


@dataclass
class Binder:
    """Binds transforms; what was bound is kept."""

    spark: SparkSession
    _bound: dict[str, n.Node] = field(default_factory=dict)

    def columns(self, transform: Transform) -> tuple[Field, ...]:
        """The columns that a transform makes."""
        return self._node(transform).columns

    def applied(self, transform: Transform, rows: DataFrame, moment: Moment) -> DataFrame:
        """The rows that pass, with the transform's columns, and behind them those that every row carries."""
        read = rows.selectExpr(
            "*",
            f"CASE {KIND_COLUMN} {_EVENT_TYPES} END AS {quote(EVENT_TYPE)}",
            f"{EVENT_TIME} AS {quote(OP_TS)}",
        )
        return self._applied(self._node(transform), read, moment)

    def fitted(self, output: DataFrame, select: exp.Select, columns: tuple[Field, ...], moment: Moment) -> DataFrame:
        """A further SELECT over the columns of a transform, such as casts to the columns of a topic."""
        return self._applied(self._bind(select, "output", columns), output, moment)

    def _node(self, transform: Transform) -> n.Node:
        extra = [Field(EVENT_TYPE, STRING), Field(OP_TS, BIGINT)]
        columns = (*transform.table.columns, *(f for f in extra if f.name not in transform.table.types))
        return self._bind(transform.select, transform.table.name, columns)

    def _bind(self, select: exp.Select, name: str, columns: tuple[Field, ...]) -> n.Node:
        said = f"{select.sql()} {name} {[(c.name, str(c.type)) for c in columns]}"
        if said not in self._bound:
            catalog = Catalog()
            physical = tuple(PhysicalColumn(c.name, c.type) for c in columns)
            catalog.create_table(TableDefinition(name, physical, _UNREAD))
            planner = Planner(catalog, SparkAnalyzer(self.spark), SessionOptions(), Source(""))
            self._bound[said] = planner.query(select)
        return self._bound[said]

    def _applied(self, node: n.Node, rows: DataFrame, moment: Moment, depth: int = 0) -> DataFrame:
        if isinstance(node, n.Scan):
            return rows
        if isinstance(node, n.Filter):
            below = self._applied(node.input, rows, moment, depth + 1)
            return below.where(bind_clock(node.condition.sql, moment.at(depth)))
        if isinstance(node, n.Project):
            below = self._applied(node.input, rows, moment, depth + 1)
            made = [
                f"{bind_clock(e.expr.sql, moment.at(depth, at))} AS {quote(e.name)}"
                for at, e in enumerate(node.expressions)
            ]
            return below.selectExpr(*made, EVENT_TIME, SEQUENCE, KIND_COLUMN)
        raise NotImplementedError(type(node).__name__)
