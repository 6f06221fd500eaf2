"""What the readers of each node ask of it, gathered from the top of the plans down.

Plans are trees, but equal parts of them are computed once. A rule that gives each part what all of its readers ask for
together leaves equal parts equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rowkind.plan.nodes import Node

Demand = TypeVar("Demand")


def gather(
    plans: Sequence[Node],
    top: Callable[[Node], Demand],
    below: Callable[[Node, Demand], Sequence[Demand]],
    both: Callable[[Demand, Demand], Demand],
) -> dict[Node, Demand]:
    """For every node the demands of all its readers, put together by `both`.

    `top` is what is asked of a plan's root, `below` what a node asks of each input, given what is asked of itself.
    """
    found: dict[Node, Demand] = {}

    def visit(node: Node, demand: Demand) -> None:
        if node in found:
            demand = both(found[node], demand)
            if demand == found[node]:
                return
        found[node] = demand
        for input, asked in zip(node.inputs, below(node, demand), strict=True):
            visit(input, asked)

    for plan in plans:
        visit(plan, top(plan))
    return found


def rebuild(plans: Sequence[Node], make: Callable[[Node, tuple[Node, ...]], Node]) -> list[Node]:
    """The plans made anew from the bottom up: `make` gets a node and what has become of its inputs."""
    made: dict[Node, Node] = {}

    def visit(node: Node) -> Node:
        if node not in made:
            made[node] = make(node, tuple(visit(input) for input in node.inputs))
        return made[node]

    return [visit(plan) for plan in plans]
