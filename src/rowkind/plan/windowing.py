"""Which columns of a node tell the window that its rows belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import singledispatch

from rowkind.join_kind import JoinKind
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.attributes import time_attribute


@dataclass(frozen=True, slots=True)
class Windowing:
    """The window of a node's rows: what made it, and the columns that hold its bounds."""

    window: t.WindowSpec
    starts: frozenset[str]
    ends: frozenset[str]

    def bounds(self, columns: Iterable[str]) -> tuple[str, str] | None:
        """The start and the end of the window among the columns, if both are there."""
        names = tuple(columns)
        start = next((c for c in names if c in self.starts), None)
        end = next((c for c in names if c in self.ends), None)
        return (start, end) if start is not None and end is not None else None


def outlasting(node: n.Node, keys: Iterable[str]) -> tuple[str, ...]:
    """The keys of a node's rows without those that tell their window.

    Rows are spread by these, as in Flink: the windows of a key close in one place, one after the other.
    """
    found = windowing(node)
    bounds = frozenset[str]() if found is None else found.starts | found.ends
    return tuple(key for key in keys if key not in bounds and time_attribute(node, key) is None)


@singledispatch
def windowing(node: n.Node) -> Windowing | None:
    """The window of the node's rows, as long as the columns of its bounds are passed on."""
    return None


@windowing.register
def _(node: t.WindowAssign) -> Windowing | None:
    return Windowing(node.window, frozenset({t.WINDOW_START}), frozenset({t.WINDOW_END}))


@windowing.register(n.Filter)
@windowing.register(n.Unnest)
@windowing.register(n.Rank)
@windowing.register(t.WindowRank)
def _(node: n.Unary) -> Windowing | None:
    return windowing(node.input)


@windowing.register
def _(node: n.Project) -> Windowing | None:
    names: dict[str, set[str]] = {}
    for made in node.expressions:
        if made.expr.column is not None:
            names.setdefault(made.expr.column, set()).add(made.name)
    return _named(windowing(node.input), lambda column: names.get(column, set()))


@windowing.register
def _(node: t.WindowAggregate) -> Windowing | None:
    return _named(windowing(node.input), lambda column: {column} & set(node.keys))


@windowing.register
def _(node: n.Union) -> Windowing | None:
    found = [windowing(branch) for branch in node.branches]
    names = [{c.name: first.name for c, first in zip(b.columns, node.columns, strict=True)} for b in node.branches]
    moved = {_named(w, lambda column, to=to: {to[column]}) for w, to in zip(found, names, strict=True)}  # type: ignore[misc]
    return moved.pop() if len(moved) == 1 else None


@windowing.register
def _(node: t.WindowJoin) -> Windowing | None:
    """Both sides are in the same window; a side that may be padded does not tell it."""
    left, right = windowing(node.left), windowing(node.right)
    match node.kind:
        case JoinKind.FULL:
            return None
        case JoinKind.RIGHT:
            return right
        case JoinKind.INNER if left is not None and right is not None:
            return Windowing(left.window, left.starts | right.starts, left.ends | right.ends)
        case _:
            return left


def _named(found: Windowing | None, names: Callable[[str], set[str]]) -> Windowing | None:
    if found is None:
        return None
    starts = frozenset().union(*(names(c) for c in found.starts))
    ends = frozenset().union(*(names(c) for c in found.ends))
    return Windowing(found.window, starts, ends) if starts or ends else None
