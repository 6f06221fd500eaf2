"""Puts a Normalize above every upsert source whose consumer needs more than the raw upserts."""

from __future__ import annotations

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits, upsert_keys


def normalize_sources(plan: n.Node) -> n.Node:
    """Raw upserts are enough where every step up to an upsert sink passes the key on and looks at nothing else."""
    return _visit(plan, accepts_upserts=False)


def _visit(node: n.Node, accepts_upserts: bool) -> n.Node:
    if isinstance(node, n.Scan):
        if emits(node) is not ChangelogMode.UPSERT or (accepts_upserts and not node.table.metadata):
            return node
        return n.Normalize(node, node.table.primary_key)
    if isinstance(node, n.Filter) and (pushed := _pushed(node)) is not None:
        return pushed
    inputs = tuple(_visit(i, _accepts(node, accepts_upserts)) for i in node.inputs)
    return node.with_inputs(inputs) if inputs != node.inputs else node


def _pushed(node: n.Filter) -> n.Node | None:
    """A filter on an upsert source: on key columns it stays below, else it moves into the Normalize."""
    below = node.input
    if not isinstance(below, n.Scan) or emits(below) is not ChangelogMode.UPSERT:
        return None
    if node.condition.columns <= set(below.table.primary_key):
        return None
    return n.Normalize(below, below.table.primary_key, node.condition)


def _accepts(node: n.Node, accepted: bool) -> bool:
    if isinstance(node, n.Sink):
        return node.table.upsert and any(key <= set(node.table.primary_key) for key in upsert_keys(node.input))
    if isinstance(node, n.Filter):
        return accepted and any(node.condition.columns <= key for key in upsert_keys(node.input))
    return accepted and isinstance(node, (n.Project, n.WatermarkAssigner))
