"""Leaves out columns that nobody above reads, so that operators neither keep nor send them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, singledispatch

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.columns import only_columns
from rowkind.plan.demands import gather, rebuild

Names = frozenset[str]

_NARROW = (
    n.Normalize,
    n.Rank,
    n.Join,
    n.Union,
    t.WindowAssign,
    t.WindowRank,
    t.WindowJoin,
    t.IntervalJoin,
    t.TemporalJoin,
    t.Over,
)
"""Operators that keep or repeat whole rows: each gets exactly what it reads, even if others read more of its input."""


def prune_columns(plans: Sequence[n.Node]) -> list[n.Node]:
    """Rankings lose their number, too, where nobody reads it: then a row that only moves is no change."""
    wanted: dict[n.Node, Names] = gather(plans, _all, lambda node, own: reads(node, own), lambda a, b: a | b)
    return rebuild(plans, partial(_rebuilt, wanted))


def _rebuilt(wanted: dict[n.Node, Names], node: n.Node, inputs: tuple[n.Node, ...]) -> n.Node:
    if isinstance(node, t.Over) and node.calls and not wanted[node] & {call.name for call in node.calls}:
        return inputs[0]
    if isinstance(node, _NARROW):
        asked = zip(node.inputs, inputs, reads(node, wanted[node]), strict=True)
        inputs = tuple(only_columns(now, [c.name for c in was.columns if c.name in read]) for was, now, read in asked)
    return _cut(node, wanted[node]).with_inputs(inputs)


def _cut(node: n.Node, wanted: Names) -> n.Node:
    """The node without what it makes in vain. Calls of a grouping stay: they are part of what it keeps."""
    if isinstance(node, n.Project):
        return replace(node, expressions=tuple(e for e in node.expressions if e.name in wanted))
    if isinstance(node, (n.Rank, t.WindowRank)) and node.rank not in wanted:
        return replace(node, rank=None, rank_type=None)
    if isinstance(node, t.Over):
        return replace(node, calls=tuple(call for call in node.calls if call.name in wanted))
    return node


@singledispatch
def reads(node: n.Node, wanted: Names) -> tuple[Names, ...]:
    """The columns that a node reads of each input, if these of its own are wanted. By default it reads all there is."""
    return tuple(_all(below) for below in node.inputs)


@reads.register
def _(node: n.Project, wanted: Names) -> tuple[Names, ...]:
    return (frozenset(c for made in node.expressions if made.name in wanted for c in made.expr.columns),)


@reads.register
def _(node: n.Filter, wanted: Names) -> tuple[Names, ...]:
    return (wanted | node.condition.columns,)


@reads.register
def _(node: n.WatermarkAssigner, wanted: Names) -> tuple[Names, ...]:
    return (wanted | {node.watermark.column} | node.watermark.expr.columns,)


@reads.register
def _(node: n.Normalize, wanted: Names) -> tuple[Names, ...]:
    return (wanted | frozenset(node.key),)


@reads.register
def _(node: n.Union, wanted: Names) -> tuple[Names, ...]:
    places = [place for place, column in enumerate(node.columns) if column.name in wanted]
    return tuple(frozenset(branch.columns[place].name for place in places) for branch in node.branches)


@reads.register(n.Aggregate)
@reads.register(t.WindowAggregate)
def _(node: n.Aggregate | t.WindowAggregate, wanted: Names) -> tuple[Names, ...]:
    return (frozenset(node.keys) | _arguments(node.calls),)


@reads.register(n.Rank)
@reads.register(t.WindowRank)
def _(node: n.Rank | t.WindowRank, wanted: Names) -> tuple[Names, ...]:
    own = (wanted - {node.rank}) | frozenset(node.partition) | {order.column for order in node.order}
    return (own | {node.end} if isinstance(node, t.WindowRank) else own,)


@reads.register
def _(node: t.Over, wanted: Names) -> tuple[Names, ...]:
    calls = [call for call in node.calls if call.name in wanted]
    own = wanted - {call.name for call in node.calls}
    if node.calls and not calls:
        return (own,)
    return (own | frozenset(node.partition) | {order.column for order in node.order} | _arguments(calls),)


@reads.register(n.Join)
@reads.register(t.WindowJoin)
@reads.register(t.IntervalJoin)
@reads.register(t.TemporalJoin)
def _(node: n.Join | t.WindowJoin | t.IntervalJoin | t.TemporalJoin, wanted: Names) -> tuple[Names, ...]:
    read = wanted | frozenset((*node.left_keys, *node.right_keys)) | _times(node)
    if node.residual is not None:
        read |= node.residual.columns
    return read & _all(node.left), read & _all(node.right)


def _times(node: n.Node) -> Names:
    if isinstance(node, t.WindowJoin):
        return frozenset((node.left_end, node.right_end))
    if isinstance(node, (t.IntervalJoin, t.TemporalJoin)):
        return frozenset(name for name in (node.left_time, node.right_time) if name is not None)
    return frozenset()


@reads.register
def _(node: n.Unnest, wanted: Names) -> tuple[Names, ...]:
    return ((wanted - {field.name for field in node.made}) | node.collection.columns,)


@reads.register
def _(node: t.WindowAssign, wanted: Names) -> tuple[Names, ...]:
    own = wanted - {t.WINDOW_START, t.WINDOW_END, t.WINDOW_TIME}
    return (own | {node.window.time, *node.window.partition},)


def _arguments(calls: Iterable[n.Call]) -> Names:
    return frozenset(name for call in calls for name in (*call.arguments, call.filter) if name is not None)


def _all(node: n.Node) -> Names:
    return frozenset(column.name for column in node.columns)
