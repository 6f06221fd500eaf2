"""Keeps the live rows of a sink's key where the query identifies its rows by something else."""

from __future__ import annotations

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits, smallest_key, upsert_keys


def materialize_sinks(plan: n.Node) -> n.Node:
    """An updating query into an upsert sink whose primary key does not contain the query's key."""
    if not isinstance(plan, n.Sink) or not plan.table.upsert or emits(plan.input) is ChangelogMode.INSERT_ONLY:
        return plan
    key = plan.table.primary_key
    if any(known <= set(key) for known in upsert_keys(plan.input)):
        return plan
    kept = n.SinkMaterialize(plan.input, key, smallest_key(plan.input), plan.table.name, plan.on_conflict)
    return plan.with_inputs((kept,))
