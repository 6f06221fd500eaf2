"""Every operator, cast and function against what real Flink made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.plan.expressions import Typed, translate_all
from rowkind.plan.expressions.printing import printed
from rowkind.runtime.driver.spark import rely_on
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from rowkind.sql import parse_expression
from rowkind.types import BINARIES
from tests.plan.corpus import GROUPS, ZONES, Case, cases, columns

pytestmark = pytest.mark.spark

Answer = tuple[str | None, str | None]
"""A text or the phase of a failure."""


@dataclass(frozen=True)
class World:
    """One row with a column of each type, and Spark's view of expressions over it."""

    frame: DataFrame
    analyzer: SparkAnalyzer

    def translate(self, expressions: Sequence[str]) -> list[Typed | RowkindError]:
        """All at once; in halves when one is refused, until the refused ones are alone."""
        types = {name: type for name, (type, _) in columns().items()}
        try:
            return list(translate_all([bound(parse_expression(e)) for e in expressions], types, self.analyzer))
        except RowkindError as error:
            if len(expressions) == 1:
                return [error]
            middle = len(expressions) // 2
            return self.translate(expressions[:middle]) + self.translate(expressions[middle:])

    def texts(self, found: Sequence[Typed]) -> list[Answer]:
        """The values as text, all in one query; in halves when it fails, until the guilty ones are alone."""
        try:
            row = self.frame.selectExpr(*(f"{_text(f)} AS c{i}" for i, f in enumerate(found))).collect()[0]
        except PySparkException:
            if len(found) == 1:
                return [(None, "run")]
            middle = len(found) // 2
            return self.texts(found[:middle]) + self.texts(found[middle:])
        return [(value, None) for value in row]


def _text(found: Typed) -> str:
    if found.root in BINARIES:
        return f"lower(hex({found.sql}))"
    return printed(found.sql, found.type)


def world_of(spark: SparkSession, zone: str) -> World:
    session = rely_on(spark)
    session.conf.set("spark.sql.session.timeZone", zone)
    analyzer = SparkAnalyzer(session)
    values = translate_all([parse_expression(value) for _, value in columns().values()], {}, analyzer)
    members = [f"{v.sql} AS `{name}`" for name, v in zip(columns(), values, strict=True)]
    # Cached, so that the columns are values to the optimizer, not constants that it folds away.
    return World(session.range(1, numPartitions=1).selectExpr(*members).localCheckpoint(), analyzer)


def bound(node: exp.Expr) -> exp.Expr:
    """With `r.x` as the field of a column, as the binder hands it on."""

    def fields(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or len(part.parts) == 1:
            return part
        first, *rest = part.parts
        return exp.Dot.build([exp.Column(this=first.copy()), *(r.copy() for r in rest)])

    return node.transform(fields)


def attempts(all_cases: list[Case], world: World) -> list[tuple[Case, Typed | RowkindError]]:
    """Each case translated; those that must be refused one by one."""
    sound = [case for case in all_cases if case.error != "plan"]
    refused = [case for case in all_cases if case.error == "plan"]
    found = list(zip(sound, world.translate([case.expression for case in sound]), strict=True))
    return found + [(case, world.translate([case.expression])[0]) for case in refused]


@pytest.mark.parametrize("group", GROUPS)
def test_expressions_equal_those_of_flink(group: str, spark: SparkSession) -> None:
    world = world_of(spark, ZONES.get(group, "UTC"))
    planned: list[tuple[Case, Typed]] = []
    wrong: list[str] = []
    for case, translated in attempts(cases(group), world):
        if isinstance(translated, Typed):
            planned.append((case, translated))
        elif case.error is None:
            wrong.append(f"{case.expression}: should be {case.type} {case.value!r}, but {translated}")
    sound = [(case, found) for case, found in planned if case.error is None]
    failing = [(case, found) for case, found in planned if case.error == "run"]
    wrong += [f"{case.expression}: should be refused" for case, _ in planned if case.error == "plan"]
    for (case, found), (value, error) in zip(sound, world.texts([f for _, f in sound]), strict=True):
        if error or (str(found.type), value) != (case.type, case.value):
            got = error or f"{found.type} {value!r}"
            wrong.append(f"{case.expression}: should be {case.type} {case.value!r}, but is {got}: {found.sql}")
    for case, found in failing:
        if world.texts([found])[0][1] is None:
            wrong.append(f"{case.expression}: should fail, but is {world.texts([found])[0][0]!r}")
    assert not wrong, "\n" + "\n".join(wrong)
