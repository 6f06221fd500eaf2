"""SQL to plans: every form of query as EXPLAIN shows it, and every refusal by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkind.errors import conditions
from tests.plan.plans import FILES, Case, cases, planned

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer

CASES = [pytest.param(case, id=f"{file.stem}: {case.title}") for file in FILES for case in cases(file)]


@pytest.fixture(scope="module")
def analyzer(spark: SparkSession) -> SparkAnalyzer:
    from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer

    return SparkAnalyzer(spark)


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES)
def test_plan(case: Case, analyzer: SparkAnalyzer) -> None:
    assert planned(case.sql, analyzer) == case.expected


def test_errors_are_known() -> None:
    named = [case.expected.removeprefix("error: ") for file in FILES for case in cases(file)]
    wanted = [name for name in named if name.isupper() and "\n" not in name]
    assert set(wanted) <= set(conditions())


def test_titles_are_told_apart() -> None:
    for file in FILES:
        titles = [case.title for case in cases(file)]
        assert len(titles) == len(set(titles)), file.name
