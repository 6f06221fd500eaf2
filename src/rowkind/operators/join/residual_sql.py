"""Which join conditions a worker can evaluate, and how DuckDB writes them. Used while planning, not in workers.

Allowed are comparisons, AND, OR, NOT, IS [NOT] NULL / TRUE / FALSE, IS [NOT] DISTINCT FROM, BETWEEN, IN with a list,
LIKE with a plain pattern, + - * of integers, dates and timestamps plus or minus an interval of days or less, literals,
and casts that lose nothing. For these DuckDB gives what Flink gives, over the types that `_FAMILIES` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.operators.join.residual import DuckResidual

INTEGER, DECIMAL, FLOAT, NULL, INTERVAL = "INTEGER", "DECIMAL", "FLOAT", "NULL", "INTERVAL"
BOOLEAN, TEXT, TIMESTAMP = "BOOLEAN", "STRING", "TIMESTAMP"
_NUMBERS = (INTEGER, DECIMAL, FLOAT)
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
_FAMILIES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_integer, INTEGER),
    (pa.types.is_decimal, DECIMAL),
    (pa.types.is_floating, FLOAT),
    (pa.types.is_boolean, BOOLEAN),
    (lambda t: pa.types.is_string(t) or pa.types.is_large_string(t), TEXT),
    (lambda t: pa.types.is_binary(t) or pa.types.is_large_binary(t), "BYTES"),
    (pa.types.is_date, "DATE"),
    (pa.types.is_time, "TIME"),
    (lambda t: pa.types.is_timestamp(t) and t.tz is None, TIMESTAMP),
    (lambda t: pa.types.is_timestamp(t) and t.tz is not None, "TIMESTAMP_LTZ"),
)
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}


class _Part(NamedTuple):
    sql: str
    family: str


def residual_supported(tree: exp.Expr, types: Mapping[str, pa.DataType]) -> bool:
    """Whether `duck_residual` takes the condition."""
    try:
        duck_residual(tree, types)
    except RowkindError:
        return False
    return True


def duck_residual(tree: exp.Expr, types: Mapping[str, pa.DataType]) -> DuckResidual:
    """A resolved condition over columns of the given types. Raises JOIN_CONDITION_NOT_SUPPORTED.

    >>> import sqlglot
    >>> duck_residual(sqlglot.parse_one("a < b AND NOT b IS NULL"), {"a": pa.int32(), "b": pa.int64()}).sql
    '((c0 < c1) AND (NOT (c1 IS NULL)))'
    """
    writer = _Writer(types)
    part = writer.logical(tree)
    return DuckResidual(part.sql, tuple(writer.columns))


class _Writer:
    def __init__(self, types: Mapping[str, pa.DataType]) -> None:
        self._types = types
        self.columns: list[str] = []

    def logical(self, tree: exp.Expr) -> _Part:
        part = self.written(tree)
        if part.family not in (BOOLEAN, NULL):
            raise _refused(tree, f"it is a {part.family}, not a condition")
        return part

    def written(self, tree: exp.Expr) -> _Part:
        if isinstance(tree, exp.Paren):
            return self.written(tree.this)
        if isinstance(tree, exp.Column):
            return self._column(tree)
        if isinstance(tree, exp.Literal):
            return _literal(tree)
        if isinstance(tree, exp.Null):
            return _Part("NULL", NULL)
        if isinstance(tree, exp.Boolean):
            return _Part("TRUE" if tree.this else "FALSE", BOOLEAN)
        if isinstance(tree, exp.Not):
            return _Part(f"(NOT {self.logical(tree.this).sql})", BOOLEAN)
        if isinstance(tree, exp.And | exp.Or):
            word = "AND" if isinstance(tree, exp.And) else "OR"
            return _Part(f"({self.logical(tree.this).sql} {word} {self.logical(tree.expression).sql})", BOOLEAN)
        if type(tree) in _COMPARISONS:
            left, right = self._comparable(tree, tree.this, tree.expression)
            return _Part(f"({left} {_COMPARISONS[type(tree)]} {right})", BOOLEAN)
        if type(tree) in _ARITHMETIC:
            return self._arithmetic(tree)
        special = getattr(self, f"_{type(tree).__name__.lower()}", None)
        if special is None:
            raise _refused(tree, "this kind of expression is not known to mean the same everywhere")
        part: _Part = special(tree)
        return part

    def _column(self, tree: exp.Column) -> _Part:
        type = self._types.get(tree.name)
        family = next((name for fits, name in _FAMILIES if type is not None and fits(type)), None)
        if family is None:
            raise _refused(tree, f"values of type {type} cannot be compared")
        if tree.name not in self.columns:
            self.columns.append(tree.name)
        return _Part(f"c{self.columns.index(tree.name)}", family)

    def _comparable(self, tree: exp.Expr, *operands: exp.Expr) -> list[str]:
        """The operands in one type."""
        parts = [self.written(operand) for operand in operands]
        families = {part.family for part in parts} - {NULL}
        if FLOAT in families and families <= {*_NUMBERS}:
            return [f"CAST({part.sql} AS DOUBLE)" for part in parts]
        if INTERVAL in families or (len(families) > 1 and not families <= {*_NUMBERS}):
            raise _refused(tree, f"it compares {' with '.join(sorted(families))}")
        return [part.sql for part in parts]

    def _arithmetic(self, tree: exp.Expr) -> _Part:
        left, right = self.written(tree.this), self.written(tree.expression)
        sign = _ARITHMETIC[type(tree)]
        if left.family == right.family == INTEGER:
            # wide enough that nothing overflows
            return _Part(f"({left.sql}::HUGEINT {sign} {right.sql}::HUGEINT)", INTEGER)
        if left.family.startswith(TIMESTAMP) and right.family == INTERVAL and sign != "*":
            return _Part(f"({left.sql} {sign} {right.sql})", left.family)
        raise _refused(tree, "it computes with other values than integers, or timestamps and intervals")

    def _neg(self, tree: exp.Neg) -> _Part:
        part = self.written(tree.this)
        if part.family not in _NUMBERS:
            raise _refused(tree, f"it negates a {part.family}")
        return _Part(f"(-{part.sql})", part.family)

    def _is(self, tree: exp.Is) -> _Part:
        if not isinstance(tree.expression, exp.Null | exp.Boolean):
            raise _refused(tree, "only NULL, TRUE and FALSE may follow IS")
        part = self.written(tree.this) if isinstance(tree.expression, exp.Null) else self.logical(tree.this)
        return _Part(f"({part.sql} IS {self.written(tree.expression).sql})", BOOLEAN)

    def _between(self, tree: exp.Between) -> _Part:
        if tree.args.get("symmetric"):
            raise _refused(tree, "SYMMETRIC is not supported here")
        value, low, high = self._comparable(tree, tree.this, tree.args["low"], tree.args["high"])
        return _Part(f"({value} BETWEEN {low} AND {high})", BOOLEAN)

    def _in(self, tree: exp.In) -> _Part:
        if not tree.expressions or tree.args.get("query"):
            raise _refused(tree, "IN needs a list of values here")
        value, *listed = self._comparable(tree, tree.this, *tree.expressions)
        return _Part(f"({value} IN ({', '.join(listed)}))", BOOLEAN)

    def _like(self, tree: exp.Like) -> _Part:
        text, pattern = self.written(tree.this), tree.expression
        plain = isinstance(pattern, exp.Literal) and pattern.is_string and "\\" not in pattern.name
        if text.family != TEXT or not plain:
            raise _refused(tree, "LIKE needs a text and a literal pattern without escapes here")
        return _Part(f"({text.sql} LIKE {_literal(pattern).sql})", BOOLEAN)

    def _interval(self, tree: exp.Interval) -> _Part:
        unit, value = str(tree.unit or "").upper(), tree.this
        if unit not in _UNITS or not isinstance(value, exp.Literal) or not value.name.isdigit():
            raise _refused(tree, "an interval must be a whole number of days, hours, minutes or seconds here")
        return _Part(f"INTERVAL '{value.name}' {unit}", INTERVAL)

    def _cast(self, tree: exp.Cast) -> _Part:
        part, to = self.written(tree.this), tree.to
        if part.family in _NUMBERS and to.is_type("double"):
            return _Part(f"CAST({part.sql} AS DOUBLE)", FLOAT)
        if part.family == INTEGER and to.is_type("bigint"):
            return part
        literal = isinstance(tree.this, exp.Literal) and tree.this.is_string
        if literal and (to.is_type("date") or to.is_type("timestamp")):
            family = "DATE" if to.is_type("date") else TIMESTAMP
            return _Part(f"CAST({part.sql} AS {family})", family)
        raise _refused(tree, "this cast may lose something")


def _literal(tree: exp.Literal) -> _Part:
    if tree.is_string:
        return _Part("'" + tree.name.replace("'", "''") + "'", TEXT)
    if "e" in tree.name.lower():
        return _Part(f"CAST('{tree.name}' AS DOUBLE)", FLOAT)
    return _Part(tree.name, DECIMAL if "." in tree.name else INTEGER)


def _refused(tree: exp.Expr, reason: str) -> RowkindError:
    return RowkindError("JOIN_CONDITION_NOT_SUPPORTED", part=tree.sql(), reason=reason)
