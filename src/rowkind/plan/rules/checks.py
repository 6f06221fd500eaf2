"""Refuses changes where only new rows can be taken: below certain operators, and in certain sinks."""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.described import described
from rowkind.plan.time_nodes import IntervalJoin, Over, WindowAssign, WindowJoin, WindowRank
from rowkind.plan.traits import emits

_PASSING = (n.Project, n.Filter, n.Union, n.Unnest, n.WatermarkAssigner, WindowAssign)


def check_sinks(plan: n.Node) -> n.Node:
    """A sink that only takes new rows cannot show what an updating query takes back."""
    if isinstance(plan, n.Sink) and plan.table.changelog is ChangelogMode.INSERT_ONLY:
        mode = emits(plan.input)
        if mode is not ChangelogMode.INSERT_ONLY:
            raise RowkindError(
                "UPDATES_INTO_APPEND_SINK",
                table=plan.table.name,
                changes="update and delete",
                operator=described(culprit(plan.input)),
                reason=plan.table.takes_new_rows_only,
            )
    return plan


def culprit(node: n.Node) -> n.Node:
    """The uppermost node that turns new rows into changes."""
    for below in node.inputs:
        if emits(below) is not ChangelogMode.INSERT_ONLY and isinstance(node, _PASSING):
            return culprit(below)
    return node


def check_append(plan: n.Node) -> n.Node:
    """Operators that take new rows only never take back what they gave."""
    for node in n.walk(plan):
        if not _append_only(node):
            continue
        for below in node.inputs:
            if emits(below) is not ChangelogMode.INSERT_ONLY:
                raise RowkindError("OPERATOR_NEEDS_APPEND", operator=described(node), below=described(culprit(below)))
    return plan


def _append_only(node: n.Node) -> bool:
    if isinstance(node, Over):
        return node.time is not None or node.proctime
    return isinstance(node, (WindowRank, WindowJoin, IntervalJoin))
