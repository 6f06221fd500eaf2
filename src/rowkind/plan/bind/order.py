"""ORDER BY, LIMIT and OFFSET of a whole query: a Top-N over all of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rowkind.plan import nodes as n
from rowkind.plan.attributes import TimeAttribute, time_attribute
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.inputs import fresh
from rowkind.plan.bind.scope import Item, Relation, Scope
from rowkind.plan.columns import only_columns
from rowkind.plan.time_nodes import Over
from rowkind.sql import render

Sorted = tuple[int, exp.Ordered]
"""The position of the output column to sort by, and how."""


def bind_order(node: n.Node, query: exp.Expr, context: Context) -> n.Node:
    """ORDER BY and LIMIT over a set operation or a query in parentheses: by its output columns."""
    scope = Scope(node, (Relation(None, tuple((c.name, c.name) for c in node.columns)),), context.source)
    items = [Item(name, tree) for name, tree in scope.star(None)]
    order, wanted = sorting(query, items, scope, context)
    if len(wanted) > len(items):
        exprs = context.exprs([item.tree for item in wanted], scope.types)
        node = n.Project(node, tuple(n.Named(i.name, e) for i, e in zip(wanted, exprs, strict=True)))
    return limited(node, order, query, len(items), context)


def sorting(query: exp.Expr, items: Sequence[Item], scope: Scope, context: Context) -> tuple[list[Sorted], list[Item]]:
    """What ORDER BY sorts by, as positions in the list of items; expressions that are not in it are added to it."""
    order = query.args.get("order")
    extended, found = list(items), []
    for item in order.expressions if order else ():
        position = _ordinal(item.this, items, context)
        if position is None:
            tree = _resolved(item.this, items, scope)
            texts = [render(i.tree) for i in extended]
            if render(tree) not in texts:
                if query.args.get("distinct"):
                    raise context.error("ORDER_NOT_SELECTED", item, expression=render(item.this))
                extended.append(Item(fresh("$order", {i.name for i in extended}), tree))
                texts.append(render(tree))
            position = texts.index(render(tree))
        found.append((position, item))
    return found, extended


def _ordinal(tree: exp.Expr, items: Sequence[Item], context: Context) -> int | None:
    """`ORDER BY 2` is the second column."""
    if not isinstance(tree, exp.Literal) or tree.is_string:
        return None
    if not tree.name.isdigit() or not 1 <= int(tree.name) <= len(items):
        raise context.error("ORDER_POSITION", tree, position=tree.name, columns=len(items))
    return int(tree.name) - 1


def _resolved(tree: exp.Expr, items: Sequence[Item], scope: Scope) -> exp.Expr:
    """Names of output columns stand for what they are made of, other names for columns of FROM."""
    outputs = {item.name: item.tree for item in reversed(items)}

    def change(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        written = len(node.parts) == 1 and outputs.get(node.name)
        return written.copy() if written else scope.resolve(node)

    return tree.copy().transform(change)


def limited(node: n.Node, order: Sequence[Sorted], query: exp.Expr, width: int, context: Context) -> n.Node:
    """The node cut to its first rows in the given order, and to its first `width` columns."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if order and context.shown and ends(node):
        return _final(node, order, query, width, context)
    if limit is None and (order or offset):
        return _cut(_without_limit(node, order, query, context), width)
    if limit is None:
        return node
    return _cut(_first(node, order, query, context), width)


def _first(node: n.Node, order: Sequence[Sorted], query: exp.Expr, context: Context) -> n.Node:
    """The rows of LIMIT and OFFSET."""
    offset = query.args.get("offset")
    skipped = _count(offset, context) if offset else 0
    count = _count(query.args["limit"], context)
    if count == 0:
        return n.Filter(node, context.exprs([exp.false()], {})[0])
    by = tuple(_by(node, position, item) for position, item in order)
    return n.Rank(node, "ROW_NUMBER", (), by, skipped + 1, skipped + count)


def ends(node: n.Node) -> bool:
    """Whether a query has a last row: every table that it reads has."""
    return all(scan.table.bounded for scan in n.walk(node) if isinstance(scan, n.Scan))


def _final(node: n.Node, order: Sequence[Sorted], query: exp.Expr, width: int, context: Context) -> n.Node:
    """The rows that are left at the end are shown in their order."""
    by = tuple(_by(node, position, item) for position, item in order)
    if query.args.get("limit"):
        node = _first(node, order, query, context)
    elif query.args.get("offset"):
        raise context.unsupported(query.args["offset"], "OFFSET without LIMIT", "Add a LIMIT.")
    return n.Sorted(node, by, width)


def _by(node: n.Node, position: int, item: exp.Ordered) -> n.Order:
    column = node.columns[position].name
    arrival = time_attribute(node, column) is TimeAttribute.PROCTIME
    return n.Order(column, bool(item.args.get("desc")), bool(item.args.get("nulls_first")), arrival)


def _without_limit(node: n.Node, order: Sequence[Sorted], query: exp.Expr, context: Context) -> n.Node:
    """Rows can be put in order as they come only by time, ascending: they wait until no earlier one can follow."""
    at = query.args.get("order") or query.args["offset"]
    if query.args.get("offset"):
        raise context.unsupported(at, "OFFSET without LIMIT", "Add a LIMIT.")
    if context.nested:
        return node
    by = _by(node, *order[0])
    time = time_attribute(node, by.column)
    if time is None or by.descending or len(order) > 1:
        what = "in an INSERT" if ends(node) else "on an unbounded input"
        instead = "Add a LIMIT, or order by one time attribute, ascending."
        raise context.unsupported(at, f"ORDER BY without LIMIT {what}", instead)
    return node if time is TimeAttribute.PROCTIME else Over(node, order=(by,), rows=True, time=by.column)


def _cut(node: n.Node, width: int) -> n.Node:
    return only_columns(node, [c.name for c in node.columns[:width]])


def _count(clause: exp.Expr, context: Context) -> int:
    tree = clause.expression
    if isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdigit():
        return int(tree.name)
    word = clause.key.upper()
    raise context.unsupported(clause, f"{word} with anything but a number", f"Write the number behind {word}.")
