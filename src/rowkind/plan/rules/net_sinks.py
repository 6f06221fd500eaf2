"""Behind a stateful operator an upsert sink writes the net change per key and batch; a pipe writes every message."""

from __future__ import annotations

from dataclasses import replace

from rowkind.plan import nodes as n

STATELESS = (n.Scan, n.Values, n.Project, n.Filter, n.Union, n.WatermarkAssigner, n.Sink, n.Print)


def net_sinks(plan: n.Node) -> n.Node:
    if isinstance(plan, n.Sink) and plan.table.upsert and stateful(plan):
        return replace(plan, net=True)
    return plan


def stateful(plan: n.Node) -> bool:
    """Whether any operator of the plan keeps state."""
    return any(not isinstance(node, STATELESS) for node in n.walk(plan))
