"""What a sink needs before it: the live rows of its key, the net change of a batch, rows held back."""

from __future__ import annotations

from dataclasses import replace

from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.options.session_options import Placement
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits, smallest_key, stateful, upsert_keys


def materialize_sinks(plan: n.Node) -> n.Node:
    """Keeps the live rows of a sink's primary key where it does not contain the key of an updating query."""
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


def net_sinks(plan: n.Node) -> n.Node:
    """Behind a stateful operator an upsert sink writes the net change per key and batch; a pipe, every message."""
    if isinstance(plan, n.Sink) and plan.table.upsert and stateful(plan):
        return replace(plan, net=True)
    return plan


def buffer_sinks(plan: n.Node) -> n.Node:
    """`sink.buffer-flush.*`: the buffer reduces the changes of a batch to one per key where the sink would have."""
    if not isinstance(plan, n.Sink) or not plan.table.writing.buffer_max_rows:
        return plan
    table, writing = plan.table, plan.table.writing
    held = n.SinkBuffer(
        plan.input, table.primary_key, table.name, plan.net, writing.buffer_max_rows, writing.buffer_interval
    )
    return replace(plan, input=held, net=False)
