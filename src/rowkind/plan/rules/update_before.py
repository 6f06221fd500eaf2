"""Tells every operator that can give old rows (-U) whether anybody above needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rowkind.plan import nodes as n
from rowkind.plan.demands import gather, rebuild
from rowkind.plan.time_nodes import TemporalJoin
from rowkind.plan.upsert_keys import Key, identified, smallest_key


def update_before(plans: Sequence[n.Node]) -> list[n.Node]:
    """Old rows can be left out where all readers tell rows apart by the very key by which the operator pairs them."""
    readers: dict[n.Node, Key | None] = gather(plans, _of_root, _read_by, lambda a, b: a if a == b else None)
    return rebuild(plans, partial(_rebuilt, readers))


def _of_root(plan: n.Node) -> Key | None:
    return None


def _rebuilt(readers: dict[n.Node, Key | None], node: n.Node, inputs: tuple[n.Node, ...]) -> n.Node:
    made: Any = node.with_inputs(inputs)
    if not hasattr(made, "emit_before"):
        return node.with_inputs(inputs)
    pairs = smallest_key(node)
    return replace(made, emit_before=pairs is None or readers[node] != frozenset(pairs))  # type: ignore[no-any-return]


def _read_by(node: n.Node, reader: Key | None) -> Sequence[Key | None]:
    """The keys by which a node tells apart the rows of its inputs, None where it needs the old rows.

    `reader` is the key by which its own rows are told apart.
    """
    if isinstance(node, n.Sink):
        return [frozenset(node.table.primary_key) if node.table.upsert else None]
    if isinstance(node, TemporalJoin):
        return [None, frozenset(node.right_keys)]
    if isinstance(node, n.WatermarkAssigner):
        return [reader]
    if isinstance(node, n.Project) and reader is not None:
        sources = {made.name: identified(made.expr, node.input) for made in node.expressions}
        below = [sources[name] for name in reader]
        return [frozenset(name for name in below if name is not None) if None not in below else None]
    return [None] * len(node.inputs)
