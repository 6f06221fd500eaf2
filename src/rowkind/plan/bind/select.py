"""SELECT: from its FROM clause to the columns it makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rowkind.plan.aggregates import is_aggregate
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.relations import bind_from
from rowkind.plan.bind.scope import Scope
from rowkind.plan.nodes import Aggregate, Filter, Named, Node, Project


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the SELECT list: the name of its column and its resolved tree."""

    name: str
    tree: exp.Expr


def bind_select(select: exp.Select, context: Context) -> Node:
    """The plan of one SELECT, its columns named as the user sees them."""
    _refuse(select, context)
    scope = bind_where(bind_from(select, context), select.args.get("where"), context)
    items = list(_items(select.expressions, scope))
    having = select.args.get("having")
    condition = scope.resolve(having.this) if having else None
    if _grouped(select, items, condition):
        from rowkind.plan.bind.grouping import bind_grouping

        node, items, condition = bind_grouping(select, scope, items, condition, context)
        scope = Scope(node, (), scope.source, {})
        if condition is not None:
            scope = _filtered(scope, condition, context)
    if any(_windows(item.tree) for item in items):
        from rowkind.plan.bind.over import bind_over

        scope, items = bind_over(select, scope, items, context)
    node = _projected(scope, items, context)
    if select.args.get("distinct"):
        node = Aggregate(node, tuple(c.name for c in node.columns))
    if any(select.args.get(clause) for clause in ("order", "limit", "offset")):
        from rowkind.plan.bind.order import bind_order

        return bind_order(node, select, context)
    return node


def bind_where(scope: Scope, where: exp.Expr | None, context: Context) -> Scope:
    """WHERE: subqueries become joins, the rest a filter."""
    if where is None:
        return scope
    plain: list[exp.Expr] = []
    with_query: list[exp.Expr] = []
    for part in conjuncts(where.this):
        (with_query if part.find(exp.Query) else plain).append(part)
    if plain:
        scope = _filtered(scope, scope.resolve(exp.and_(*plain, copy=True)), context)
    if with_query:
        from rowkind.plan.bind.subqueries import bind_subquery_condition

        for part in with_query:
            scope = bind_subquery_condition(scope, part, context)
    return scope


def conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that are joined by AND."""
    tree = tree.unnest()
    if isinstance(tree, exp.And):
        return [*conjuncts(tree.this), *conjuncts(tree.expression)]
    return [tree]


def _filtered(scope: Scope, resolved: exp.Expr, context: Context) -> Scope:
    from rowkind.plan.bind.ranks import bind_rank_filter

    ranked = bind_rank_filter(scope, resolved, context)
    if ranked is not None:
        return ranked
    condition = context.exprs([resolved], scope.types)[0]
    return Scope(Filter(scope.node, condition), scope.relations, scope.source, scope.merged)


def _items(expressions: Sequence[exp.Expr], scope: Scope) -> Iterable[Item]:
    for index, written in enumerate(expressions):
        if isinstance(written, exp.Star):
            yield from (Item(name, tree) for name, tree in scope.star(None))
        elif isinstance(written, exp.Column) and isinstance(written.this, exp.Star):
            yield from (Item(name, tree) for name, tree in scope.star(written.args["table"]))
        else:
            inner = written.this if isinstance(written, exp.Alias) else written
            yield Item(_name(written, index), scope.resolve(inner))


def _name(written: exp.Expr, index: int) -> str:
    if isinstance(written, exp.Alias):
        return str(written.alias)
    if isinstance(written, exp.Column):
        return str(written.name)
    return f"EXPR${index}"


def _projected(scope: Scope, items: Sequence[Item], context: Context) -> Node:
    exprs = context.exprs([item.tree for item in items], scope.types)
    names = unique([item.name for item in items])
    made = tuple(Named(name, expr) for name, expr in zip(names, exprs, strict=True))
    if [m.name for m in made] == [c.name for c in scope.node.columns] and all(m.expr.column == m.name for m in made):
        return scope.node
    return Project(scope.node, made)


def unique(names: Sequence[str]) -> list[str]:
    """Names made distinct the way Flink does: a second `id` becomes `id0`."""
    seen: set[str] = set()
    result = []
    for name in names:
        fresh, number = name, 0
        while fresh in seen:
            fresh, number = f"{name}{number}", number + 1
        seen.add(fresh)
        result.append(fresh)
    return result


def _grouped(select: exp.Select, items: Sequence[Item], having: exp.Expr | None) -> bool:
    if select.args.get("group") or having is not None:
        return True
    return any(_aggregates(item.tree) for item in items)


def _aggregates(tree: exp.Expr) -> bool:
    return any(is_aggregate(e) and not isinstance(_caller(e), exp.Window) for e in tree.walk())


def _caller(node: exp.Expr) -> exp.Expr | None:
    """What an aggregate call is wrapped in, past its FILTER and null treatment."""
    parent = node.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        parent = parent.parent
    return parent


def _windows(tree: exp.Expr) -> bool:
    return tree.find(exp.Window) is not None


def _refuse(select: exp.Select, context: Context) -> None:
    for clause, feature in (("laterals", "LATERAL VIEW"), ("qualify", "QUALIFY"), ("match", "MATCH_RECOGNIZE")):
        if found := select.args.get(clause):
            at = found[0] if isinstance(found, list) else found
            raise context.unsupported(at, feature, "Write it as a subquery with ROW_NUMBER(), or as a join.")
