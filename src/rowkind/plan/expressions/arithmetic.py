"""+ - * / % with Flink's result types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from rowkind import types as t
from rowkind.plan.expressions import temporal
from rowkind.plan.expressions.casts import convert
from rowkind.plan.expressions.common import APPROXIMATE, INTERVALS, as_decimal, common_type
from rowkind.plan.expressions.scope import Scope, failure, rule
from rowkind.plan.expressions.typed import Typed, any_nullable
from rowkind.types import DataType, Root, spark_type

_SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_TEMPORAL = t.TIMESTAMPS | {Root.DATE, Root.TIME} | INTERVALS


@rule(*_SIGNS)
def _operation(scope: Scope, node: exp.Expr) -> Typed:
    operator = _SIGNS[type(node)]
    left, right = scope.translate(node.this), scope.translate(node.expression)
    if left.root in _TEMPORAL or right.root in _TEMPORAL:
        found = temporal.arithmetic(operator, left, right)
    else:
        found = arithmetic(operator, left, right)
    if found is None:
        raise failure("OPERATOR_TYPES", node, operator=operator, types=f"{left.type} and {right.type}")
    return found


def arithmetic(operator: str, left: Typed, right: Typed) -> Typed | None:
    """Two numbers; None when the operator does not take them."""
    left, right = _typed_null(left, right), _typed_null(right, left)
    if left.root not in t.NUMERICS or right.root not in t.NUMERICS:
        return None
    if left.root in APPROXIMATE or right.root in APPROXIMATE:
        return _floating(operator, left, right)
    nullable = any_nullable([left, right])
    if Root.DECIMAL in (left.root, right.root):
        return _decimal(operator, left, right, nullable)
    return _integer(operator, left, right, nullable)


def _typed_null(value: Typed, other: Typed) -> Typed:
    return convert(value, other.type.as_nullable()) if value.is_null and not other.is_null else value


def _integer(operator: str, left: Typed, right: Typed, nullable: bool) -> Typed:
    type = common_type([left.type, right.type])
    assert type
    a, b = convert(left, type).sql, convert(right, type).sql
    if operator == "/":
        return Typed(f"CAST({a} DIV {b} AS {spark_type(type)})", type)
    if operator == "%":
        # The remainder has the divisor's type, as Calcite has it.
        return convert(Typed(f"({a} % {b})", type), replace(right.type, nullable=nullable))
    return Typed(f"({a} {operator} {b})", type)


def _floating(operator: str, left: Typed, right: Typed) -> Typed | None:
    if operator == "%":
        return None
    type = _floating_type(left.type, right.type)
    a, b = convert(left, type).sql, convert(right, type).sql
    if operator != "/":
        return Typed(f"({a} {operator} {b})", type)
    return Typed(floating_quotient(a, b, spark_type(type)), type)


def _floating_type(left: DataType, right: DataType) -> DataType:
    """FLOAT with DOUBLE keeps the type on the left: Flink takes the two for equally wide."""
    nullable = left.nullable or right.nullable
    if left.root in APPROXIMATE and right.root in APPROXIMATE:
        return replace(left, nullable=nullable)
    found = common_type([left, right])
    assert found
    return found


def floating_quotient(a: str, b: str, type: str) -> str:
    """Division by zero gives infinity or NaN, as for every IEEE number in Flink; Spark would fail."""
    by_zero = f"CASE WHEN {a} > 0 AND NOT isnan({a}) THEN 'Infinity' WHEN {a} < 0 THEN '-Infinity' ELSE 'NaN' END"
    return f"IF({b} = 0, IF({a} IS NULL, NULL, CAST({by_zero} AS {type})), CAST(try_divide({a}, {b}) AS {type}))"


def _decimal(operator: str, left: Typed, right: Typed, nullable: bool) -> Typed:
    p1, s1 = as_decimal(left.type)
    p2, s2 = as_decimal(right.type)
    type = replace(_RESULTS[operator](p1, s1, p2, s2), nullable=nullable)
    a, b = convert(left, t.decimal(p1, s1)).sql, convert(right, t.decimal(p2, s2)).sql
    if operator == "%" and s1 == s2 == 0:
        # The remainder of whole numbers has the divisor's type, as Calcite has it.
        type = replace(right.type, nullable=nullable)
    return Typed(f"CAST(({a} {operator} {b}) AS {spark_type(type)})", type)


def adjusted(precision: int, scale: int) -> DataType:
    """A result that may not fit 38 digits gives up digits of its fraction, but keeps up to six of them."""
    if precision <= 38:
        return t.decimal(precision, scale)
    return t.decimal(38, max(38 - (precision - scale), min(scale, 6)))


def _sum_type(p1: int, s1: int, p2: int, s2: int) -> DataType:
    scale = max(s1, s2)
    return adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)


def _product_type(p1: int, s1: int, p2: int, s2: int) -> DataType:
    return adjusted(p1 + p2 + 1, s1 + s2)


def _quotient_type(p1: int, s1: int, p2: int, s2: int) -> DataType:
    scale = max(6, s1 + p2 + 1)
    return adjusted(p1 - s1 + s2 + scale, scale)


def _remainder_type(p1: int, s1: int, p2: int, s2: int) -> DataType:
    scale = max(s1, s2)
    return adjusted(min(p1 - s1, p2 - s2) + scale, scale)


_RESULTS: dict[str, Callable[[int, int, int, int], DataType]] = {
    "+": _sum_type,
    "-": _sum_type,
    "*": _product_type,
    "/": _quotient_type,
    "%": _remainder_type,
}
