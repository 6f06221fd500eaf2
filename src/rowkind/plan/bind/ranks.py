"""Top-N: a filter on the row number that a subquery computed."""

from __future__ import annotations

from sqlglot import exp

from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Scope


def bind_rank_filter(scope: Scope, condition: exp.Expr, context: Context) -> Scope | None:
    """The scope with the Top-N that the condition makes of a ROW_NUMBER(), if it is one."""
    return None
