"""Conditions of WHERE and ON: taken apart at AND, and decided as far down in FROM as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.ranks import bind_rank_filter
from rowkind.plan.bind.scope import Scope
from rowkind.plan.nodes import Filter
from rowkind.types import Root


def conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that are joined by AND."""
    tree = tree.unnest()
    if isinstance(tree, exp.And):
        return [*conjuncts(tree.this), *conjuncts(tree.expression)]
    return [tree]


def filtered(scope: Scope, parts: Sequence[exp.Expr], context: Context) -> Scope:
    """The rows for which all resolved parts are true; a bound on a row number makes a Top-N of it."""
    scope, rest = bind_rank_filter(scope, parts)
    if not rest:
        return scope
    condition = context.exprs([exp.and_(*rest, copy=True)], scope.types)[0]
    if condition.type.root not in (Root.BOOLEAN, Root.NULL):
        raise context.error("EXPRESSION_ERROR", rest[0], reason=f"a condition must be BOOLEAN, not {condition.type}")
    return replace(scope, node=Filter(scope.node, condition))


@dataclass(slots=True)
class Waiting:
    """Parts of WHERE on their way down: each is taken by the first relation or join that has all its columns.

    Nobody above an outer join may hand them down to the side that it pads; that is for the caller to see to.
    """

    parts: list[exp.Expr] = field(default_factory=list)
    taken: list[exp.Expr] = field(default_factory=list)

    def take(self, scope: Scope) -> list[exp.Expr]:
        """The parts that the scope can decide, resolved."""
        found = []
        for part in list(self.parts):
            resolved = resolvable(part, scope)
            if resolved is not None:
                self.parts.remove(part)
                self.taken.append(part)
                found.append(resolved)
        return found


def resolvable(part: exp.Expr, scope: Scope) -> exp.Expr | None:
    """The part in terms of the scope, if it reads columns and all of them are there."""
    if part.find(exp.Query) or part.find(exp.Column) is None:
        return None
    try:
        return scope.resolve(part)
    except RowkindError:
        return None
