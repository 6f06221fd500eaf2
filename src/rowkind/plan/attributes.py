"""Time attributes: which columns of a node are the event time or the processing time of its rows."""

from __future__ import annotations

from enum import StrEnum
from functools import singledispatch

from sqlglot import exp

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t


class TimeAttribute(StrEnum):
    ROWTIME = "rowtime"
    PROCTIME = "proctime"


@singledispatch
def time_attribute(node: n.Node, column: str) -> TimeAttribute | None:
    """What kind of time a column is; None for an ordinary column, also for a timestamp that has lost its watermark.

    Grouping and regular joins give ordinary columns, as in Flink: their rows no longer come by time.
    """
    return None


@time_attribute.register
def _(node: n.WatermarkAssigner, column: str) -> TimeAttribute | None:
    return TimeAttribute.ROWTIME if column == node.watermark.column else time_attribute(node.input, column)


@time_attribute.register
def _(node: n.Project, column: str) -> TimeAttribute | None:
    made = next((e.expr for e in node.expressions if e.name == column), None)
    if made is None:
        return None
    if is_proctime_call(made.tree):
        return TimeAttribute.PROCTIME
    return time_attribute(node.input, made.column) if made.column is not None else None


@time_attribute.register(n.Filter)
@time_attribute.register(n.Normalize)
@time_attribute.register(n.Rank)
@time_attribute.register(n.Unnest)
@time_attribute.register(t.WindowRank)
@time_attribute.register(t.Over)
def _(node: n.Unary, column: str) -> TimeAttribute | None:
    return time_attribute(node.input, column)


@time_attribute.register
def _(node: n.Union, column: str) -> TimeAttribute | None:
    place = [c.name for c in node.columns].index(column)
    kinds = {time_attribute(branch, branch.columns[place].name) for branch in node.branches}
    return kinds.pop() if len(kinds) == 1 else None


@time_attribute.register
def _(node: t.WindowAssign, column: str) -> TimeAttribute | None:
    """The column that was windowed becomes an ordinary one; window_time takes its place."""
    if column == t.WINDOW_TIME:
        return TimeAttribute.PROCTIME if node.window.proctime else TimeAttribute.ROWTIME
    return None if column == node.window.time else time_attribute(node.input, column)


@time_attribute.register
def _(node: t.WindowAggregate, column: str) -> TimeAttribute | None:
    return time_attribute(node.input, column) if column in node.keys else None


@time_attribute.register(t.WindowJoin)
@time_attribute.register(t.IntervalJoin)
def _(node: t.WindowJoin | t.IntervalJoin, column: str) -> TimeAttribute | None:
    side = node.left if column in {c.name for c in node.left.columns} else node.right
    return time_attribute(side, column)


@time_attribute.register
def _(node: t.TemporalJoin, column: str) -> TimeAttribute | None:
    return time_attribute(node.left, column) if column in {c.name for c in node.left.columns} else None


def rowtime_of(node: n.Node) -> str | None:
    """The event-time column of a node, if it has one."""
    return next((c.name for c in node.columns if time_attribute(node, c.name) is TimeAttribute.ROWTIME), None)


def is_proctime_call(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Anonymous) and tree.name.upper() == "PROCTIME"
