"""The planner after binding: rules, applied in order to all plans of a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rowkind.plan.nodes import Node
from rowkind.plan.rules.checks import check_append, check_sinks
from rowkind.plan.rules.drop_normalize import drop_normalize
from rowkind.plan.rules.merge_projects import merge_projects
from rowkind.plan.rules.number_by_time import number_by_time
from rowkind.plan.rules.prune_columns import prune_columns
from rowkind.plan.rules.sinks import buffer_sinks, materialize_sinks, net_sinks
from rowkind.plan.rules.split_distinct import split_distinct
from rowkind.plan.rules.update_before import update_before

Plans = list[Node]


def _each(rule: Callable[[Node], Node]) -> Callable[[Plans], Plans]:
    return lambda plans: [rule(plan) for plan in plans]


RULES: tuple[Callable[[Plans], Plans], ...] = (
    _each(number_by_time),
    prune_columns,
    _each(drop_normalize),
    _each(merge_projects),
    _each(check_append),
    _each(materialize_sinks),
    update_before,
    _each(check_sinks),
    _each(net_sinks),
    _each(buffer_sinks),
    _each(split_distinct),
)


def optimize_all(plans: Sequence[Node]) -> list[Node]:
    """The plans of one job as they run; what is equal in them stays equal, so that it is computed once."""
    found = list(plans)
    for rule in RULES:
        found = rule(found)
    return found


def optimize(plan: Node) -> Node:
    """The plan as it runs."""
    return optimize_all([plan])[0]
