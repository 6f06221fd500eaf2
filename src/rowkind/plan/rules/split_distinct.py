"""Aggregates DISTINCT values in two stages, so that the values of one large group are spread over all partitions."""

from __future__ import annotations

from dataclasses import replace

from rowkind.aggregate_functions import AGGREGATE_FUNCTIONS, Keeps
from rowkind.plan import nodes as n


def split_distinct(plan: n.Node) -> n.Node:
    """As Flink does with `table.optimizer.distinct-agg.split.enabled`: by group and value first, then by group.

    Worth it wherever state tells which values are new: a single stage would have one partition look up all values of a
    group, while the second stage gets one row a group of each partition.
    """
    return n.transform(plan, _split)


def _split(node: n.Node) -> n.Node:
    if not isinstance(node, n.Aggregate) or not any(map(_keeps_distinct, node.calls)):
        return node
    return replace(node, split_distinct=True)


def _keeps_distinct(call: n.Call) -> bool:
    return AGGREGATE_FUNCTIONS[call.function].kept(call.distinct, append_only=True) is Keeps.DISTINCT
