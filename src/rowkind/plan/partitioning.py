"""By which columns the rows of a node are spread over tasks."""

from __future__ import annotations

from functools import singledispatch

from rowkind.plan import nodes as n


@singledispatch
def partitioned_by(node: n.Node) -> tuple[str, ...] | None:
    """Rows that agree in these columns are in the same task; None: nothing is known. Empty: all rows are in one."""
    return None


@partitioned_by.register(n.Filter)
@partitioned_by.register(n.WatermarkAssigner)
def _(node: n.Filter | n.WatermarkAssigner) -> tuple[str, ...] | None:
    return partitioned_by(node.input)


@partitioned_by.register
def _(node: n.Project) -> tuple[str, ...] | None:
    below = partitioned_by(node.input)
    if below is None:
        return None
    names = {e.expr.column: e.name for e in reversed(node.expressions) if e.expr.column is not None}
    return tuple(names[c] for c in below) if all(c in names for c in below) else None


@partitioned_by.register(n.Normalize)
@partitioned_by.register(n.SinkMaterialize)
def _(node: n.Normalize | n.SinkMaterialize) -> tuple[str, ...] | None:
    return node.key


@partitioned_by.register
def _(node: n.Aggregate) -> tuple[str, ...] | None:
    return node.keys


@partitioned_by.register
def _(node: n.Rank) -> tuple[str, ...] | None:
    return node.partition


@partitioned_by.register
def _(node: n.Join) -> tuple[str, ...] | None:
    return node.left_keys if node.kind is not n.JoinKind.RIGHT and node.kind is not n.JoinKind.FULL else None
