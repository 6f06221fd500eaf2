"""Traits of a plan node: the changelog mode it emits, its upsert keys (in upsert_keys.py), whether it keeps state."""

from __future__ import annotations

from functools import singledispatch

from rowkind.join_kind import JoinKind
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.upsert_keys import Key, smallest_key, upsert_keys

__all__ = ["Key", "emits", "keeps_state", "smallest_key", "stateful", "upsert_keys"]

INSERT_ONLY, UPSERT, RETRACT = ChangelogMode.INSERT_ONLY, ChangelogMode.UPSERT, ChangelogMode.RETRACT
STATELESS = (n.Scan, n.Values, n.Project, n.Filter, n.Union, n.Unnest, n.WatermarkAssigner, n.Sink, n.Print)


@singledispatch
def emits(node: n.Node) -> ChangelogMode:
    """Which kinds of rows a node hands on."""
    modes = {emits(i) for i in node.inputs}
    if modes <= {INSERT_ONLY}:
        return INSERT_ONLY
    return UPSERT if UPSERT in modes else RETRACT


@emits.register
def _(node: n.Scan) -> ChangelogMode:
    mode = node.table.changelog
    return UPSERT if mode is RETRACT and not node.emit_before else mode


@emits.register
def _(node: n.Normalize) -> ChangelogMode:
    return _changes(node)


@emits.register
def _(node: n.Aggregate) -> ChangelogMode:
    distinct = not node.calls and node.keys
    return INSERT_ONLY if distinct and _append(node) else _changes(node)


@emits.register
def _(node: n.Rank) -> ChangelogMode:
    """Rows that came first keep their rank, and so does the first one by event time once time has passed it."""
    first = node.order[0] if node.order else None
    by_arrival = first is None or (first.arrival and not first.descending)
    return INSERT_ONLY if first_by_time(node) or (by_arrival and _append(node)) else _changes(node)


def first_by_time(node: n.Node) -> bool:
    """Whether a node is a Top-1 of new rows by ascending event time: it is given when the watermark passes it."""
    if not isinstance(node, n.Rank) or node.function != "ROW_NUMBER" or not node.first == node.last == 1:
        return False
    [order] = node.order if len(node.order) == 1 else [None]
    if order is None or order.descending or not _append(node):
        return False
    return time_attribute(node.input, order.column) is TimeAttribute.ROWTIME


@emits.register
def _(node: n.Join) -> ChangelogMode:
    grows = node.kind in (JoinKind.INNER, JoinKind.SEMI)
    return INSERT_ONLY if grows and _append(node) else _changes(node)


@emits.register
def _(node: n.SetDifference) -> ChangelogMode:
    return INSERT_ONLY if node.intersect and _append(node) else _changes(node)


@emits.register(n.SinkMaterialize)
@emits.register(n.SinkBuffer)
def _(node: n.SinkMaterialize | n.SinkBuffer) -> ChangelogMode:
    return UPSERT


@emits.register(t.WindowAggregate)
@emits.register(t.WindowRank)
@emits.register(t.WindowJoin)
@emits.register(t.IntervalJoin)
def _(node: n.Node) -> ChangelogMode:
    """What time has closed never changes."""
    return INSERT_ONLY


@emits.register
def _(node: t.TemporalJoin) -> ChangelogMode:
    return emits(node.left)


@emits.register
def _(node: t.Over) -> ChangelogMode:
    return INSERT_ONLY if node.time is not None or node.proctime else _changes(node)


def _append(node: n.Node) -> bool:
    return all(emits(below) is INSERT_ONLY for below in node.inputs)


def _changes(node: n.Normalize | n.Aggregate | n.Rank | n.Join | n.SetDifference | t.Over) -> ChangelogMode:
    return RETRACT if node.emit_before else UPSERT


def stateful(plan: n.Node) -> bool:
    """Whether any operator of the plan keeps state."""
    return any(keeps_state(node) for node in n.walk(plan))


def keeps_state(node: n.Node) -> bool:
    """Sessions grow with the rows to come; other windows follow from the row alone."""
    if isinstance(node, t.WindowAssign):
        return node.window.kind is t.WindowKind.SESSION
    return not isinstance(node, STATELESS)
