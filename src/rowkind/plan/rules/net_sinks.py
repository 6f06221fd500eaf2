"""Behind a stateful operator an upsert sink writes the net change per key and batch; a pipe writes every message."""

from __future__ import annotations

from dataclasses import replace

from rowkind.plan import nodes as n
from rowkind.plan.time_nodes import WindowAssign, WindowKind

STATELESS = (n.Scan, n.Values, n.Project, n.Filter, n.Union, n.Unnest, n.WatermarkAssigner, n.Sink, n.Print)


def net_sinks(plan: n.Node) -> n.Node:
    if isinstance(plan, n.Sink) and plan.table.upsert and stateful(plan):
        return replace(plan, net=True)
    return plan


def stateful(plan: n.Node) -> bool:
    """Whether any operator of the plan keeps state."""
    return any(keeps_state(node) for node in n.walk(plan))


def keeps_state(node: n.Node) -> bool:
    """Sessions grow with the rows to come; other windows follow from the row alone."""
    if isinstance(node, WindowAssign):
        return node.window.kind is WindowKind.SESSION
    return not isinstance(node, STATELESS)
