"""The columns that an operator reads: those of the scope, and computed ones, each made once."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Scope
from rowkind.plan.columns import passed
from rowkind.plan.nodes import Named, Node, Project


@dataclass(slots=True)
class Inputs:
    scope: Scope
    context: Context
    made: dict[str, Named] = field(default_factory=dict)

    def column(self, tree: exp.Expr) -> Named:
        """The input column of a resolved expression: itself where it is a column, else a computed one."""
        expr = self.context.exprs([tree], self.scope.types)[0]
        if expr.sql not in self.made:
            self.made[expr.sql] = Named(expr.column or self._fresh(), expr)
        return self.made[expr.sql]

    def only(self) -> Node:
        """The scope's node cut to the columns that are read."""
        columns = tuple(self.made.values())
        plain = all(m.expr.column == m.name for m in columns)
        return self.scope.node if plain and columns else Project(self.scope.node, columns)

    def added(self) -> Node:
        """The scope's node with the computed columns beside its own."""
        node = self.scope.node
        computed = tuple(m for m in self.made.values() if m.expr.column is None)
        if not computed:
            return node
        return Project(node, (*(Named(c.name, passed(c.name, node)) for c in node.columns), *computed))

    def _fresh(self) -> str:
        taken = {c.name for c in self.scope.node.columns} | {m.name for m in self.made.values()}
        return fresh("$", taken)


def fresh(prefix: str, taken: set[str]) -> str:
    """A name that is not taken: the prefix and the first free number."""
    number = 0
    while f"{prefix}{number}" in taken:
        number += 1
    return f"{prefix}{number}"
