"""GROUPING SETS, ROLLUP and CUBE: every row once per set, with the keys that the set leaves out as NULL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

from sqlglot import exp

from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Scope
from rowkind.plan.bind.windows import aggregate
from rowkind.plan.columns import reference
from rowkind.plan.nodes import Call, Expr, Named, Node, Project, Union
from rowkind.sql import render
from rowkind.sql.tree_nodes import type_node
from rowkind.types import BIGINT

SET_COLUMN = "$set"
"""The number of the grouping set that a row was made for: a key, so that rows of two sets never meet."""

GROUPINGS = ("GROUPING", "GROUPING_ID")


@dataclass(frozen=True, slots=True)
class SetsOfKeys:
    """All key columns of a GROUP BY, and for each grouping set those that it keeps."""

    names: tuple[str, ...]
    sets: tuple[frozenset[str], ...]


def written_sets(group: exp.Group) -> list[list[exp.Expr]]:
    """The grouping sets that a GROUP BY means: each of its items is a choice of keys, all choices are combined."""
    choices = [[[tree]] for tree in group.expressions]
    for kind in ("grouping_sets", "rollup", "cube"):
        choices += [_choice(item) for item in group.args.get(kind) or ()]
    return [[tree for keys in combined for tree in keys] for combined in product(*choices)]


def _choice(item: exp.Expr) -> list[list[exp.Expr]]:
    if isinstance(item, exp.GroupingSets):
        return [keys for inner in item.expressions for keys in _choice(inner)]
    if isinstance(item, exp.Rollup):
        members = [_members(e) for e in item.expressions]
        return [[tree for keys in members[:size] for tree in keys] for size in range(len(members), -1, -1)]
    if isinstance(item, exp.Cube):
        members = [_members(e) for e in item.expressions]
        sizes = range(len(members), -1, -1)
        return [[tree for keys in some for tree in keys] for size in sizes for some in combinations(members, size)]
    return [_members(item)]


def _members(item: exp.Expr) -> list[exp.Expr]:
    if isinstance(item, exp.Tuple):
        return list(item.expressions)
    return [item.this if isinstance(item, exp.Paren) else item]


def expanded(
    node: Node, columns: tuple[Named, ...], keys: SetsOfKeys, calls: tuple[Call, ...], context: Context
) -> Node:
    """The aggregate over one copy of the rows per grouping set."""
    arguments = {name for call in calls for name in (*call.arguments, call.filter) if name is not None}
    copies = {name: f"$of.{name}" for name in keys.names if name in arguments}
    branches = []
    for number, kept in enumerate(keys.sets):
        made = [_key(column, column.name in kept, keys, context) for column in columns]
        made += [Named(copies[c.name], c.expr) for c in columns if c.name in copies]
        number_of_set = exp.Cast(this=exp.Literal.number(number), to=type_node(BIGINT.not_null()))
        made.append(Named(SET_COLUMN, context.exprs([number_of_set], {})[0]))
        branches.append(Project(node, tuple(made)))
    moved = tuple(
        replace(
            call,
            arguments=tuple(copies.get(a, a) for a in call.arguments),
            filter=copies.get(call.filter, call.filter) if call.filter else None,
        )
        for call in calls
    )
    return aggregate(Union(tuple(branches)), (*keys.names, SET_COLUMN), moved)


def _key(column: Named, kept: bool, keys: SetsOfKeys, context: Context) -> Named:
    if column.name not in keys.names or all(column.name in one for one in keys.sets):
        return column
    type = column.expr.type.as_nullable()
    if not kept:
        null = exp.Cast(this=exp.Null(), to=type_node(type))
        return Named(column.name, replace(context.exprs([null], {})[0], type=type))
    return Named(column.name, Expr(column.expr.tree, column.expr.sql, type))


def grouping(call: exp.Anonymous, keys: Mapping[str, str], sets: SetsOfKeys, scope: Scope) -> exp.Expr:
    """GROUPING(a, b): a bit per argument, 1 where the row's grouping set leaves it out."""
    names = []
    for argument in call.expressions:
        if render(argument) not in keys:
            name = render(argument).rpartition(".")[2].strip("`")
            raise scope.error("NOT_GROUPED", argument, name=name)
        names.append(keys[render(argument)])
    bits = [sum((name not in kept) << place for place, name in enumerate(reversed(names))) for kept in sets.sets]
    numbers = [exp.Literal.number(value) for value in bits]
    if len(sets.sets) == 1:
        value: exp.Expr = numbers[0]
    else:
        branches = [
            exp.If(this=exp.EQ(this=reference(SET_COLUMN), expression=exp.Literal.number(i)), true=number)
            for i, number in enumerate(numbers[:-1])
        ]
        value = exp.Case(ifs=branches, default=numbers[-1])
    return exp.Cast(this=value, to=type_node(BIGINT.not_null()))
