"""Window table functions, and the aggregates over their windows."""

from __future__ import annotations

from sqlglot import exp

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Relation, Scope
from rowkind.plan.windowing import windowing
from rowkind.sql import WindowTable, interval_length

_MADE = (t.WINDOW_START, t.WINDOW_END, t.WINDOW_TIME)


def bind_window_table(item: WindowTable, context: Context) -> Scope:
    """TUMBLE, HOP, CUMULATE or SESSION behind FROM: the columns of its input and those of the window."""
    scope = context.bind_item(item.this)
    time = scope.resolve(item.args["timecol"]).name
    lengths = {
        name: window_length(item.args[name], item.function, context)
        for name in ("size", "slide", "step", "gap", "offset")
        if item.args.get(name)
    }
    keys = tuple(_key(tree, scope, context) for tree in item.args.get("partition_by") or ())
    node = windowed(scope.node, t.WindowKind(item.function), time, lengths, keys, item, context)
    users = {internal: user for relation in scope.relations for user, internal in relation.columns}
    names = tuple((users.get(c.name, c.name), c.name) for c in node.columns)
    alias = item.args.get("alias")
    return Scope(node, (Relation(alias.name if alias else None, names),), context.source)


def windowed(
    node: n.Node,
    kind: t.WindowKind,
    time: str,
    lengths: dict[str, int],
    keys: tuple[str, ...],
    at: exp.Expr,
    context: Context,
) -> n.Node:
    """The rows of a node with their windows by a time attribute."""
    attribute = time_attribute(node, time)
    if attribute is None:
        raise context.error("NOT_A_TIME_ATTRIBUTE", at, name=time, function=kind.value)
    if taken := [c.name for c in node.columns if c.name in _MADE]:
        raise context.error("WINDOW_COLUMN_TAKEN", at, columns=", ".join(taken), function=kind.value)
    size = lengths.get("size", lengths.get("gap", 0))
    slide = lengths.get("slide", lengths.get("step"))
    if size <= 0 or (slide is not None and slide <= 0):
        raise context.error("BAD_WINDOW", at, function=kind.value, reason="its lengths must be greater than zero")
    if slide is not None and size % slide:
        name = "slide" if kind is t.WindowKind.HOP else "step"
        raise context.error("BAD_WINDOW", at, function=kind.value, reason=f"its size must be a multiple of its {name}")
    proctime = attribute is TimeAttribute.PROCTIME
    spec = t.WindowSpec(kind, time, size, slide, lengths.get("offset", 0), keys, proctime)
    return t.WindowAssign(node, spec)


def window_length(tree: exp.Expr, function: str, context: Context) -> int:
    """An interval literal in microseconds."""
    if isinstance(tree, exp.Interval) and not interval_length(tree).months:
        return interval_length(tree).microseconds
    reason = "its lengths must be literals such as INTERVAL '5' MINUTE, without months"
    raise context.error("BAD_WINDOW", tree, function=function, reason=reason)


def _key(tree: exp.Expr, scope: Scope, context: Context) -> str:
    resolved = scope.resolve(tree)
    if not isinstance(resolved, exp.Column):
        raise context.unsupported(tree, "PARTITION BY an expression in SESSION", "Compute the column in a subquery.")
    return str(resolved.name)


def aggregate(node: n.Node, keys: tuple[str, ...], calls: tuple[n.Call, ...] = ()) -> n.Node:
    """GROUP BY: of windows where the keys hold the start and the end of a window, else of everything so far."""
    found = windowing(node)
    bounds = found.bounds(keys) if found is not None else None
    if found is None or bounds is None:
        return n.Aggregate(node, keys, calls)
    return t.WindowAggregate(node, keys, calls, found.window, *bounds)
