"""Top-N: a filter on the row number that a subquery computed bounds its ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.bind.scope import Scope
from rowkind.plan.windowing import windowing


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a condition says of a column: at least `low`, at most `high`."""

    column: str
    low: int | None = None
    high: int | None = None


def bind_rank_filter(scope: Scope, parts: Sequence[exp.Expr]) -> tuple[Scope, list[exp.Expr]]:
    """The scope with every ranking bounded that the resolved conditions bound, and the conditions that are left."""
    bounds = [(part, _bound(part)) for part in parts]
    for column in dict.fromkeys(b.column for _, b in bounds if b is not None):
        mine = [b for _, b in bounds if b is not None and b.column == column]
        highs, lows = [b.high for b in mine if b.high is not None], [b.low for b in mine if b.low is not None]
        first, last = max([1, *lows]), min(highs, default=0)
        node = _bounded(scope.node, column, first, last) if last >= first else None
        if node is not None:
            scope = replace(scope, node=node)
            bounds = [(part, b) for part, b in bounds if b is None or b.column != column]
    return scope, [part for part, _ in bounds]


def _bounded(node: n.Node, column: str, first: int, last: int) -> n.Node | None:
    """The plan with the open ranking behind a column cut to the ranks from first to last."""
    if isinstance(node, n.Rank):
        if node.rank == column:
            return _cut(node, first, last) if node.last is None else None
        return _through(node, 0, column, first, last)
    if isinstance(node, n.Project):
        made = next(e.expr for e in node.expressions if e.name == column)
        return _through(node, 0, made.column, first, last) if made.column is not None else None
    if isinstance(node, (n.Filter, n.WatermarkAssigner, n.Unnest, t.Over)):
        return _through(node, 0, column, first, last)
    if isinstance(node, n.Join):
        return _through(node, *_side(node, column), first, last)
    return None


def _side(node: n.Join, column: str) -> tuple[int, str | None]:
    """The side of a join that a column comes from, unless that side is padded."""
    on_left = any(c.name == column for c in node.left.columns)
    padded = (JoinKind.RIGHT, JoinKind.FULL) if on_left else (JoinKind.LEFT, JoinKind.FULL)
    return (0, None) if node.kind in padded else (0 if on_left else 1, column)


def _through(node: n.Node, index: int, column: str | None, first: int, last: int) -> n.Node | None:
    below = node.inputs[index]
    if column is None or all(c.name != column for c in below.columns):
        return None
    changed = _bounded(below, column, first, last)
    if changed is None:
        return None
    return node.with_inputs((*node.inputs[:index], changed, *node.inputs[index + 1 :]))


def _cut(node: n.Rank, first: int, last: int) -> n.Node:
    """A ranking within windows is given when the window closes, and never changes after."""
    found = windowing(node.input)
    bounds = found.bounds(node.partition) if found is not None and node.function == "ROW_NUMBER" else None
    if found is None or bounds is None:
        return replace(node, first=first, last=last)
    return t.WindowRank(
        node.input, node.partition, node.order, last, first, node.rank, node.rank_type, bounds[1], found.window
    )


def _bound(part: exp.Expr) -> _Bound | None:
    if isinstance(part, exp.Between) and not part.args.get("symmetric"):
        column, low, high = _column(part.this), _number(part.args["low"]), _number(part.args["high"])
        return _Bound(column, low, high) if column and low is not None and high is not None else None
    if not isinstance(part, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
        return None
    kind: type[exp.Expr] = type(part)
    column, value = _column(part.this), _number(part.expression)
    if column is None:
        column, value, kind = _column(part.expression), _number(part.this), _MIRRORED[type(part)]
    if column is None or value is None:
        return None
    if kind is exp.EQ:
        return _Bound(column, value, value)
    if kind in (exp.LT, exp.LTE):
        return _Bound(column, high=value - (kind is exp.LT))
    return _Bound(column, low=value + (kind is exp.GT))


_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def _column(tree: exp.Expr) -> str | None:
    tree = tree.unnest()
    return str(tree.name) if isinstance(tree, exp.Column) else None


def _number(tree: exp.Expr) -> int | None:
    tree = tree.unnest()
    return int(tree.name) if isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdigit() else None
