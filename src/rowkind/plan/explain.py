"""EXPLAIN: the plan as a tree, each operator with its changelog mode, upsert key and state."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits, upsert_keys


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


@singledispatch
def described(node: n.Node) -> str:
    """One operator in words."""
    return type(node).__name__


@described.register
def _(node: n.Scan) -> str:
    topics = ";".join(node.table.topics) or f"/{node.table.topic_pattern and node.table.topic_pattern.pattern}/"
    return f"Scan {node.table.name} ({node.table.connector}, topic {topics}, {node.table.value_format.name})"


@described.register
def _(node: n.Sink) -> str:
    topics = ";".join(node.table.topics) or f"/{node.table.topic_pattern and node.table.topic_pattern.pattern}/"
    net = ", net change per key and batch" if node.net else ", every row"
    return f"Sink {node.table.name} ({node.table.connector}, topic {topics}, {node.table.value_format.name}{net})"


@described.register
def _(node: n.Values) -> str:
    return f"Values ({len(node.rows)} rows)"


@described.register
def _(node: n.Project) -> str:
    return f"Project ({', '.join(_named(e) for e in node.expressions)})"


def _named(made: n.Named) -> str:
    if made.expr.column == made.name:
        return made.name
    return f"{made.expr.sql} AS {made.name}"


@described.register
def _(node: n.Filter) -> str:
    return f"Filter ({node.condition.sql})"


@described.register
def _(node: n.Union) -> str:
    return "UnionAll"


@described.register
def _(node: n.WatermarkAssigner) -> str:
    return f"Watermark ({node.watermark.column}: {node.watermark.expr.sql})"


@described.register
def _(node: n.Normalize) -> str:
    pushed = f", filter {node.filter.sql}" if node.filter else ""
    return f"Normalize (key {', '.join(node.key)}{pushed})"


@described.register
def _(node: n.Aggregate) -> str:
    if not node.calls:
        return f"Distinct ({', '.join(node.keys)})"
    by = f"by {', '.join(node.keys)}: " if node.keys else ""
    return f"GroupAggregate ({by}{', '.join(_call(c) for c in node.calls)})"


def _call(call: n.Call) -> str:
    arguments = ("DISTINCT " if call.distinct else "") + (", ".join(call.arguments) or "*")
    return f"{call.function}({arguments})" + (f" FILTER {call.filter}" if call.filter else "")


@described.register
def _(node: n.Join) -> str:
    keys = " AND ".join(f"{a} = {b}" for a, b in zip(node.left_keys, node.right_keys, strict=True)) or "no keys"
    rest = f", {node.residual.sql}" if node.residual else ""
    return f"{node.kind.capitalize()}Join ({keys}{rest})"


@described.register
def _(node: n.Rank) -> str:
    by = f"by {', '.join(node.partition)} " if node.partition else ""
    order = ", ".join(f"{o.column} {'DESC' if o.descending else 'ASC'}" for o in node.order)
    return f"Rank ({by}order {order or 'any'}, {node.first} to {node.last if node.last is not None else 'end'})"


@described.register
def _(node: n.SinkMaterialize) -> str:
    return f"SinkMaterialize (key {', '.join(node.key)})"


@singledispatch
def kept(node: n.Node) -> str | None:
    """What an operator keeps in state, and where that grows without bound."""
    return None


@kept.register
def _(node: n.Normalize) -> str:
    return f"last row per ({', '.join(node.key)})"


@kept.register
def _(node: n.Aggregate) -> str:
    what = "accumulators" if node.calls else "a count"
    extra = "; distinct values with their counts" if any(c.distinct for c in node.calls) else ""
    extra += "; all values of MIN/MAX and the like" if any(c.function not in _INVERTIBLE for c in node.calls) else ""
    return f"{what} per ({', '.join(node.keys) or 'the whole table'}){extra}{_growing(node)}"


_INVERTIBLE = frozenset({"COUNT", "SUM", "AVG", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP"})


@kept.register
def _(node: n.Join) -> str:
    return f"all rows of both sides per join key{_growing(node)}"


@kept.register
def _(node: n.Rank) -> str:
    return f"rows per ({', '.join(node.partition) or 'the whole table'}){_growing(node)}"


@kept.register
def _(node: n.SinkMaterialize) -> str:
    return f"live rows per ({', '.join(node.key)})"


def _growing(node: n.Node) -> str:
    if any(emits(below) is ChangelogMode.INSERT_ONLY for below in node.inputs):
        return "; grows with the input for ever unless 'table.exec.state.ttl' is set"
    return ""
