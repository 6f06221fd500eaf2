"""Columns that say something of a message, not of the row in it."""

from __future__ import annotations

from rowkind.plan import nodes as n
from rowkind.plan.traits import keeps_state


def of_metadata(node: n.Node) -> frozenset[str]:
    """The columns of a node that are made of metadata as it was read.

    An old row (-U, -D) of a change event has in them what the new event says, so that nobody who keeps rows has one
    like it. What an operator with state hands on, it takes back as it was.
    """
    if isinstance(node, n.Scan):
        return frozenset(column.name for column in node.table.metadata)
    if keeps_state(node):
        return frozenset()
    if isinstance(node, n.Project):
        below = of_metadata(node.input)
        return frozenset(made.name for made in node.expressions if made.expr.columns & below)
    if isinstance(node, n.Union):
        return frozenset(
            column.name
            for branch in node.branches
            for column, own in zip(node.columns, branch.columns, strict=True)
            if own.name in of_metadata(branch)
        )
    return frozenset().union(*map(of_metadata, node.inputs))
