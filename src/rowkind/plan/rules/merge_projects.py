"""Makes one projection of two that follow each other, where the upper one only picks and renames."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rowkind.plan import nodes as n


def merge_projects(plan: n.Node) -> n.Node:
    return n.transform(plan, _merged)


def _merged(node: n.Node) -> n.Node:
    if not isinstance(node, n.Project):
        return node
    below = node.input
    if isinstance(below, n.Project) and _picks(node, below):
        made = {e.name: e.expr for e in below.expressions}
        picked = (n.Named(e.name, replace(made[str(e.expr.column)], type=e.expr.type)) for e in node.expressions)
        node = n.Project(below.input, tuple(picked))
    return node.input if _same(node) else node


def _picks(node: n.Project, below: n.Project) -> bool:
    """Whether the upper projection computes nothing, and makes no computed column of the lower one twice."""
    uses = Counter(e.expr.column for e in node.expressions)
    computed = [e.name for e in below.expressions if e.expr.column is None]
    return None not in uses and all(uses[name] <= 1 for name in computed)


def _same(node: n.Project) -> bool:
    return [(e.name, e.expr.column, e.expr.type) for e in node.expressions] == [
        (c.name, c.name, c.type) for c in node.input.columns
    ]
