"""The planner after binding: one tuple of rules, applied in order."""

from __future__ import annotations

from collections.abc import Callable

from rowkind.plan.nodes import Node
from rowkind.plan.rules.check_append import check_append
from rowkind.plan.rules.check_sinks import check_sinks
from rowkind.plan.rules.materialize_sinks import materialize_sinks
from rowkind.plan.rules.net_sinks import net_sinks
from rowkind.plan.rules.normalize_sources import normalize_sources
from rowkind.plan.rules.number_by_time import number_by_time
from rowkind.plan.rules.prune_columns import prune_columns
from rowkind.plan.rules.update_before import update_before

RULES: tuple[Callable[[Node], Node], ...] = (
    number_by_time,
    prune_columns,
    normalize_sources,
    check_append,
    materialize_sinks,
    update_before,
    check_sinks,
    net_sinks,
)


def optimize(plan: Node) -> Node:
    """The plan as it runs."""
    for rule in RULES:
        plan = rule(plan)
    return plan
