"""Bringing columns to a common type, as UNION, VALUES, joins and INSERT need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rowkind.plan.bind.context import Context
from rowkind.plan.columns import reference
from rowkind.plan.expressions import common_type
from rowkind.plan.nodes import Expr, Named, Node, Project
from rowkind.sql.tree_nodes import type_node
from rowkind.types import DataType, quote


def common_types(rows: Sequence[Sequence[DataType]], at: exp.Expr, context: Context) -> list[DataType]:
    """For each column the least restrictive type that holds the values of all rows."""
    types = []
    for position, column in enumerate(zip(*rows, strict=True), 1):
        type = common_type(column)
        if type is None:
            shown = ", ".join(dict.fromkeys(str(t) for t in column))
            raise context.error("INCOMPATIBLE_BRANCHES", at, position=position, types=shown)
        types.append(type)
    return types


def coerced(expr: Expr, type: DataType, columns: Mapping[str, DataType], context: Context) -> Expr:
    """The expression in another type; nothing is added where it has that type, but for nullability."""
    if expr.type.as_nullable() == type.as_nullable():
        return Expr(expr.tree, expr.sql, type)
    cast = exp.Cast(this=expr.tree.copy(), to=type_node(type))
    return context.exprs([cast], columns)[0]


def cast_columns(node: Node, types: Sequence[DataType], context: Context) -> Node:
    """The node with its columns in the given types."""
    if all(c.type.as_nullable() == t.as_nullable() for c, t in zip(node.columns, types, strict=True)):
        return node
    known = {c.name: c.type for c in node.columns}
    made = []
    for column, type in zip(node.columns, types, strict=True):
        plain = Expr(reference(column.name), quote(column.name), column.type)
        made.append(Named(column.name, coerced(plain, type, known, context)))
    return Project(node, tuple(made))
