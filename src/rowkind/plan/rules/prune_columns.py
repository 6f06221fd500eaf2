"""Leaves out columns that nobody above reads, so that operators neither keep nor send them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.columns import only_columns

Names = frozenset[str]


def prune_columns(plan: n.Node) -> n.Node:
    """Rankings lose their number, too, where nobody reads it: then a row that only moves is no change."""
    return _pruned(plan, _all(plan))


@singledispatch
def _pruned(node: n.Node, wanted: Names) -> n.Node:
    """The node with the wanted columns at least. By default it reads all there is."""
    return node.with_inputs(tuple(_pruned(below, _all(below)) for below in node.inputs))


@_pruned.register
def _(node: n.Project, wanted: Names) -> n.Node:
    kept = tuple(made for made in node.expressions if made.name in wanted)
    read = frozenset(column for made in kept for column in made.expr.columns)
    return n.Project(_pruned(node.input, read), kept)


@_pruned.register
def _(node: n.Filter, wanted: Names) -> n.Node:
    return replace(node, input=_pruned(node.input, wanted | node.condition.columns))


@_pruned.register
def _(node: n.WatermarkAssigner, wanted: Names) -> n.Node:
    read = wanted | {node.watermark.column} | node.watermark.expr.columns
    return replace(node, input=_pruned(node.input, read))


@_pruned.register
def _(node: n.Union, wanted: Names) -> n.Node:
    places = [place for place, column in enumerate(node.columns) if column.name in wanted]
    branches = []
    for branch in node.branches:
        names = [branch.columns[place].name for place in places]
        branches.append(only_columns(_pruned(branch, frozenset(names)), names))
    return n.Union(tuple(branches))


@_pruned.register(n.Aggregate)
@_pruned.register(t.WindowAggregate)
def _(node: n.Aggregate | t.WindowAggregate, wanted: Names) -> n.Node:
    """Calls stay, read or not, so that two readers of one grouping keep sharing it."""
    return replace(node, input=_pruned(node.input, frozenset(node.keys) | _read(node.calls)))


@_pruned.register(n.Rank)
@_pruned.register(t.WindowRank)
def _(node: n.Rank | t.WindowRank, wanted: Names) -> n.Node:
    if node.rank not in wanted:
        node = replace(node, rank=None, rank_type=None)
    read = (wanted - {node.rank}) | frozenset(node.partition) | {order.column for order in node.order}
    if isinstance(node, t.WindowRank):
        read |= {node.end}
    return replace(node, input=_narrow(node.input, read))


@_pruned.register
def _(node: t.Over, wanted: Names) -> n.Node:
    calls = tuple(call for call in node.calls if call.name in wanted)
    if node.calls and not calls:
        return _pruned(node.input, wanted)
    read = frozenset(node.partition) | {order.column for order in node.order} | _read(calls)
    own = wanted - {call.name for call in node.calls}
    return replace(node, input=_narrow(node.input, own | read), calls=calls)


@_pruned.register(n.Join)
@_pruned.register(t.WindowJoin)
@_pruned.register(t.IntervalJoin)
@_pruned.register(t.TemporalJoin)
def _(node: n.Join | t.WindowJoin | t.IntervalJoin | t.TemporalJoin, wanted: Names) -> n.Node:
    read = wanted | frozenset((*node.left_keys, *node.right_keys)) | _times(node)
    if node.residual is not None:
        read |= node.residual.columns
    return replace(node, left=_narrow(node.left, read), right=_narrow(node.right, read))


def _times(node: n.Node) -> Names:
    if isinstance(node, t.WindowJoin):
        return frozenset((node.left_end, node.right_end))
    if isinstance(node, (t.IntervalJoin, t.TemporalJoin)):
        return frozenset(name for name in (node.left_time, node.right_time) if name is not None)
    return frozenset()


@_pruned.register
def _(node: n.Unnest, wanted: Names) -> n.Node:
    own = wanted - {field.name for field in node.made}
    return replace(node, input=_pruned(node.input, own | node.collection.columns))


@_pruned.register
def _(node: t.WindowAssign, wanted: Names) -> n.Node:
    own = wanted - {t.WINDOW_START, t.WINDOW_END, t.WINDOW_TIME}
    return replace(node, input=_narrow(node.input, own | {node.window.time, *node.window.partition}))


def _narrow(node: n.Node, read: Iterable[str]) -> n.Node:
    """The node with exactly those of its columns that are read."""
    names = [column.name for column in node.columns if column.name in read]
    return only_columns(_pruned(node, frozenset(names)), names)


def _read(calls: Iterable[n.Call]) -> Names:
    return frozenset(name for call in calls for name in (*call.arguments, call.filter) if name is not None)


def _all(node: n.Node) -> Names:
    return frozenset(column.name for column in node.columns)
