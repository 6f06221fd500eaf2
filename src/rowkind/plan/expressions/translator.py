"""From Flink expressions to Spark SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rowkind.plan.analysis import Analyzer
from rowkind.plan.expressions import arithmetic, calls, casts, comparison, literals, structure
from rowkind.plan.expressions.scope import AskSpark, Scope
from rowkind.plan.expressions.typed import Typed
from rowkind.types import DataType, Field, spark_type

RULE_MODULES = (arithmetic, calls, casts, comparison, literals, structure)
"""Importing them declares the rules."""


def translate(expression: exp.Expr, columns: Mapping[str, DataType], analyzer: Analyzer) -> Typed:
    """One expression over the columns."""
    return translate_all([expression], columns, analyzer)[0]


def translate_all(expressions: Sequence[exp.Expr], columns: Mapping[str, DataType], analyzer: Analyzer) -> list[Typed]:
    """Several expressions over the same columns, with as few questions to Spark as they need."""
    fields = tuple(Field(name, type) for name, type in columns.items())
    told: dict[str, DataType] = {}
    while True:
        found, questions = _attempt(expressions, Scope(columns, told))
        if not questions:
            return _checked(found, fields, analyzer)
        told.update(zip(questions, analyzer.types(questions, fields), strict=True))


def _attempt(expressions: Sequence[exp.Expr], scope: Scope) -> tuple[list[Typed], list[str]]:
    """Translate as far as possible; the types that are still to be asked, innermost calls first."""
    found: list[Typed] = []
    questions: dict[str, None] = {}
    for expression in expressions:
        try:
            found.append(scope.translate(expression))
        except AskSpark as question:
            questions[question.sql] = None
    return found, list(questions)


def _checked(found: list[Typed], fields: tuple[Field, ...], analyzer: Analyzer) -> list[Typed]:
    """Each expression with a cast around it if Spark takes its type for another one than Flink does."""
    types = analyzer.types([f.sql for f in found], fields)
    return [_exact(f, type) for f, type in zip(found, types, strict=True)]


def _exact(found: Typed, by_spark: DataType) -> Typed:
    wanted, actual = spark_type(found.type), spark_type(by_spark)
    if _loose(wanted) == _loose(actual):
        return found
    return Typed(f"CAST({found.sql} AS {_loose(wanted)})", found.type, found.constant)


def _loose(type: str) -> str:
    """Without the nullability of members, which a cast cannot narrow."""
    return type.replace(" NOT NULL", "")
