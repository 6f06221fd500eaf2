"""Queries: SELECT, VALUES, set operations and WITH, bound to a plan."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rowkind.plan.bind.coercion import cast_columns, common_types
from rowkind.plan.bind.context import Binder, Context
from rowkind.plan.bind.order import bind_order
from rowkind.plan.bind.relations import bind_item
from rowkind.plan.bind.select import bind_select, bind_where
from rowkind.plan.bind.values import bind_values
from rowkind.plan.columns import renamed
from rowkind.plan.nodes import Aggregate, Node, SetDifference, Union


def bind_query(query: exp.Expr, context: Context) -> Node:
    """The plan of a query; its columns carry the names that the user sees."""
    context = _with_ctes(query, context)
    if isinstance(query, exp.Select):
        return bind_select(query, context)
    if isinstance(query, exp.Values):
        return bind_values(query, context)
    if isinstance(query, exp.Subquery):
        inner = replace(context, shown=context.shown and not _orders(query))
        return _ordered(bind_query(query.this, inner), query, context)
    if isinstance(query, exp.SetOperation):
        return _ordered(_set_operation(query, context), query, context)
    raise context.unsupported(query, f"{type(query).__name__} as a query", "Write a SELECT.")


def _with_ctes(query: exp.Expr, context: Context) -> Context:
    clause = query.args.get("with_")
    if clause is None:
        return context
    if clause.args.get("recursive"):
        raise context.unsupported(clause, "WITH RECURSIVE", "Streaming queries cannot recurse; unroll the query.")
    for cte in clause.expressions:
        node = bind_query(cte.this, context.inside())
        columns = tuple(c.name for c in cte.args["alias"].args.get("columns") or ())
        context = context.with_cte(cte.alias, renamed(node, columns) if columns else node)
    return context


def _set_operation(query: exp.SetOperation, context: Context) -> Node:
    inner = replace(context, shown=False)
    left, right = bind_query(query.this, inner), bind_query(query.expression, inner)
    if len(left.columns) != len(right.columns):
        raise context.error(
            "COLUMN_COUNT",
            query.expression,
            what="the second query",
            given=len(right.columns),
            expected=len(left.columns),
        )
    types = common_types([[c.type for c in side.columns] for side in (left, right)], query, context)
    names = tuple(c.name for c in left.columns)
    branches = (cast_columns(left, types, context), cast_columns(renamed(right, names), types, context))
    if isinstance(query, exp.Union):
        union = Union(branches)
        return union if not query.args.get("distinct") else Aggregate(union, tuple(c.name for c in union.columns))
    return SetDifference(*branches, isinstance(query, exp.Intersect), not query.args.get("distinct"))


def _ordered(node: Node, query: exp.Expr, context: Context) -> Node:
    return bind_order(node, query, context) if _orders(query) else node


def _orders(query: exp.Expr) -> bool:
    return any(query.args.get(clause) for clause in ("order", "limit", "offset"))


BINDER = Binder(bind_query, bind_where, bind_item)
"""Where a part of a query leads back to a whole one."""
