"""Holds rows back before a sink that asks for it: `sink.buffer-flush.*`."""

from __future__ import annotations

from dataclasses import replace

from rowkind.plan import nodes as n


def buffer_sinks(plan: n.Node) -> n.Node:
    """The buffer reduces the changes of a batch to one per key where the sink would have."""
    if not isinstance(plan, n.Sink) or not plan.table.sink.buffer_max_rows:
        return plan
    table = plan.table
    held = n.SinkBuffer(
        plan.input, table.primary_key, table.name, plan.net, table.sink.buffer_max_rows, table.sink.buffer_interval
    )
    return replace(plan, input=held, net=False)
