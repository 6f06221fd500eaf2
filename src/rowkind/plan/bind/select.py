"""SELECT: from its FROM clause to the columns it makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from rowkind.plan.bind.context import Context
from rowkind.plan.bind.group_windows import with_group_windows
from rowkind.plan.bind.grouping import bind_grouping
from rowkind.plan.bind.order import limited, sorting
from rowkind.plan.bind.over import bind_over, with_named_windows
from rowkind.plan.bind.predicates import Waiting, conjuncts, filtered
from rowkind.plan.bind.relations import bind_from
from rowkind.plan.bind.scope import Item, Scope
from rowkind.plan.bind.subqueries import bind_subquery_condition, with_scalar_queries
from rowkind.plan.bind.windows import aggregate
from rowkind.plan.nodes import Named, Node, Project
from rowkind.sql.tree_nodes import is_aggregate


def bind_select(select: exp.Select, context: Context) -> Node:
    """The plan of one SELECT, its columns named as the user sees them."""
    _refuse(select, context)
    select = with_named_windows(select, context)
    scope = bind_where(select, context)
    scope, select = with_scalar_queries(scope, select, context)
    scope, select = with_group_windows(scope, select, context)
    items = list(_items(select.expressions, scope))
    width = len(items)
    order, items = sorting(select, items, scope, context)
    scope, items = _grouped(select, scope, items, context)
    if any(item.tree.find(exp.Window) for item in items):
        scope, items = bind_over(scope, items, context)
    node = _projected(scope, items, context)
    if select.args.get("distinct"):
        node = aggregate(node, tuple(c.name for c in node.columns))
    return limited(node, order, select, width, context)


def bind_where(select: exp.Select, context: Context) -> Scope:
    """FROM and WHERE: conditions go down to the joins and relations they are about, subqueries become joins."""
    where = select.args.get("where")
    waiting = Waiting(conjuncts(where.this) if where else [])
    scope = bind_from(select, context, waiting)
    for part in waiting.taken:
        scope.resolve(part)  # A name may have become ambiguous with the relations that followed.
    plain = [part for part in waiting.parts if not part.find(exp.Query)]
    if plain:
        scope = filtered(scope, [scope.resolve(part) for part in plain], context)
    for part in waiting.parts:
        if part.find(exp.Query):
            scope = bind_subquery_condition(scope, part, context)
    return scope


def _grouped(select: exp.Select, scope: Scope, items: list[Item], context: Context) -> tuple[Scope, list[Item]]:
    """The scope behind GROUP BY and HAVING, where there is any aggregation."""
    having = select.args.get("having")
    if not select.args.get("group") and having is None and not any(_aggregates(item.tree) for item in items):
        return scope, items
    if having is not None and having.find(exp.Query):
        raise context.unsupported(having, "a subquery in HAVING", "Filter with WHERE around the grouped query.")
    condition = scope.resolve(having.this) if having else None
    node, items, condition = bind_grouping(select, scope, items, condition, context)
    scope = Scope(node, (), scope.source)
    return filtered(scope, conjuncts(condition), context) if condition is not None else scope, items


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


def _aggregates(tree: exp.Expr) -> bool:
    return any(is_aggregate(e) and not isinstance(_caller(e), exp.Window) for e in tree.walk())


def _caller(node: exp.Expr) -> exp.Expr | None:
    """What an aggregate call is wrapped in, past its FILTER and null treatment."""
    parent = node.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        parent = parent.parent
    return parent


def _refuse(select: exp.Select, context: Context) -> None:
    for clause, feature in (("laterals", "LATERAL VIEW"), ("qualify", "QUALIFY"), ("match", "MATCH_RECOGNIZE")):
        if found := select.args.get(clause):
            at = found[0] if isinstance(found, list) else found
            raise context.unsupported(at, feature, "Write it as a subquery with ROW_NUMBER(), or as a join.")
