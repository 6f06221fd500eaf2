"""Refuses an updating query into a sink that only takes new rows."""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.described import described
from rowkind.plan.time_nodes import WindowAssign
from rowkind.plan.traits import emits

_PASSING = (n.Project, n.Filter, n.Union, n.Unnest, n.WatermarkAssigner, WindowAssign)


def check_sinks(plan: n.Node) -> n.Node:
    if isinstance(plan, n.Sink) and plan.table.changelog is ChangelogMode.INSERT_ONLY:
        mode = emits(plan.input)
        if mode is not ChangelogMode.INSERT_ONLY:
            raise RowkindError(
                "UPDATES_INTO_APPEND_SINK",
                table=plan.table.name,
                changes="update and delete",
                operator=described(culprit(plan.input)),
                format=plan.table.value_format.name,
            )
    return plan


def culprit(node: n.Node) -> n.Node:
    """The uppermost node that turns new rows into changes."""
    for below in node.inputs:
        if emits(below) is not ChangelogMode.INSERT_ONLY and isinstance(node, _PASSING):
            return culprit(below)
    return node
