"""GROUP BY and aggregate calls: one projection below, the aggregate, and the SELECT list rewritten above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from rowkind.catalog.types import BIGINT
from rowkind.plan.aggregates import SYNONYMS, is_aggregate, result_type
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Scope, reference
from rowkind.plan.bind.select import Item
from rowkind.plan.nodes import Aggregate, Call, Named, Node, Project


@dataclass(slots=True)
class _Inputs:
    """The columns that the aggregate reads, each made once."""

    scope: Scope
    context: Context
    made: dict[str, Named] = field(default_factory=dict)

    def column(self, tree: exp.Expr) -> Named:
        """The input column of an expression: itself where it is a column, else a computed one."""
        expr = self.context.exprs([tree], self.scope.types)[0]
        name = expr.column or f"${len(self.made)}"
        return self.made.setdefault(expr.sql, Named(name, expr))


def bind_grouping(
    select: exp.Select, scope: Scope, items: Sequence[Item], having: exp.Expr | None, context: Context
) -> tuple[Node, list[Item], exp.Expr | None]:
    """The aggregate, and the SELECT items and HAVING in terms of its columns."""
    inputs = _Inputs(scope, context)
    sets = _grouping_sets(select, scope, context)
    keys = [inputs.column(tree) for tree in dict.fromkeys(tree for group in sets for tree in group)]
    named = {key.expr.tree.sql(): key.name for key in keys}
    calls: dict[str, Call] = {}
    marked = [*(item.tree for item in items), *([having] if having is not None else [])]
    for tree in marked:
        for found in _calls(tree):
            calls.setdefault(found.sql(), _call(found, inputs, len(calls)))
    node = _aggregate(sets, keys, named, list(calls.values()), inputs, context)
    rewrite = _Rewriting(named, {text: call.name for text, call in calls.items()}, scope)
    rewritten = [Item(item.name, rewrite(item.tree)) for item in items]
    return node, rewritten, None if having is None else rewrite(having)


def _aggregate(
    sets: Sequence[Sequence[exp.Expr]],
    keys: Sequence[Named],
    named: dict[str, str],
    calls: Sequence[Call],
    inputs: _Inputs,
    context: Context,
) -> Node:
    columns = tuple(inputs.made.values())
    if len(sets) == 1:
        plain = all(m.expr.column == m.name for m in columns)
        below = inputs.scope.node if plain and columns else Project(inputs.scope.node, columns)
        return Aggregate(below, tuple(k.name for k in keys), tuple(calls))
    from rowkind.plan.bind.grouping_sets import expanded

    kept = [{named[tree.sql()] for tree in group} for group in sets]
    return expanded(inputs.scope.node, columns, [k.name for k in keys], kept, tuple(calls))


def _grouping_sets(select: exp.Select, scope: Scope, context: Context) -> list[list[exp.Expr]]:
    group = select.args.get("group")
    if group is None:
        return [[]]
    if any(group.args.get(kind) for kind in ("grouping_sets", "rollup", "cube")):
        from rowkind.plan.bind.grouping_sets import written_sets

        return [[scope.resolve(tree) for tree in one] for one in written_sets(group, context)]
    return [[scope.resolve(tree) for tree in group.expressions]]


def _calls(tree: exp.Expr) -> list[exp.Expr]:
    """Aggregate calls in a tree with the FILTER around them; those under OVER belong to the window."""
    found: list[exp.Expr] = []
    for node in tree.find_all(exp.Anonymous):
        if not is_aggregate(node):
            continue
        whole: exp.Expr = node
        while isinstance(whole.parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
            whole = whole.parent
        if not isinstance(whole.parent, exp.Window) or whole.arg_key != "this":
            found.append(whole)
    return found


def _call(written: exp.Expr, inputs: _Inputs, index: int) -> Call:
    condition, call = None, written
    while not isinstance(call, exp.Anonymous):
        if isinstance(call, exp.Filter):
            condition = call.expression.this
        call = call.this
    function = SYNONYMS.get(call.name.upper(), call.name.upper())
    arguments, distinct = list(call.expressions), False
    if arguments and isinstance(arguments[0], exp.Distinct):
        arguments, distinct = arguments[0].expressions + arguments[1:], True
    if arguments and isinstance(arguments[0], exp.Star):
        arguments = []
    nested = next((e for a in arguments for e in a.walk() if is_aggregate(e)), None)
    if nested is not None:
        raise inputs.context.unsupported(nested, "an aggregate inside an aggregate", "Aggregate in a subquery first.")
    if function == "COUNT" and arguments and not distinct and not _nullable(arguments, inputs):
        arguments = []
    columns = [inputs.column(a) for a in arguments]
    filtered = inputs.column(condition).name if condition is not None else None
    type = result_type(function, columns[0].expr.type if columns else BIGINT)
    return Call(f"${function}{index}", function, tuple(c.name for c in columns), type, distinct, filtered)


def _nullable(arguments: Sequence[exp.Expr], inputs: _Inputs) -> bool:
    return any(inputs.context.exprs([a], inputs.scope.types)[0].type.nullable for a in arguments)


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """Puts columns of the aggregate in the place of group expressions and aggregate calls."""

    keys: dict[str, str]
    calls: dict[str, str]
    scope: Scope

    def __call__(self, tree: exp.Expr) -> exp.Expr:
        rewritten = tree.copy().transform(self._node)
        known = {*self.keys.values(), *self.calls.values()}
        for column in rewritten.find_all(exp.Column):
            if column.name not in known:
                name = column.name.rpartition(".")[2]
                raise self.scope.error("NOT_GROUPED", column, name=name)
        return rewritten

    def _node(self, node: exp.Expr) -> exp.Expr:
        text = node.sql()
        name = self.calls.get(text) or self.keys.get(text)
        return reference(name) if name else node
