"""Tells every operator that can give old rows (-U) whether anybody above needs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rowkind.plan import nodes as n
from rowkind.plan.keys import Key, identified, smallest_key
from rowkind.plan.time_nodes import TemporalJoin


def update_before(plan: n.Node) -> n.Node:
    """Old rows can be left out where a reader tells rows apart by the very key by which the operator pairs them."""
    return _visit(plan, None)


def _visit(node: n.Node, reader: Key | None) -> n.Node:
    """`reader` is the key by which the reader above tells rows apart; None where it needs the old rows."""
    if hasattr(node, "emit_before"):
        pairs = smallest_key(node)
        needed = reader is None or pairs is None or reader != frozenset(pairs)
        changed: Any = node
        node = replace(changed, emit_before=needed)
    inputs = tuple(_visit(below, _reads_by(node, index, reader)) for index, below in enumerate(node.inputs))
    return node.with_inputs(inputs) if inputs != node.inputs else node


def _reads_by(node: n.Node, index: int, reader: Key | None) -> Key | None:
    """The key by which a node tells apart the rows of one of its inputs."""
    if isinstance(node, n.Sink):
        return frozenset(node.table.primary_key) if node.table.upsert else None
    if isinstance(node, TemporalJoin) and index == 1:
        return frozenset(node.right_keys)
    if isinstance(node, n.WatermarkAssigner):
        return reader
    if isinstance(node, n.Project) and reader is not None:
        sources = {made.name: identified(made.expr, node.input) for made in node.expressions}
        below = [sources[name] for name in reader]
        return frozenset(name for name in below if name is not None) if None not in below else None
    return None
