"""What binding needs to know: the catalog, Spark's analysis, the session, and the text that errors point into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from rowkind.catalog.catalog import Catalog
from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.plan.analysis import Analyzer
from rowkind.plan.bind.scope import Scope, position
from rowkind.plan.expressions import Typed, translate_all
from rowkind.plan.nodes import Expr, Node
from rowkind.sql.errors import Source
from rowkind.types import DataType, quote


class Resolver(Protocol):
    """Gives a table's resolved options; collects warnings on the way."""

    def __call__(self, definition: TableDefinition, side: Side) -> Table: ...


@dataclass(frozen=True, slots=True)
class Binder:
    """What a query may hold at any place inside: another query, the FROM and WHERE of one, an item of FROM."""

    query: Callable[[exp.Expr, Context], Node]
    where: Callable[[exp.Select, Context], Scope]
    item: Callable[[exp.Expr, Context], Scope]


@dataclass(frozen=True, slots=True)
class Context:
    """Handed down while a query is bound; whoever meets a query inside another asks here for its plan."""

    catalog: Catalog
    analyzer: Analyzer
    session: SessionOptions
    source: Source
    resolve: Resolver
    binder: Binder
    ctes: Mapping[str, Node] = field(default_factory=dict)
    nested: bool = False
    """Whether this is a query inside another one, whose order means nothing."""
    shown: bool = False
    """Whether the rows of the query are what a user looks at, so that they can be put in order at the end."""

    def inside(self) -> Context:
        return self if self.nested else replace(self, nested=True, shown=False)

    def with_cte(self, name: str, node: Node) -> Context:
        return replace(self, ctes={**self.ctes, name: node})

    def bind_query(self, query: exp.Expr) -> Node:
        return self.binder.query(query, self)

    def bind_where(self, select: exp.Select) -> Scope:
        """FROM and WHERE of a SELECT alone."""
        return self.binder.where(select, self)

    def bind_item(self, item: exp.Expr) -> Scope:
        """One item of FROM."""
        return self.binder.item(item, self)

    def error(self, condition: str, at: exp.Expr, /, **params: object) -> RowkindError:
        return self.source.error(condition, position(at), **params)

    def unsupported(self, at: exp.Expr, feature: str, instead: str) -> RowkindError:
        return self.error("UNSUPPORTED_SQL", at, feature=feature, instead=instead)

    def expr(self, tree: exp.Expr, scope: Scope) -> Expr:
        """A user's expression, its columns resolved, in Spark's words."""
        return self.exprs([scope.resolve(tree)], scope.types)[0]

    def exprs(self, resolved: Sequence[exp.Expr], types: Mapping[str, DataType]) -> list[Expr]:
        """Resolved expressions in Spark's words; one round of analysis for all of them, none for plain columns."""
        asked = [tree for tree in resolved if not _is_column(tree, types)]
        try:
            made = translate_all(asked, types, self.analyzer) if asked else []
        except RowkindError as error:
            if len(asked) == 1 and "place" not in error.params:
                raise self.error("EXPRESSION_ERROR", asked[0], reason=str(error)) from error
            raise
        told = iter(made)
        found = []
        for tree in resolved:
            typed = Typed(quote(tree.name), types[tree.name]) if _is_column(tree, types) else next(told)
            found.append(Expr(tree, typed.sql, typed.type))
        return found


def _is_column(tree: exp.Expr, types: Mapping[str, DataType]) -> bool:
    return isinstance(tree, exp.Column) and bool(tree.meta.get("resolved")) and tree.name in types
