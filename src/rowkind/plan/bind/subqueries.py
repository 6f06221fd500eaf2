"""Subqueries in conditions: IN and EXISTS become semi and anti joins, scalar ones a join with a single row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.correlation import Inner, bind_inner, bind_scalar
from rowkind.plan.bind.joins import joined
from rowkind.plan.bind.predicates import filtered
from rowkind.plan.bind.scope import Scope
from rowkind.plan.columns import reference
from rowkind.plan.nodes import Aggregate, Named, Node, Project

_QUANTIFIED = "Use IN, NOT IN, EXISTS, or compare with MIN() or MAX() of the subquery."


def bind_subquery_condition(scope: Scope, part: exp.Expr, context: Context) -> Scope:
    """The rows of the scope for which a condition with a subquery is true."""
    inner, negated = _stripped(part)
    if isinstance(inner, exp.Exists):
        return _exists(scope, inner, negated, context)
    membership = _membership(inner, negated)
    if membership is not None:
        return _in(scope, *membership, context)
    found = next((e for e in inner.find_all(exp.In, exp.Exists, exp.Any, exp.All) if _has_query(e)), None)
    if found is not None:
        name = found.key.upper()
        if isinstance(found, (exp.Any, exp.All)):
            raise context.unsupported(found, f"this comparison with {name}", _QUANTIFIED)
        raise context.unsupported(
            found, f"{name} with a subquery under OR, NOT or CASE", "Write one query per case and join them with UNION."
        )
    scope, condition = _with_scalars(scope, part, context)
    return filtered(scope, [scope.resolve(condition)], context)


def with_scalar_queries(scope: Scope, select: exp.Select, context: Context) -> tuple[Scope, exp.Select]:
    """Scalar subqueries of the SELECT list, joined to the scope, and the SELECT with columns in their place."""
    if not any(item.find(exp.Query) for item in select.expressions):
        return scope, select
    if select.args.get("group"):
        raise context.unsupported(select, "a subquery in a grouped SELECT", "Group in a subquery first.")
    copy = select.copy()
    items = []
    for item in copy.expressions:
        if (found := item.find(exp.In, exp.Exists)) and _has_query(found):
            raise context.unsupported(found, "IN or EXISTS in the SELECT list", "Use a LEFT JOIN and IS NOT NULL.")
        scope, changed = _with_scalars(scope, item, context)
        items.append(changed)
    copy.set("expressions", items)
    return scope, copy


def _with_scalars(scope: Scope, tree: exp.Expr, context: Context) -> tuple[Scope, exp.Expr]:
    """The tree with every scalar subquery replaced by a column that a join brings in."""
    tree = tree.copy()
    for query in [q for q in tree.find_all(exp.Subquery) if q.find_ancestor(exp.Subquery) is None]:
        scope, column = bind_scalar(scope, query, context)
        if query is tree:
            return scope, column
        query.replace(column)
    return scope, tree


def _stripped(part: exp.Expr) -> tuple[exp.Expr, bool]:
    """A condition without the NOTs around it."""
    negated = False
    part = part.unnest()
    while isinstance(part, exp.Not):
        part, negated = part.this.unnest(), not negated
    return part, negated


def _membership(tree: exp.Expr, negated: bool) -> tuple[exp.Expr, exp.Expr, bool] | None:
    """`x IN (q)`, `x = ANY (q)` and `x <> ALL (q)`: what is looked for, the query, and whether it must be missing."""
    if isinstance(tree, exp.In) and tree.args.get("query"):
        return tree.this, tree.args["query"], negated
    if isinstance(tree, exp.EQ) and isinstance(tree.expression, exp.Any):
        return tree.this, tree.expression.this, negated
    if isinstance(tree, exp.NEQ) and isinstance(tree.expression, exp.All):
        return tree.this, tree.expression.this, not negated
    return None


def _exists(scope: Scope, tree: exp.Exists, negated: bool, context: Context) -> Scope:
    inner = bind_inner(scope, tree.this, context)
    if not inner.conditions:
        inner = replace(inner, node=_at_most_one(inner.node, context))
    return _semi(scope, inner, inner.conditions, negated, False, context)


def _at_most_one(node: Node, context: Context) -> Node:
    """One row if the node has any: all that an EXISTS without correlation asks for."""
    one = context.exprs([exp.Literal.number(1)], {})[0]
    return Aggregate(Project(node, (Named("$any", one),)), ("$any",))


def _in(scope: Scope, wanted: exp.Expr, query: exp.Expr, negated: bool, context: Context) -> Scope:
    inner = bind_inner(scope, query, context)
    wanted = wanted.unnest()
    values = list(wanted.expressions) if isinstance(wanted, exp.Tuple) else [wanted]
    if len(values) != len(inner.outputs):
        raise context.error(
            "COLUMN_COUNT", query, what="the subquery of IN", given=len(inner.outputs), expected=len(values)
        )
    equal = [
        exp.EQ(this=scope.resolve(value), expression=reference(column))
        for value, column in zip(values, inner.outputs, strict=True)
    ]
    null_aware = [negated and _may_be_null(pair, scope, inner, context) for pair in equal]
    if null_aware == [True] and not inner.conditions and equal[0].this.find(exp.Column):
        return _semi(scope, inner, equal, negated, True, context)
    parts = [_not_false(pair) if aware else pair for pair, aware in zip(equal, null_aware, strict=True)]
    return _semi(scope, inner, [*parts, *inner.conditions], negated, False, context)


def _may_be_null(pair: exp.EQ, scope: Scope, inner: Inner, context: Context) -> bool:
    types = {**scope.types, **{c.name: c.type for c in inner.node.columns}}
    return any(side.type.nullable for side in context.exprs([pair.this, pair.expression], types))


def _not_false(pair: exp.EQ) -> exp.Expr:
    """A row is not in the query only if every comparison with it is false: one with NULL is not."""
    unknown = [exp.Is(this=side.copy(), expression=exp.Null()) for side in (pair.this, pair.expression)]
    return exp.or_(pair, *unknown, copy=False)


def _semi(
    scope: Scope, inner: Inner, parts: Sequence[exp.Expr], negated: bool, null_aware: bool, context: Context
) -> Scope:
    kind = JoinKind.ANTI if negated else JoinKind.SEMI
    return replace(scope, node=joined(scope.node, inner.node, kind, parts, context, null_aware))


def _has_query(tree: exp.Expr) -> bool:
    return bool(tree.args.get("query")) or isinstance(tree, (exp.Exists, exp.Any, exp.All))
