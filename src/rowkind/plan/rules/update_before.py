"""Tells every operator that can give old rows (-U) whether anybody above needs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rowkind.plan import nodes as n
from rowkind.plan.traits import upsert_keys


def update_before(plan: n.Node) -> n.Node:
    return _visit(plan, needed=True)


def _visit(node: n.Node, needed: bool) -> n.Node:
    if hasattr(node, "emit_before") and node.emit_before != needed:
        changed: Any = node
        node = replace(changed, emit_before=needed)
    inputs = tuple(_visit(i, _needs(node, needed)) for i in node.inputs)
    return node.with_inputs(inputs) if inputs != node.inputs else node


def _needs(node: n.Node, needed: bool) -> bool:
    """Whether a node needs the old rows of its inputs, given that its own are needed or not."""
    if isinstance(node, n.Sink):
        return not node.table.upsert
    if isinstance(node, n.Project):
        # A projection that loses the key leaves only whole rows to tell changes apart.
        return needed or not upsert_keys(node)
    if isinstance(node, n.WatermarkAssigner):
        return needed
    return True
