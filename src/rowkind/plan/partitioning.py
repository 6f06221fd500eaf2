"""By which columns the rows of a node are spread over tasks."""

from __future__ import annotations

from functools import singledispatch

from rowkind.join_kind import JoinKind
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.windowing import outlasting


@singledispatch
def partitioned_by(node: n.Node) -> tuple[str, ...] | None:
    """Rows that agree in these columns are in the same task; None: nothing is known. Empty: all rows are in one."""
    return None


@partitioned_by.register(n.Filter)
@partitioned_by.register(n.WatermarkAssigner)
@partitioned_by.register(n.Unnest)
def _(node: n.Filter | n.WatermarkAssigner | n.Unnest) -> tuple[str, ...] | None:
    return partitioned_by(node.input)


@partitioned_by.register
def _(node: t.WindowAssign) -> tuple[str, ...] | None:
    return node.window.partition if node.window.kind is t.WindowKind.SESSION else partitioned_by(node.input)


@partitioned_by.register
def _(node: n.Project) -> tuple[str, ...] | None:
    below = partitioned_by(node.input)
    if below is None:
        return None
    names = {e.expr.column: e.name for e in reversed(node.expressions) if e.expr.column is not None}
    return tuple(names[c] for c in below) if all(c in names for c in below) else None


@partitioned_by.register(n.Normalize)
@partitioned_by.register(n.SinkMaterialize)
@partitioned_by.register(n.SinkBuffer)
def _(node: n.Normalize | n.SinkMaterialize | n.SinkBuffer) -> tuple[str, ...] | None:
    return node.key


@partitioned_by.register
def _(node: n.Aggregate) -> tuple[str, ...] | None:
    return node.keys


@partitioned_by.register
def _(node: t.WindowAggregate) -> tuple[str, ...] | None:
    return outlasting(node.input, node.keys)


@partitioned_by.register(n.Rank)
@partitioned_by.register(t.Over)
def _(node: n.Rank | t.Over) -> tuple[str, ...] | None:
    return node.partition


@partitioned_by.register
def _(node: t.WindowRank) -> tuple[str, ...] | None:
    return outlasting(node.input, node.partition)


@partitioned_by.register(n.Join)
@partitioned_by.register(t.IntervalJoin)
@partitioned_by.register(t.TemporalJoin)
def _(node: n.Join | t.IntervalJoin | t.TemporalJoin) -> tuple[str, ...] | None:
    return _of_join(node.kind, node.left_keys, node.right_keys)


@partitioned_by.register
def _(node: t.WindowJoin) -> tuple[str, ...] | None:
    return _of_join(node.kind, outlasting(node.left, node.left_keys), outlasting(node.right, node.right_keys))


def _of_join(kind: JoinKind, left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...] | None:
    """A side that is padded has NULL where the other side has the key."""
    if kind is JoinKind.FULL and left:
        return None
    return right if kind is JoinKind.RIGHT else left


@partitioned_by.register
def _(node: n.SetDifference) -> tuple[str, ...] | None:
    return tuple(c.name for c in node.columns)
