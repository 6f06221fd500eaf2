"""Refuses changes below operators that take new rows only, because what they gave is never taken back."""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.described import described
from rowkind.plan.rules.check_sinks import culprit
from rowkind.plan.time_nodes import IntervalJoin, Over, WindowJoin, WindowRank
from rowkind.plan.traits import emits


def check_append(plan: n.Node) -> n.Node:
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
