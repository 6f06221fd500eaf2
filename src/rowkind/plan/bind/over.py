"""Functions OVER a window of rows: rankings, which a filter above has to bound, and aggregates over rows before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from rowkind.aggregate_functions import LAG
from rowkind.plan import nodes as n
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.bind.calls import bind_call
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.frames import bind_frame
from rowkind.plan.bind.inputs import Inputs, fresh
from rowkind.plan.bind.scope import Item, Scope
from rowkind.plan.columns import reference
from rowkind.plan.time_nodes import Over
from rowkind.sql import render
from rowkind.sql.tree_nodes import is_aggregate, type_node
from rowkind.types import BIGINT

RANKINGS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_LAG = "Write LAG(value), LAG(value, 2) or LAG(value, 2, default)."
_REFUSED = {
    "NTILE": "Compute the share from ROW_NUMBER() and COUNT(*) in a subquery.",
    "PERCENT_RANK": "Compute the share from RANK() and COUNT(*) in a subquery.",
    "CUME_DIST": "Compute the share from RANK() and COUNT(*) in a subquery.",
}


def bind_over(scope: Scope, items: Sequence[Item], context: Context) -> tuple[Scope, list[Item]]:
    """The scope with one more column for every function OVER a window, and the items in terms of them."""
    windows = {render(w): w for item in items for w in item.tree.find_all(exp.Window)}
    first, *others = windows.values()
    for other in others:
        if _rows(other) != _rows(first) or _is_ranking(other) != _is_ranking(first):
            raise context.unsupported(
                other, "a second, different window in one SELECT", "Compute one of the two in a subquery."
            )
    inputs = Inputs(scope, context)
    partition = [inputs.column(tree).name for tree in first.args.get("partition_by") or ()]
    order = _order(first, inputs)
    if _is_ranking(first):
        if others:
            raise context.unsupported(others[0], "a second ranking in one SELECT", "Compute it in a subquery.")
        ranked = _ranked(first, partition, order, inputs)
        node: n.Node = ranked
        names = {render(first): str(ranked.rank)}
    else:
        node, names = _aggregated(windows, partition, order, inputs)
    return replace(scope, node=node), [Item(item.name, _rewritten(item.tree, names)) for item in items]


def _ranked(window: exp.Window, partition: Sequence[str], order: Sequence[n.Order], inputs: Inputs) -> n.Rank:
    function = window.this.name.upper()
    if window.this.expressions:
        raise inputs.context.unsupported(window, f"{function} with arguments", f"Write {function}().")
    if not order and function != "ROW_NUMBER":
        raise inputs.context.unsupported(window, f"{function}() without ORDER BY", "Say by what rows are ranked.")
    rank = fresh("$rank", {c.name for c in inputs.scope.node.columns})
    return n.Rank(inputs.added(), function, tuple(partition), tuple(order), rank=rank, rank_type=BIGINT.not_null())


def _aggregated(
    windows: dict[str, exp.Window], partition: Sequence[str], order: Sequence[n.Order], inputs: Inputs
) -> tuple[Over, dict[str, str]]:
    context = inputs.context
    window = next(iter(windows.values()))
    for written in windows.values():
        _check_function(written, context)
    if not order:
        raise context.unsupported(
            window, "an aggregate OVER a window without ORDER BY", "GROUP BY in a subquery and join with it."
        )
    calls: list[n.Call] = []
    names: dict[str, str] = {}
    time = time_attribute(inputs.added(), order[0].column)
    if time is not None and (order[0].descending or len(order) > 1):
        raise context.unsupported(
            window, "OVER in the order of time and of something else", "Order by the time column alone, ascending."
        )
    for text, written in windows.items():
        bind = _neighbour if _is_neighbour(written.this) else bind_call
        call = bind(written.this, inputs, f"$over{len(names)}")
        if call.offset < 0 and time is not None:
            raise context.unsupported(
                written,
                "LEAD() in the order of time, which would wait for rows to come",
                "Use LAG() for the row before.",
            )
        calls.append(call)
        names[text] = call.name
    node = inputs.added()
    rows, preceding = bind_frame(window, order, time, node, context)
    rowtime = order[0].column if time is TimeAttribute.ROWTIME else None
    proctime = time is TimeAttribute.PROCTIME
    return Over(node, tuple(partition), tuple(order), tuple(calls), rows, preceding, rowtime, proctime), names


def _check_function(window: exp.Window, context: Context) -> None:
    call: exp.Expr = window.this
    while isinstance(call, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    name = call.name.upper()
    if _is_neighbour(call) and (call is not window.this or window.args.get("spec") is not None):
        what = "a frame" if call is window.this else "IGNORE NULLS, RESPECT NULLS or FILTER"
        raise context.unsupported(window, f"{name}() with {what}", f"Leave it out: {name}() counts every row.")
    if not is_aggregate(call) and not _is_neighbour(call):
        instead = _REFUSED.get(name, "Use ROW_NUMBER, RANK, DENSE_RANK or an aggregate function.")
        raise context.unsupported(window, f"{name}() OVER", instead)


def _order(window: exp.Window, inputs: Inputs) -> list[n.Order]:
    order = window.args.get("order")
    return [ordered(item, inputs.column(item.this).name, inputs) for item in (order.expressions if order else ())]


def ordered(item: exp.Ordered, column: str, inputs: Inputs) -> n.Order:
    arrival = time_attribute(inputs.added(), column) is TimeAttribute.PROCTIME
    return n.Order(column, bool(item.args.get("desc")), bool(item.args.get("nulls_first")), arrival)


def _is_ranking(window: exp.Window) -> bool:
    return isinstance(window.this, exp.Anonymous) and window.this.name.upper() in RANKINGS


def _rows(window: exp.Window) -> tuple[str, ...]:
    """What tells the rows of one window from those of another."""
    parts = [*(window.args.get("partition_by") or ()), window.args.get("order"), window.args.get("spec")]
    return tuple("" if part is None else render(part) for part in parts)


def _rewritten(tree: exp.Expr, names: dict[str, str]) -> exp.Expr:
    def change(node: exp.Expr) -> exp.Expr:
        return reference(names[render(node)]) if isinstance(node, exp.Window) else node

    return tree.copy().transform(change)


def with_named_windows(select: exp.Select, context: Context) -> exp.Select:
    """The SELECT with every `OVER name` written out."""
    clauses = [*select.expressions, *([select.args["order"]] if select.args.get("order") else [])]
    if not any(window.args.get("alias") for clause in clauses for window in _own(clause)):
        return select
    copy = select.copy()
    known: dict[str, exp.Window] = {}
    for window in copy.args.get("windows") or ():
        _write_out(window, known, context)
        known[window.this.name] = window
    for clause in (*copy.expressions, *([copy.args["order"]] if copy.args.get("order") else [])):
        for window in list(_own(clause)):
            _write_out(window, known, context)
    return copy


def _own(tree: exp.Expr) -> Iterable[exp.Window]:
    """Windows of a clause, not of the queries inside it."""
    for node in tree.walk(prune=lambda e: isinstance(e, exp.Query)):
        if isinstance(node, exp.Window):
            yield node


def _write_out(window: exp.Window, known: dict[str, exp.Window], context: Context) -> None:
    name = window.args.get("alias")
    if name is None:
        return
    base = known.get(name.name)
    if base is None:
        raise context.error("UNKNOWN_WINDOW", name, name=name.name, known=", ".join(known) or "none")
    for part in ("partition_by", "order", "spec"):
        if not window.args.get(part):
            given = base.args.get(part)
            window.set(part, [e.copy() for e in given] if isinstance(given, list) else given and given.copy())
    window.set("alias", None)


def _is_neighbour(call: exp.Expr) -> bool:
    return isinstance(call, exp.Anonymous) and call.name.upper() in ("LAG", "LEAD")


def _neighbour(call: exp.Expr, inputs: Inputs, name: str) -> n.Call:
    """A resolved call over columns of the input; LEAD is a LAG of a negative offset."""
    context, function = inputs.context, call.name.upper()
    arguments = list(call.expressions)
    if not 1 <= len(arguments) <= 3:
        raise context.unsupported(call, f"{function}() with {len(arguments)} arguments", _LAG)
    value = inputs.column(arguments[0])
    type, columns = value.expr.type.as_nullable(), [value.name]
    if len(arguments) > 2:
        default = inputs.column(exp.Cast(this=arguments[2].copy(), to=type_node(type)))
        columns.append(default.name)
        if not value.expr.type.nullable and not default.expr.type.nullable:
            type = type.not_null()
    offset = _offset(arguments[1], inputs, function) if len(arguments) > 1 else 1
    return n.Call(name, LAG, tuple(columns), type, offset=-offset if function == "LEAD" else offset)


def _offset(tree: exp.Expr, inputs: Inputs, function: str) -> int:
    if isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdigit():
        return int(tree.name)
    raise inputs.context.unsupported(tree, f"{function}() with an offset that is not a literal", _LAG)
