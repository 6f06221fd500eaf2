"""GROUP BY TUMBLE(time, size): the older form of windows, rewritten to a window table function below the grouping."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rowkind.plan import time_nodes as t
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Scope
from rowkind.plan.bind.windows import window_length, windowed
from rowkind.plan.columns import reference
from rowkind.sql import render

_LENGTHS = {"TUMBLE": ("size",), "HOP": ("slide", "size"), "SESSION": ("gap",)}
_PROPERTIES = {
    "START": t.WINDOW_START,
    "END": t.WINDOW_END,
    "ROWTIME": t.WINDOW_TIME,
    "PROCTIME": t.WINDOW_TIME,
}


def with_group_windows(scope: Scope, select: exp.Select, context: Context) -> tuple[Scope, exp.Select]:
    """The scope with windows, and the SELECT in terms of their columns."""
    group = select.args.get("group")
    found = [e for e in (group.expressions if group else ()) if _is_window(e)]
    if group is None or not found:
        return scope, select
    if len(found) > 1:
        raise context.unsupported(found[1], "a second window in GROUP BY", "Group by one window.")
    call = found[0]
    kind = t.WindowKind(call.name.upper())
    names = _LENGTHS[kind]
    if len(call.expressions) != 1 + len(names):
        usage = f"{kind}(time, {', '.join(names)})"
        raise context.error("BAD_WINDOW", call, function=kind.value, reason=f"it is written {usage}")
    time = scope.resolve(call.expressions[0])
    if not isinstance(time, exp.Column):
        raise context.error("NOT_A_TIME_ATTRIBUTE", call, name=render(call.expressions[0]), function=kind.value)
    trees = zip(names, call.expressions[1:], strict=True)
    lengths = {name: window_length(tree, kind.value, context) for name, tree in trees}
    keys = _session_keys(group, call, scope, context) if kind is t.WindowKind.SESSION else ()
    node = windowed(scope.node, kind, time.name, lengths, keys, call, context)
    return replace(scope, node=node), _rewritten(select, call, kind)


def _rewritten(select: exp.Select, call: exp.Expr, kind: t.WindowKind) -> exp.Select:
    """TUMBLE_START(…) and the like as columns, and the window's columns among the keys."""
    arguments = [render(e) for e in call.expressions]

    def change(node: exp.Expr) -> exp.Expr:
        name, _, part = node.name.upper().rpartition("_") if isinstance(node, exp.Anonymous) else ("", "", "")
        if name == kind and part in _PROPERTIES and [render(e) for e in node.expressions] == arguments:
            return reference(_PROPERTIES[part])
        return node

    changed = select.copy().transform(change)
    assert isinstance(changed, exp.Select)
    group = changed.args["group"]
    read = {column.name for column in changed.find_all(exp.Column) if column.meta.get("resolved")}
    window = [reference(name) for name in (t.WINDOW_START, t.WINDOW_END, *({t.WINDOW_TIME} & read))]
    group.set("expressions", [*(e for e in group.expressions if render(e) != render(call)), *window])
    return changed


def _session_keys(group: exp.Group, call: exp.Expr, scope: Scope, context: Context) -> tuple[str, ...]:
    """Sessions are kept per key of the grouping."""
    keys = [scope.resolve(e) for e in group.expressions if e is not call]
    if any(not isinstance(key, exp.Column) for key in keys):
        raise context.unsupported(call, "SESSION grouped with an expression", "Compute the column in a subquery.")
    return tuple(key.name for key in keys)


def _is_window(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Anonymous) and tree.name.upper() in _LENGTHS
