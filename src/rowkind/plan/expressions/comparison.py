"""Comparisons, boolean operators and predicates."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rowkind import types as t
from rowkind.plan.expressions import temporal
from rowkind.plan.expressions.casts import convert, to_common, widened
from rowkind.plan.expressions.common import INTERVALS, common_type
from rowkind.plan.expressions.patterns import like, similar
from rowkind.plan.expressions.scope import Scope, failure, rule
from rowkind.plan.expressions.typed import Typed, any_nullable
from rowkind.types import Root

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TEMPORAL = t.TIMESTAMPS | {Root.DATE, Root.TIME}
_UNORDERED = frozenset({Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW})


def boolean(sql: str, *args: Typed) -> Typed:
    return Typed(sql, replace(t.BOOLEAN, nullable=any_nullable(args)))


@rule(*_COMPARISONS)
def _comparison(scope: Scope, node: exp.Expr) -> Typed:
    operator = _COMPARISONS[type(node)]
    if pairs := _members(node):
        return _rows(scope, pairs, operator)
    left, right = comparable(scope.all([node.this, node.expression]), node)
    if left.root in _UNORDERED and operator not in ("=", "<>"):
        raise failure("OPERATOR_TYPES", node, operator=operator, types=f"{left.type} and {right.type}")
    return boolean(f"({_key(left)} {operator} {_key(right)})", left, right)


def _members(node: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The members of `(a, b) = (c, d)` in pairs; empty for anything else."""
    sides = [node.this, node.expression]
    if not isinstance(node, exp.EQ | exp.NEQ) or not all(isinstance(side, exp.Tuple) for side in sides):
        return []
    left, right = (side.expressions for side in sides)
    return list(zip(left, right, strict=True)) if len(left) == len(right) else []


def _rows(scope: Scope, pairs: list[tuple[exp.Expr, exp.Expr]], operator: str) -> Typed:
    """Member by member, so that a NULL among them leaves the outcome open."""
    tests = [_comparison(scope, exp.EQ(this=a.copy(), expression=b.copy())) for a, b in pairs]
    same = " AND ".join(test.sql for test in tests)
    return boolean(f"({same})" if operator == "=" else f"(NOT ({same}))", *tests)


@rule(exp.NullSafeEQ, exp.NullSafeNEQ)
def _distinct(scope: Scope, node: exp.Expr) -> Typed:
    left, right = comparable(scope.all([node.this, node.expression]), node)
    same = f"({_key(left)} <=> {_key(right)})"
    return Typed(same if isinstance(node, exp.NullSafeEQ) else f"(NOT {same})", t.BOOLEAN.not_null())


def comparable(values: list[Typed], node: exp.Expr) -> list[Typed]:
    """Values in one type, so that they can be compared. A text beside a date or time is read as one."""
    temporal = [v.type for v in values if v.root in _TEMPORAL]
    if temporal and any(v.root in t.CHARACTERS for v in values):
        target = common_type([x.as_nullable() for x in temporal])
        if target is not None:
            values = [convert(v, target) if v.root in t.CHARACTERS else v for v in values]
    return to_common(values, common_type([v.type for v in values]), "NOT_COMPARABLE", node)


def _key(value: Typed) -> str:
    """Spark compares no maps, so they are compared by their sorted entries."""
    if value.root in (Root.MAP, Root.MULTISET):
        return f"array_sort(map_entries({value.sql}))"
    return value.sql


@rule(exp.And, exp.Or)
def _connected(scope: Scope, node: exp.Expr) -> Typed:
    left, right = (_truth(v, node) for v in scope.all([node.this, node.expression]))
    word = "AND" if isinstance(node, exp.And) else "OR"
    return boolean(f"({left.sql} {word} {right.sql})", left, right)


@rule(exp.Not)
def _not(scope: Scope, node: exp.Expr) -> Typed:
    value = _truth(scope.translate(node.this), node)
    return boolean(f"(NOT {value.sql})", value)


def _truth(value: Typed, node: exp.Expr) -> Typed:
    if value.root not in (Root.BOOLEAN, Root.NULL):
        raise failure("NOT_A_CONDITION", node, type=value.type)
    return convert(value, t.BOOLEAN)


@rule(exp.Is)
def _is(scope: Scope, node: exp.Expr) -> Typed:
    value, what = scope.translate(node.this), node.expression
    if isinstance(what, exp.Null):
        return Typed(f"({value.sql} IS NULL)", t.BOOLEAN.not_null())
    if isinstance(what, exp.Boolean):
        return Typed(f"({_truth(value, node).sql} <=> {'TRUE' if what.this else 'FALSE'})", t.BOOLEAN.not_null())
    return _is_json(value, str(what.this or "VALUE"), node)


def _is_json(value: Typed, kind: str, node: exp.Expr) -> Typed:
    if value.root not in t.CHARACTERS | {Root.NULL}:
        raise failure("FUNCTION_ARGUMENT", node, function="IS JSON", position=1, expected="a string", found=value.type)
    parsed = f"try_parse_json({value.sql})"
    shape = f"schema_of_variant({parsed})"
    test = {
        "VALUE": f"{parsed} IS NOT NULL",
        "OBJECT": f"coalesce({shape} LIKE 'OBJECT%', FALSE)",
        "ARRAY": f"coalesce({shape} LIKE 'ARRAY%', FALSE)",
        "SCALAR": f"coalesce({shape} NOT LIKE 'OBJECT%' AND {shape} NOT LIKE 'ARRAY%', FALSE)",
    }[kind.upper()]
    return Typed(f"({test})", t.BOOLEAN.not_null())


@rule(exp.Between)
def _between(scope: Scope, node: exp.Expr) -> Typed:
    nodes = [node.this, node.args["low"], node.args["high"]]
    value, low, high = comparable(scope.all(nodes), node)
    inside = _inside(value, low, high)
    if node.args.get("symmetric"):
        inside = f"({inside} OR {_inside(value, high, low)})"
    return boolean(inside, value, low, high)


def _inside(value: Typed, low: Typed, high: Typed) -> str:
    return f"({value.sql} >= {low.sql} AND {value.sql} <= {high.sql})"


@rule(exp.In)
def _in(scope: Scope, node: exp.Expr) -> Typed:
    value, *members = comparable(scope.all([node.this, *node.expressions]), node)
    listed = ", ".join(_key(m) for m in members)
    return boolean(f"({_key(value)} IN ({listed}))", value, *members)


@rule(exp.Overlaps)
def _overlaps(scope: Scope, node: exp.Expr) -> Typed:
    """Two periods, each from a point to another or for an interval, have a point in common."""
    (start, end), (other_start, other_end) = (_period(scope, side, node) for side in (node.this, node.expression))
    start, end, other_start, other_end = comparable([start, end, other_start, other_end], node)
    first, last = f"least({start.sql}, {end.sql})", f"greatest({start.sql}, {end.sql})"
    other_first = f"least({other_start.sql}, {other_end.sql})"
    other_last = f"greatest({other_start.sql}, {other_end.sql})"
    ends = (start, end, other_start, other_end)
    unknown = " OR ".join(f"{point.sql} IS NULL" for point in ends if point.nullable)
    meet = f"({last} >= {other_first} AND {other_last} >= {first})"
    # The least and the greatest of two points leave a NULL out.
    return boolean(f"IF({unknown}, NULL, {meet})" if unknown else meet, *ends)


def _period(scope: Scope, node: exp.Expr, whole: exp.Expr) -> tuple[Typed, Typed]:
    if not isinstance(node, exp.Tuple) or len(node.expressions) != 2:
        raise failure("EXPRESSION_NOT_SUPPORTED", whole, kind="OVERLAPS")
    start, end = scope.all(node.expressions)
    moved = temporal.arithmetic("+", start, end) if end.root in INTERVALS else end
    if moved is None:
        raise failure("OPERATOR_TYPES", whole, operator="OVERLAPS", types=f"{start.type} and {end.type}")
    return start, moved


@rule(exp.Like, exp.SimilarTo, exp.Escape)
def _matches(scope: Scope, node: exp.Expr) -> Typed:
    test = node.this if isinstance(node, exp.Escape) else node
    escape = scope.translate(node.expression) if isinstance(node, exp.Escape) else None
    value, pattern = (_text(v, node) for v in scope.all([test.this, test.expression]))
    found = similar(value, pattern, escape) if isinstance(test, exp.SimilarTo) else like(value, pattern, escape)
    if found is None:
        raise failure("PATTERN_NOT_CONSTANT", node)
    return boolean(found, value, pattern)


def _text(value: Typed, node: exp.Expr) -> Typed:
    if value.root not in t.CHARACTERS | {Root.NULL}:
        raise failure("OPERATOR_TYPES", node, operator="LIKE", types=str(value.type))
    return widened(value, t.STRING)


@rule(exp.DPipe)
def _concatenated(scope: Scope, node: exp.Expr) -> Typed:
    left, right = scope.all([node.this, node.expression])
    for family, variable, fixed in ((t.CHARACTERS, Root.VARCHAR, Root.CHAR), (t.BINARIES, Root.VARBINARY, Root.BINARY)):
        if {left.root, right.root} <= family | {Root.NULL}:
            length = min((left.type.length or 0) + (right.type.length or 0), t.MAX_LENGTH)
            root = fixed if left.root is right.root is fixed else variable
            type = t.DataType(root, nullable=any_nullable([left, right]), length=length)
            return Typed(f"({left.sql} || {right.sql})", type)
    raise failure("OPERATOR_TYPES", node, operator="||", types=f"{left.type} and {right.type}")
