"""What rowkind makes of many expressions over one row of columns, in few questions to Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.plan.expressions import Typed, translate_all
from rowkind.plan.expressions.printing import printed
from rowkind.plan.expressions.scope import AskSpark, Scope
from rowkind.runtime.driver.spark import rely_on
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from rowkind.sql import parse_expression
from rowkind.types import BINARIES, DataType

TOGETHER = 250


@dataclass(frozen=True, slots=True)
class Answer:
    """A value as text (bytes in base64) with its type, or the failure: `refused`, or `fails` and Spark's condition."""

    type: str | None = None
    value: str | None = None
    failure: str | None = None


@dataclass(frozen=True)
class World:
    """One row with columns, and Spark's view of expressions over it."""

    frame: DataFrame
    types: Mapping[str, DataType]
    analyzer: SparkAnalyzer

    @classmethod
    def of(cls, spark: SparkSession, zone: str, columns: Mapping[str, tuple[DataType, str]]) -> World:
        session = rely_on(spark)
        session.conf.set("spark.sql.session.timeZone", zone)
        analyzer = SparkAnalyzer(session)
        values = translate_all([parse_expression(value) for _, value in columns.values()], {}, analyzer)
        members = [f"{v.sql} AS `{name}`" for name, v in zip(columns, values, strict=True)]
        # Cached, so that the columns are values to the optimizer, not constants that it folds away.
        row = session.range(1, numPartitions=1).selectExpr(*members).localCheckpoint()
        return cls(row, {name: type for name, (type, _) in columns.items()}, analyzer)

    def answers(self, expressions: Sequence[str], alone: frozenset[str] = frozenset()) -> dict[str, Answer]:
        """Of each expression. Those that are known to fail are asked alone: a failure spoils all that run with it."""
        found: dict[str, Answer] = {}
        planned: dict[str, Typed] = {}
        for expression, typed in self._planned(expressions).items():
            if isinstance(typed, Typed):
                planned[expression] = typed
            else:
                found[expression] = Answer(failure=f"refused: {typed}")
        together = [e for e in planned if e not in alone]
        for start in range(0, len(together), TOGETHER):
            found |= self._computed({e: planned[e] for e in together[start : start + TOGETHER]})
        for expression in alone & planned.keys():
            found |= self._computed({expression: planned[expression]})
        return found

    def _planned(self, expressions: Sequence[str]) -> dict[str, Typed | RowkindError]:
        found: dict[str, Typed | RowkindError] = {}
        sound: list[tuple[str, exp.Expr]] = []
        for expression in expressions:
            try:
                node = bound(parse_expression(expression))
                _attempt(node, self.types)
                sound.append((expression, node))
            except RowkindError as error:
                found[expression] = error
        for start in range(0, len(sound), TOGETHER):
            found |= self._translated(sound[start : start + TOGETHER])
        return found

    def _translated(self, sound: list[tuple[str, exp.Expr]]) -> dict[str, Typed | RowkindError]:
        """All at once; in halves when Spark refuses one, until the refused ones are alone."""
        try:
            typed = translate_all([node for _, node in sound], self.types, self.analyzer)
            return {expression: t for (expression, _), t in zip(sound, typed, strict=True)}
        except RowkindError as error:
            if len(sound) == 1:
                return {sound[0][0]: error}
            middle = len(sound) // 2
            return self._translated(sound[:middle]) | self._translated(sound[middle:])

    def _computed(self, planned: dict[str, Typed]) -> dict[str, Answer]:
        """The values as text, all in one query; in halves when it fails, until the guilty ones are alone."""
        try:
            row = self.frame.selectExpr(*(f"{_text(t)} AS r{i}" for i, t in enumerate(planned.values()))).collect()[0]
        except (PySparkException, Py4JJavaError) as error:
            entries = list(planned.items())
            if len(entries) == 1:
                return {entries[0][0]: Answer(str(entries[0][1].type), failure=_failure(error))}
            middle = len(entries) // 2
            return self._computed(dict(entries[:middle])) | self._computed(dict(entries[middle:]))
        return {e: Answer(str(t.type), value) for (e, t), value in zip(planned.items(), row, strict=True)}


def _failure(error: Exception) -> str:
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return f"fails {condition or type(error).__name__}: {str(error)[:200]}"


def _attempt(node: exp.Expr, types: Mapping[str, DataType]) -> None:
    """Find what rowkind refuses without asking Spark."""
    try:
        Scope(types).translate(node)
    except AskSpark:
        return


def _text(found: Typed) -> str:
    if found.root in BINARIES:
        return rf"replace(base64({found.sql}), '\r\n', '')"
    return printed(found.sql, found.type)


def bound(node: exp.Expr) -> exp.Expr:
    """With `r.x` as the field of a column, as the binder hands it on."""

    def fields(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or len(part.parts) == 1:
            return part
        first, *rest = part.parts
        return exp.Dot.build([exp.Column(this=first.copy()), *(r.copy() for r in rest)])

    return node.transform(fields)
