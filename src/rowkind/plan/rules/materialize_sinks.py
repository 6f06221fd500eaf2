"""Keeps the live rows of a sink's key where the query identifies its rows by something else."""

from __future__ import annotations

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.options.session_options import Placement
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits, smallest_key, upsert_keys


def materialize_sinks(plan: n.Node) -> n.Node:
    """An updating query into an upsert sink whose primary key does not contain the query's key."""
    if not isinstance(plan, n.Sink) or not plan.table.upsert:
        return plan
    other = _by_another_key(plan)
    if other and plan.conflict_named and plan.on_conflict is None:
        raise RowkindError("ON_CONFLICT_REQUIRED", table=plan.table.name, key=", ".join(plan.table.primary_key))
    if plan.materialize is Placement.NONE or (plan.materialize is Placement.AUTO and not other):
        return plan
    key = plan.table.primary_key
    kept = n.SinkMaterialize(plan.input, key, smallest_key(plan.input), plan.table.name, plan.on_conflict)
    return plan.with_inputs((kept,))


def _by_another_key(plan: n.Sink) -> bool:
    if emits(plan.input) is ChangelogMode.INSERT_ONLY:
        return False
    return not any(known <= set(plan.table.primary_key) for known in upsert_keys(plan.input))
