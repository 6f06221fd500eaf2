"""Names of stateful operators, under which a job that is started again, perhaps changed, finds their state.

A name says what the state is: what the operator does, and what its input columns are made of. Conditions that rows
pass on the way are no part of it, but told beside it: where they change, the state may be kept or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.attributes import time_attribute
from rowkind.plan.identity import digest, identity
from rowkind.plan.lineage import Lineage, lineage
from rowkind.plan.traits import emits, keeps_state, upsert_keys


@dataclass(frozen=True, slots=True)
class OperatorName:
    """The name of an operator's state, and the digest of the conditions that its input rows have passed."""

    name: str
    conditions: str
    alone: bool
    """Whether no other operator of the job differs from this one by its conditions only."""


def operator_names(nodes: Iterable[n.Node]) -> dict[n.Node, OperatorName]:
    """The names of a job's stateful nodes, whatever the order of its statements."""
    levels: dict[int, list[n.Node]] = defaultdict(list)
    for node in nodes:
        if keeps_state(node):
            levels[_depth(node)].append(node)
    named: dict[n.Node, OperatorName] = {}
    for _, level in sorted(levels.items()):
        named.update(_named(level, named))
    return named


def _depth(node: n.Node) -> int:
    """How many operators with state lie one above the other, this one included."""
    return max(map(_depth, node.inputs), default=0) + keeps_state(node)


def _named(level: list[n.Node], below: Mapping[n.Node, OperatorName]) -> dict[n.Node, OperatorName]:
    """Operators that differ by their conditions only are numbered, in the order of the conditions."""

    def origin(node: n.Node) -> str:
        return below[node].name if node in below else digest(identity(node))

    alike: dict[str, list[tuple[str, n.Node]]] = defaultdict(list)
    for node in level:
        inputs = [lineage(i, origin) for i in node.inputs]
        name = f"{type(node).__name__.lower()}-{digest(_definition(node, inputs))}"
        alike[name].append((digest([i.conditions for i in inputs]), node))
    named = {}
    for name, found in alike.items():
        for number, (conditions, node) in enumerate(sorted(found, key=lambda pair: pair[0]), 1):
            numbered = name if number == 1 else f"{name}-{number}"
            named[node] = OperatorName(numbered, conditions, len(found) == 1)
    return named


def _definition(node: n.Node, inputs: list[Lineage]) -> list[Any]:
    """What must stay the same: the operator, and of each input where it comes from, if it only grows, and its keys."""
    types = [[[c.name, str(c.type.as_nullable())] for c in i.columns] for i in node.inputs]
    made = [[i.origins, list(i.columns.items())] for i in inputs]
    grows = [emits(i) is ChangelogMode.INSERT_ONLY for i in node.inputs]
    keys = [sorted(map(sorted, upsert_keys(i))) for i in node.inputs]
    return [identity(node), types, made, grows, keys, _times(node)]


def _times(node: n.Node) -> list[str | None]:
    """Which sort columns are a time of the rows: of rows of the same event time the later one wins, if one is kept."""
    if not isinstance(node, (n.Rank, t.WindowRank)):
        return []
    return [time_attribute(node.input, order.column) for order in node.order]
