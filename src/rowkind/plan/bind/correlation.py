"""Subqueries that read columns of the query around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.join_kind import JoinKind
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.inputs import fresh
from rowkind.plan.bind.joins import joined
from rowkind.plan.bind.predicates import conjuncts
from rowkind.plan.bind.relations import bind_from
from rowkind.plan.bind.scope import Scope
from rowkind.plan.columns import passed, reference
from rowkind.plan.nodes import Named, Node, Project
from rowkind.plan.traits import upsert_keys
from rowkind.sql.tree_nodes import is_aggregate, type_node
from rowkind.types import BIGINT


@dataclass(frozen=True, slots=True)
class Inner:
    """The inner side of a semi or anti join: its columns have names of their own.

    `outputs` are the columns of its SELECT list, `conditions` what relates it to the outer query, resolved.
    """

    node: Node
    outputs: tuple[str, ...]
    conditions: tuple[exp.Expr, ...] = ()


def bind_inner(outer: Scope, query: exp.Expr, context: Context) -> Inner:
    """The query of an IN or EXISTS; parts of its WHERE that read outer columns become join conditions."""
    select = _select(query)
    related = _related(outer, select, context) if select is not None else []
    if not related or select is None:
        node = context.inside().bind_query(query)
        prefix = _prefix(outer)
        made = tuple(Named(prefix + c.name, passed(c.name, node)) for c in node.columns)
        return Inner(Project(node, made), tuple(m.name for m in made))
    _only_plain(select, context)
    return _related_inner(outer, select, related, context)


def _related_inner(outer: Scope, select: exp.Select, related: list[exp.Expr], context: Context) -> Inner:
    """Columns of the inner FROM, so that conditions on any of them can be decided by the join."""
    scope = context.bind_where(_without(select, related))
    prefix = _prefix(outer)
    conditions = tuple(_resolved(part, scope, outer, prefix) for part in related)
    items = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    outputs: list[Named] = []
    if not any(isinstance(item, exp.Star) or item.is_star for item in items):
        exprs = context.exprs([scope.resolve(item) for item in items], scope.types)
        outputs = [Named(f"{prefix}${i}", expr) for i, expr in enumerate(exprs)]
    read = {c.name for part in conditions for c in part.find_all(exp.Column)}
    kept = [Named(prefix + c.name, passed(c.name, scope.node)) for c in scope.node.columns if prefix + c.name in read]
    return Inner(Project(scope.node, (*outputs, *kept)), tuple(o.name for o in outputs), conditions)


def bind_scalar(outer: Scope, query: exp.Subquery, context: Context) -> tuple[Scope, exp.Expr]:
    """A subquery that gives one value: the outer rows with that value as a column, and the column's name."""
    select = _select(query)
    related = _related(outer, select, context) if select is not None else []
    if related and select is not None:
        return _related_scalar(outer, query, select, related, context)
    node = context.inside().bind_query(query)
    _one_column(node, query, context)
    if frozenset() not in upsert_keys(node):
        raise context.error("SCALAR_SUBQUERY_ROWS", query)
    name = _value_name(outer)
    right = Project(node, (Named(name, passed(node.columns[0].name, node)),))
    return _joined_value(outer, right, name, [], context)


def _related_scalar(
    outer: Scope, query: exp.Subquery, select: exp.Select, related: list[exp.Expr], context: Context
) -> tuple[Scope, exp.Expr]:
    """`(SELECT AVG(x) FROM t WHERE t.k = outer.k)`: grouped by k, and joined on it."""
    item = select.expressions[0].unalias()
    if not _single_aggregate(select):
        raise context.unsupported(query, "this correlated subquery", "Join a grouped subquery instead.")
    inner = bind_from(select, context)
    name = _value_name(outer)
    keys, parts = [], []
    for number, part in enumerate(related):
        sides = _inner_and_outer(part, inner, outer)
        if sides is None:
            raise context.unsupported(part, "a correlation that is no equality", "Join a grouped subquery instead.")
        keys.append(exp.alias_(sides[0].copy(), f"{name}.{number}", quoted=True))
        parts.append(exp.EQ(this=outer.resolve(sides[1]), expression=reference(f"{name}.{number}")))
    grouped = _without(select, related)
    grouped.set("expressions", [*keys, exp.alias_(item.copy(), name, quoted=True)])
    grouped.set("group", exp.Group(expressions=[key.this.copy() for key in keys]))
    scope, column = _joined_value(outer, context.inside().bind_query(grouped), name, parts, context)
    counts = [e for e in item.walk() if is_aggregate(e) and e.name.upper() == "COUNT"]
    if not counts:
        return scope, column
    if item is not counts[0]:
        raise context.unsupported(query, "COUNT inside an expression of a correlated subquery", "Select COUNT alone.")
    # No rows are no group, but COUNT of no rows is 0.
    zero = exp.Cast(this=exp.Literal.number(0), to=type_node(BIGINT.not_null()))
    return scope, exp.Anonymous(this="COALESCE", expressions=[column, zero])


def _single_aggregate(select: exp.Select) -> bool:
    if len(select.expressions) != 1 or any(select.args.get(c) for c in ("group", "having", "limit", "distinct")):
        return False
    return any(is_aggregate(e) for e in select.expressions[0].walk())


def _joined_value(
    outer: Scope, right: Node, name: str, parts: Sequence[exp.Expr], context: Context
) -> tuple[Scope, exp.Expr]:
    """The outer rows with the value beside them, NULL where the subquery gives no row."""
    node = joined(outer.node, right, JoinKind.LEFT, parts, context)
    return replace(outer, node=node), reference(name)


def _select(query: exp.Expr) -> exp.Select | None:
    """The SELECT of a subquery, if it is one that may be taken apart."""
    while isinstance(query, exp.Subquery) and not _tail(query):
        query = query.this
    return query if isinstance(query, exp.Select) and not query.args.get("with_") else None


def _tail(query: exp.Expr) -> bool:
    return any(query.args.get(clause) for clause in ("with_", "order", "limit", "offset"))


def _related(outer: Scope, select: exp.Select, context: Context) -> list[exp.Expr]:
    """The parts of a subquery's WHERE that read columns which only the outer query has."""
    where = select.args.get("where")
    if where is None:
        return []
    inner = bind_from(select, context)
    return [
        part
        for part in conjuncts(where.this)
        if not part.find(exp.Query)
        and any(not _known(c, inner) and _known(c, outer) for c in part.find_all(exp.Column))
    ]


def _known(column: exp.Column, scope: Scope) -> bool:
    try:
        scope.resolve(column)
    except RowkindError as error:
        return error.condition not in ("UNKNOWN_COLUMN", "UNKNOWN_RELATION")
    return True


def _resolved(part: exp.Expr, inner: Scope, outer: Scope, prefix: str) -> exp.Expr:
    """A condition over both queries: inner names come first, as SQL says."""

    def change(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        if not _known(node, inner):
            return outer.resolve(node)
        return inner.resolve(node).transform(lambda e: reference(prefix + e.name) if isinstance(e, exp.Column) else e)

    return part.copy().transform(change)


def _inner_and_outer(part: exp.Expr, inner: Scope, outer: Scope) -> tuple[exp.Expr, exp.Expr] | None:
    """The two sides of an equality, the inner one first; None for any other condition."""
    if not isinstance(part, exp.EQ):
        return None
    for a, b in ((part.this, part.expression), (part.expression, part.this)):
        mine, other = list(a.find_all(exp.Column)), list(b.find_all(exp.Column))
        if mine and other and all(_known(c, inner) for c in mine) and not any(_known(c, inner) for c in other):
            return a, b
    return None


def _without(select: exp.Select, parts: Sequence[exp.Expr]) -> exp.Select:
    """The SELECT without some parts of its WHERE."""
    rest = [part for part in conjuncts(select.args["where"].this) if all(part is not p for p in parts)]
    copy = select.copy()
    copy.set("where", exp.Where(this=exp.and_(*rest, copy=True)) if rest else None)
    return copy


def _only_plain(select: exp.Select, context: Context) -> None:
    """Grouping and limits of a correlated subquery would have to be done per outer row."""
    clause = next((c for c in ("group", "having", "limit", "offset") if select.args.get(c)), None)
    if clause or any(is_aggregate(e) for item in select.expressions for e in item.walk()):
        what = clause.upper() if clause else "an aggregate"
        raise context.unsupported(select, f"{what} in a correlated subquery", "Join a grouped subquery instead.")


def _one_column(node: Node, query: exp.Expr, context: Context) -> None:
    if len(node.columns) != 1:
        raise context.error("COLUMN_COUNT", query, what="this subquery", given=len(node.columns), expected=1)


def _prefix(outer: Scope) -> str:
    return fresh("$in", {c.name.partition(".")[0] for c in outer.node.columns}) + "."


def _value_name(outer: Scope) -> str:
    return fresh("$value", {c.name for c in outer.node.columns})
