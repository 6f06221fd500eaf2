"""Leaves out the Normalize of a source where what it reads is enough, and gives it the filters above it."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.described import described
from rowkind.plan.message_columns import of_metadata
from rowkind.plan.time_nodes import TemporalJoin
from rowkind.plan.traits import emits, keeps_state, upsert_keys


class _Wanted(Enum):
    """What a node takes from a source below it."""

    CHANGES = auto()
    """Every change with the very row it replaces: somebody keeps rows and must find that one."""
    EVENTS = auto()
    """Every change with the row it replaces, but nobody keeps rows: what it says of the event may be the new one's."""
    UPSERTS = auto()
    """The raw upserts: whoever reads them looks at the key and nothing else."""
    VERSIONS = auto()
    """The raw upserts, as versions of a row by its time."""


def drop_normalize(plan: n.Node) -> n.Node:
    """Raw upserts are enough where every step up to an upsert sink passes the key on and looks at nothing else."""
    return _visit(plan, _Wanted.EVENTS)


def _visit(node: n.Node, wanted: _Wanted) -> n.Node:
    if isinstance(node, n.Filter):
        if wanted is _Wanted.VERSIONS and not _on_key(node):
            raise RowkindError("VERSIONED_TABLE_FILTERED", table=_table(node), condition=node.condition.sql)
        if isinstance(node.input, n.Normalize) and not _raw_is_enough(node.input, _takes(node, 0, wanted)):
            node = _pushed(node.condition, node.input)
    if isinstance(node, n.Normalize):
        return node.input if _raw_is_enough(node, wanted) else node
    if isinstance(node, n.Rank) and wanted is _Wanted.VERSIONS:
        return _versions(node)
    inputs = tuple(_visit(below, _takes(node, index, wanted)) for index, below in enumerate(node.inputs))
    return node.with_inputs(inputs) if inputs != node.inputs else node


def _raw_is_enough(node: n.Normalize, wanted: _Wanted) -> bool:
    table = _scan(node).table
    if not table.upsert and not table.reading.repeats_events:
        return wanted is not _Wanted.CHANGES or not of_metadata(node.input)
    if wanted is _Wanted.UPSERTS:
        return node.filter is None and not table.reading.repeats_events and not _reads_metadata(node)
    return wanted is _Wanted.VERSIONS


def _reads_metadata(node: n.Normalize) -> bool:
    reader = next(above for above in n.walk(node) if any(isinstance(below, n.Scan) for below in above.inputs))
    known = {column.name for column in _scan(node).table.metadata}
    if not isinstance(reader, n.Project):
        return bool(known)
    return any(known & made.expr.columns for made in reader.expressions)


def _versions(node: n.Rank) -> n.Node:
    """The last row per key by time, over new rows only: every row is a version, so that none may be left out."""
    by_time = len(node.order) == 1 and time_attribute(node.input, node.order[0].column) is TimeAttribute.ROWTIME
    last = node.function == "ROW_NUMBER" and node.first == node.last == 1 and by_time and node.order[0].descending
    if not last or emits(node.input) is not ChangelogMode.INSERT_ONLY:
        raise RowkindError("VERSIONS_NOT_KEPT", operator=described(node))
    return _visit(node.input, _Wanted.CHANGES)


def _pushed(condition: n.Expr, normalize: n.Normalize) -> n.Node:
    """A filter on key columns goes below: it decides for all rows of a key. Others delete what no longer matches."""
    if condition.columns <= set(normalize.key):
        return replace(normalize, input=n.Filter(normalize.input, condition))
    return replace(normalize, filter=condition) if normalize.filter is None else n.Filter(normalize, condition)


def _takes(node: n.Node, index: int, wanted: _Wanted) -> _Wanted:
    """What a node takes from one of its inputs, given what is taken from it."""
    if isinstance(node, n.Sink):
        if not node.table.upsert:
            return _Wanted.EVENTS
        keyed = frozenset(node.table.primary_key) in upsert_keys(node.input)
        return _Wanted.UPSERTS if keyed else _Wanted.CHANGES
    if isinstance(node, TemporalJoin) and index == 1:
        return _Wanted.UPSERTS if node.proctime else _Wanted.VERSIONS
    if isinstance(node, n.Filter) and not _on_key(node):
        return _Wanted.EVENTS if wanted is _Wanted.UPSERTS else wanted
    if isinstance(node, (n.Project, n.WatermarkAssigner, n.Filter)):
        return wanted
    return wanted if wanted is _Wanted.EVENTS and not keeps_state(node) else _Wanted.CHANGES


def _on_key(node: n.Filter) -> bool:
    return any(node.condition.columns <= key for key in upsert_keys(node.input))


def _table(node: n.Node) -> str:
    return _scan(node).table.name


def _scan(node: n.Node) -> n.Scan:
    return next(below for below in n.walk(node) if isinstance(below, n.Scan))
