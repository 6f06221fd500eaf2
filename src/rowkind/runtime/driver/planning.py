"""From a statement to the plan that runs: binding, rules, and the tables' options on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from rowkind.catalog.catalog import Catalog
from rowkind.catalog.tables import resolve
from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition
from rowkind.kinds import ChangelogMode
from rowkind.options.session_values import SessionOptions
from rowkind.plan import nodes as n
from rowkind.plan.analysis import Analyzer
from rowkind.plan.bind.coercion import cast_columns
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.insert import bind_insert
from rowkind.plan.bind.query import BINDER, bind_query
from rowkind.plan.explain import explain
from rowkind.plan.optimizer import optimize, optimize_all
from rowkind.plan.traits import emits
from rowkind.sql.errors import Source
from rowkind.sql.statements import Insert, Select, StatementSet
from rowkind.types import STRING, Field


@dataclass
class Planner:
    """Plans the statements of a session; warnings gather until they are taken."""

    catalog: Catalog
    analyzer: Analyzer
    options: SessionOptions
    source: Source
    warnings: list[str] = field(default_factory=list)

    def inserts(self, statement: Insert | StatementSet) -> list[n.Node]:
        """The plans of the INSERTs that run as one job."""
        written = statement.inserts if isinstance(statement, StatementSet) else (statement,)
        sinks = [bind_insert(insert, self._context(), index) for index, insert in enumerate(written)]
        return [self._checked(plan) for plan in optimize_all(sinks)]

    def select(self, statement: Select, as_text: bool = False) -> n.Print:
        """The plan of a SELECT that shows its changes; with `as_text` in the words of CAST(… AS STRING)."""
        query = self.query(statement.query)
        shown: n.Node = query
        if as_text:
            shown = cast_columns(query, [STRING] * len(query.columns), self._context())
        plan = optimize(n.Print(shown, tuple(c.name for c in query.columns)))
        assert isinstance(plan, n.Print)
        return plan

    def query(self, query: exp.Expr) -> n.Node:
        return bind_query(query, self._context())

    def columns(self, definition: TableDefinition) -> tuple[Field, ...]:
        """A table's columns as a query sees them, computed ones included."""
        return self.query(
            exp.select("*").from_(exp.Table(this=exp.to_identifier(definition.name, quoted=True)))
        ).columns

    def take_warnings(self) -> list[str]:
        taken = list(dict.fromkeys(self.warnings))
        self.warnings.clear()
        return taken

    def _context(self) -> Context:
        return Context(self.catalog, self.analyzer, self.options, self.source, self._resolve, BINDER)

    def _resolve(self, definition: TableDefinition, side: Side) -> Table:
        table, warnings = resolve(definition, self.options, side)
        self.warnings += warnings
        return table

    def _checked(self, plan: n.Node) -> n.Node:
        if isinstance(plan, n.Sink) and plan.table.upsert and _appends(plan.input):
            self.warnings.append(
                f"Table '{plan.table.name}' is an upsert table but the query only adds rows: a later row replaces an "
                "earlier one with the same key. If every row is to be kept, use the 'kafka' connector."
            )
        return plan


def _appends(query: n.Node) -> bool:
    """Whether a query reads tables and only ever adds rows. VALUES alone are rows that somebody means by their keys."""
    return emits(query) is ChangelogMode.INSERT_ONLY and any(isinstance(node, n.Scan) for node in n.walk(query))


def plans_text(plans: Sequence[n.Node]) -> str:
    """EXPLAIN of several plans."""
    return "\n\n".join(explain(plan) for plan in plans)
