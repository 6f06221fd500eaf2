"""Puts a Normalize above every upsert source whose consumer needs more than the raw upserts."""

from __future__ import annotations

from enum import Enum, auto

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.time_nodes import TemporalJoin
from rowkind.plan.traits import emits, upsert_keys


class _Wanted(Enum):
    """What a node takes from an upsert source below it."""

    CHANGES = auto()
    """Every change with the old row it replaces."""
    UPSERTS = auto()
    """The raw upserts: whoever reads them looks at the key and nothing else."""
    VERSIONS = auto()
    """The raw upserts, as versions of a row by its time."""


def normalize_sources(plan: n.Node) -> n.Node:
    """Raw upserts are enough where every step up to an upsert sink passes the key on and looks at nothing else."""
    return _visit(plan, _Wanted.CHANGES)


def _visit(node: n.Node, wanted: _Wanted) -> n.Node:
    if isinstance(node, n.Scan):
        return _source(node, wanted)
    if isinstance(node, n.Filter):
        if wanted is _Wanted.VERSIONS and not _on_key(node):
            raise RowkindError("VERSIONED_TABLE_FILTERED", table=_table(node), condition=node.condition.sql)
        if (pushed := _pushed(node)) is not None:
            return pushed
    inputs = tuple(_visit(below, _takes(node, index, wanted)) for index, below in enumerate(node.inputs))
    return node.with_inputs(inputs) if inputs != node.inputs else node


def _source(node: n.Scan, wanted: _Wanted) -> n.Node:
    if emits(node) is not ChangelogMode.UPSERT or wanted is _Wanted.VERSIONS:
        return node
    if wanted is _Wanted.UPSERTS and not node.table.metadata:
        return node
    return n.Normalize(node, node.table.primary_key)


def _pushed(node: n.Filter) -> n.Node | None:
    """A filter on an upsert source: on key columns it stays below, else it moves into the Normalize."""
    below = node.input
    if not isinstance(below, n.Scan) or emits(below) is not ChangelogMode.UPSERT:
        return None
    if node.condition.columns <= set(below.table.primary_key):
        return None
    return n.Normalize(below, below.table.primary_key, node.condition)


def _takes(node: n.Node, index: int, wanted: _Wanted) -> _Wanted:
    """What a node takes from one of its inputs, given what is taken from it."""
    if isinstance(node, n.Sink):
        keyed = node.table.upsert and frozenset(node.table.primary_key) in upsert_keys(node.input)
        return _Wanted.UPSERTS if keyed else _Wanted.CHANGES
    if isinstance(node, TemporalJoin) and index == 1 and not node.proctime:
        return _Wanted.VERSIONS
    if isinstance(node, TemporalJoin) and index == 1:
        return _Wanted.UPSERTS
    if isinstance(node, n.Filter):
        return wanted if _on_key(node) else _Wanted.CHANGES
    return wanted if isinstance(node, (n.Project, n.WatermarkAssigner)) else _Wanted.CHANGES


def _on_key(node: n.Filter) -> bool:
    return any(node.condition.columns <= key for key in upsert_keys(node.input))


def _table(node: n.Node) -> str:
    return next(below.table.name for below in n.walk(node) if isinstance(below, n.Scan))
