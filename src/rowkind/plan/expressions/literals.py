"""Literals and columns."""

from __future__ import annotations

import re

from sqlglot import exp

from rowkind import types as t
from rowkind.errors import RowkindError, nearest
from rowkind.plan.expressions.scope import Scope, failure, rule
from rowkind.plan.expressions.typed import Typed, text
from rowkind.sql.literals import interval_length
from rowkind.types import DataType, Root, quote, spark_type

_INT = range(-(2**31), 2**31)
_BIGINT = range(-(2**63), 2**63)


@rule(exp.Paren)
def _paren(scope: Scope, node: exp.Expr) -> Typed:
    return scope.translate(node.this)


@rule(exp.Column)
def _column(scope: Scope, node: exp.Expr) -> Typed:
    name = node.name
    if name not in scope.columns:
        raise failure("UNKNOWN_COLUMN_IN_EXPRESSION", node, column=name, suggestion=nearest(name, scope.columns))
    return Typed(quote(name), scope.columns[name])


@rule(exp.Literal)
def _literal(scope: Scope, node: exp.Expr) -> Typed:
    value = str(node.this)
    return string(value) if node.is_string else number(value)


def string(value: str) -> Typed:
    # Flink counts a character outside of Unicode's first plane as two, as Java does.
    type = DataType(Root.CHAR, nullable=False, length=len(value.encode("utf-16-le")) // 2)
    return Typed(text(value), type, constant=value)


def number(value: str) -> Typed:
    """A number as Flink types it: INT, BIGINT, DECIMAL by its digits, or DOUBLE with an exponent."""
    if "e" in value.lower():
        return Typed(f"{value}D", t.DOUBLE.not_null())
    digits = re.sub(r"\.$", "", value)
    if "." not in digits:
        return _integer(int(digits), value)
    whole, _, fraction = digits.lstrip("-").partition(".")
    type = t.decimal(max(len(whole), 1) + len(fraction), len(fraction)).not_null()
    if (type.precision or 0) > 38:
        raise RowkindError("NUMBER_OUT_OF_RANGE", value=value)
    return Typed(f"CAST({digits}BD AS {spark_type(type)})", type)


def _integer(value: int, written: str) -> Typed:
    if value in _INT:
        return Typed(_signed(value, ""), t.INT.not_null(), constant=value)
    if value in _BIGINT:
        return Typed(_signed(value, "L"), t.BIGINT.not_null(), constant=value)
    raise RowkindError("NUMBER_OUT_OF_RANGE", value=written)


def _signed(value: int, suffix: str) -> str:
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


@rule(exp.Neg)
def _negative(scope: Scope, node: exp.Expr) -> Typed:
    operand = node.this
    if isinstance(operand, exp.Literal) and not operand.is_string and "." not in operand.this:
        return number("-" + operand.this)
    value = scope.translate(operand)
    if value.root not in t.NUMERICS | {Root.INTERVAL_DAY_TIME, Root.INTERVAL_YEAR_MONTH}:
        raise failure("OPERATOR_TYPES", node, operator="-", types=str(value.type))
    return Typed(f"(- {value.sql})", value.type)


@rule(exp.Boolean)
def _boolean(scope: Scope, node: exp.Expr) -> Typed:
    return Typed("TRUE" if node.this else "FALSE", t.BOOLEAN.not_null(), constant=bool(node.this))


@rule(exp.Null)
def _null(scope: Scope, node: exp.Expr) -> Typed:
    return Typed("NULL", t.NULL)


@rule(exp.HexString)
def _hex(scope: Scope, node: exp.Expr) -> Typed:
    return Typed(f"X'{node.this}'", DataType(Root.BINARY, nullable=False, length=len(node.this) // 2))


@rule(exp.Interval)
def _interval(scope: Scope, node: exp.Expr) -> Typed:
    """Day-time intervals hold milliseconds, as in Flink; year-month intervals are their number of months."""
    assert isinstance(node, exp.Interval)
    length = interval_length(node)
    if length.months or _in_months(node):
        return Typed(_signed(length.months, ""), DataType(Root.INTERVAL_YEAR_MONTH, nullable=False))
    millis = abs(length.microseconds) // 1000
    seconds = f"{'-' if length.microseconds < 0 else ''}{millis // 1000}.{millis % 1000:03}"
    return Typed(f"INTERVAL '{_clock(seconds)}' DAY TO SECOND", DataType(Root.INTERVAL_DAY_TIME, nullable=False))


def _in_months(node: exp.Interval) -> bool:
    unit = node.args["unit"]
    return (unit.this if isinstance(unit, exp.IntervalSpan) else unit).name in ("YEAR", "QUARTER", "MONTH")


def _clock(seconds: str) -> str:
    """Seconds as Spark reads a DAY TO SECOND literal."""
    sign = "-" if seconds.startswith("-") else ""
    whole, _, fraction = seconds.removeprefix("-").partition(".")
    minutes, second = divmod(int(whole), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"{sign}{days} {hour:02}:{minute:02}:{second:02}.{fraction}"
