"""From a statement to the plan that runs: binding, rules, and the tables' options on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from rowkind.catalog.catalog import Catalog
from rowkind.catalog.tables import resolve
from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition, ViewDefinition
from rowkind.kinds import ChangelogMode
from rowkind.options.session_values import SessionOptions
from rowkind.plan import nodes as n
from rowkind.plan.analysis import Analyzer
from rowkind.plan.bind.coercion import coerced
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.insert import bind_insert
from rowkind.plan.bind.query import BINDER, bind_query
from rowkind.plan.bind.relations import bind_view
from rowkind.plan.columns import reference
from rowkind.plan.explain import explain
from rowkind.plan.optimizer import optimize, optimize_all
from rowkind.plan.traits import emits
from rowkind.sql.errors import Source
from rowkind.sql.statements import Insert, Select, StatementSet
from rowkind.types import BINARIES, STRING, Field, quote


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
        """The plan of a SELECT that shows its changes, or with ORDER BY over bounded tables its final rows.

        With `as_text` values come in the words of CAST(… AS STRING), but for bytes, which may be no text.
        """
        context = self._context()
        query = bind_query(statement.query, replace(context, shown=True))
        if not isinstance(query, n.Sorted):
            query = n.Sorted(query, (), len(query.columns))
        node, order, fields = query.input, query.order, query.columns[: query.width]
        plan = optimize(n.Print(_shown(node, fields, order, as_text, context), fields, _hidden(order)))
        assert isinstance(plan, n.Print)
        return plan

    def bind_view(self, view: ViewDefinition) -> n.Node:
        return bind_view(view, self._context())

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


def _shown(node: n.Node, fields: Sequence[Field], order: Sequence[n.Order], as_text: bool, context: Context) -> n.Node:
    """The columns to show, and behind them what they are sorted by, in its own types."""
    if not as_text and not order:
        return node
    known = {c.name: c.type for c in node.columns}
    plain = {c.name: n.Expr(reference(c.name), quote(c.name), c.type) for c in node.columns}
    made = []
    for shown in fields:
        expr = plain[shown.name]
        text = as_text and shown.type.root not in BINARIES
        made.append(n.Named(shown.name, coerced(expr, STRING, known, context) if text else expr))
    hidden = zip(_hidden(order), order, strict=True)
    return n.Project(node, (*made, *(n.Named(name.column, plain[by.column]) for name, by in hidden)))


def _hidden(order: Sequence[n.Order]) -> tuple[n.Order, ...]:
    """The order by columns under names that no query gives."""
    return tuple(replace(by, column=f"$by{number}") for number, by in enumerate(order))


def _appends(query: n.Node) -> bool:
    """Whether a query reads tables and only ever adds rows. VALUES alone are rows that somebody means by their keys."""
    return emits(query) is ChangelogMode.INSERT_ONLY and any(isinstance(node, n.Scan) for node in n.walk(query))


def plans_text(plans: Sequence[n.Node]) -> str:
    """EXPLAIN of several plans."""
    return "\n\n".join(explain(plan) for plan in plans)
