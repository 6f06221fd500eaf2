"""EXPLAIN: the plan as a tree, each operator with its changelog mode, upsert key and state."""

from __future__ import annotations

from collections.abc import Iterator

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.described import described
from rowkind.plan.kept import kept
from rowkind.plan.traits import emits, upsert_keys

__all__ = ["described", "explain", "kept", "traits"]


def explain(plan: n.Node) -> str:
    """The tree as text, sink first."""
    return "\n".join(_lines(plan, "", ""))


def _lines(node: n.Node, first: str, rest: str) -> Iterator[str]:
    yield f"{first}{described(node)}  [{traits(node)}]"
    if state := kept(node):
        yield f"{rest}{'│' if node.inputs else ' '}    state: {state}"
    for index, below in enumerate(node.inputs):
        last = index == len(node.inputs) - 1
        yield from _lines(below, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def traits(node: n.Node) -> str:
    """Changelog mode and upsert keys, as EXPLAIN shows them."""
    if isinstance(node, n.Sink):
        return f"takes {_mode(node.table.changelog)}"
    keys = sorted(", ".join(sorted(key)) or "single row" for key in upsert_keys(node))
    shown = f", upsert key ({') or ('.join(keys)})" if keys else ""
    return f"{_mode(emits(node))}{shown}"


def _mode(mode: ChangelogMode) -> str:
    return ",".join(kind.symbol for kind in mode.kinds)
