"""Translated expressions in Spark: literals, the clock, functions that only Spark knows, and refusals."""

from __future__ import annotations

import re
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.plan.expressions import Moment, bind_clock, translate, translate_all
from rowkind.plan.expressions.typed import text
from rowkind.runtime.driver.spark import rely_on
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from rowkind.sql import parse_expression
from rowkind.types import DataType, Field

pytestmark = pytest.mark.spark

COLUMNS: dict[str, DataType] = {"i": t.INT, "s": t.STRING, "tags": t.array(t.STRING)}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    session = rely_on(spark)
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


@pytest.fixture(scope="module")
def analyzer(session: SparkSession) -> SparkAnalyzer:
    return SparkAnalyzer(session)


def refusal(expression: str, analyzer: SparkAnalyzer) -> RowkindError:
    with pytest.raises(RowkindError) as caught:
        translate(parse_expression(expression), COLUMNS, analyzer)
    return caught.value


def test_string_literals_reach_spark_unchanged(session: SparkSession) -> None:
    tricky = [
        "\\",
        "\\n",
        "\\'",
        "a'b",
        "''",
        "${env:HOME}",
        "$\\{",
        "/* x */",
        "-- x",
        "\n\t\r",
        "é😀",
        "%_",
        '"',
        "`",
    ]
    dice = Random(7)
    random = ["".join(dice.choices("\\'\"$ {}%_*/-nu04é😀\n", k=8)) for _ in range(100)]
    values = [*tricky, *random]
    row = session.range(1).selectExpr(*(f"{text(v)} AS c{i}" for i, v in enumerate(values))).collect()[0]
    assert list(row) == values


def test_functions_and_udfs_of_spark_can_be_called(session: SparkSession, analyzer: SparkAnalyzer) -> None:
    session.udf.register("twice", lambda x: x * 2, LongType())
    found = translate_all(
        [parse_expression(e) for e in ("twice(i) + 1", "levenshtein(s, 'x')", "UPPER(soundex(s))")], COLUMNS, analyzer
    )
    assert [f.type.root for f in found] == [t.Root.BIGINT, t.Root.INT, t.Root.VARCHAR]


def test_unknown_functions_name_the_nearest(analyzer: SparkAnalyzer) -> None:
    error = refusal("REGEXP_REPLAC(s, 'a', 'b')", analyzer)
    assert error.condition == "UNKNOWN_FUNCTION"
    assert "REGEXP_REPLACE" in error.message


def test_an_aggregate_that_is_not_there_is_named(analyzer: SparkAnalyzer) -> None:
    assert refusal("approx_count_distinct(i)", analyzer).condition == "FUNCTION_NOT_SUPPORTED"


@pytest.mark.parametrize("expression", ["explode(tags)", "levenshtein(s)"])
def test_what_is_no_scalar_expression_is_refused(expression: str, analyzer: SparkAnalyzer) -> None:
    error = refusal(expression, analyzer)
    assert error.condition == "EXPRESSION_REFUSED"
    assert "\n" not in error.params["reason"]
    assert "SQLSTATE" not in error.params["reason"]


def test_the_refused_one_of_several_is_named(analyzer: SparkAnalyzer) -> None:
    expressions = [parse_expression(e) for e in ("soundex(s)", "levenshtein(s)")]
    with pytest.raises(RowkindError) as caught:
        translate_all(expressions, COLUMNS, analyzer)
    assert "LEVENSHTEIN" in caught.value.params["expression"]


def test_a_type_of_spark_that_flink_has_not(analyzer: SparkAnalyzer) -> None:
    assert refusal("make_interval(1)", analyzer).condition == "SPARK_TYPE_NOT_SUPPORTED"


def test_the_analyzer_reads_types_with_their_nullability(analyzer: SparkAnalyzer) -> None:
    fields = [Field("a", t.INT.not_null()), Field("r", t.row(("x", t.decimal(5, 2))))]
    found = analyzer.types(["`a` + 1", "`r`", "`a`"], fields)
    assert found == [t.INT.not_null(), t.row(("x", t.decimal(5, 2))), t.INT.not_null()]


def test_a_batch_has_one_clock(session: SparkSession, analyzer: SparkAnalyzer) -> None:
    names = (
        "CURRENT_TIMESTAMP",
        "NOW()",
        "PROCTIME()",
        "LOCALTIMESTAMP",
        "CURRENT_DATE",
        "LOCALTIME",
        "UNIX_TIMESTAMP()",
    )
    expressions = [parse_expression(f"CAST({name} AS STRING)") for name in names]
    bound = [bind_clock(f.sql, Moment(1_700_000_000_123_456, 0)) for f in translate_all(expressions, {}, analyzer)]
    found = list(session.range(1).selectExpr(*bound).collect()[0])
    instant = "2023-11-14 22:13:20.123"
    assert found == [instant, instant, instant, instant, "2023-11-14", "22:13:20", "1700000000"]


def test_random_values_repeat_with_the_seed(session: SparkSession, analyzer: SparkAnalyzer) -> None:
    expressions = [parse_expression(e) for e in ("RAND()", "RAND_INTEGER(10)", "UUID()", "UUID() || UUID()")]
    found = translate_all(expressions, {}, analyzer)

    def rows(seed: int) -> list[tuple[object, ...]]:
        bound = [bind_clock(f.sql, Moment(0, seed, "job", (at,))) for at, f in enumerate(found)]
        return [tuple(r) for r in session.range(0, 20, 1, 2).selectExpr(*bound).collect()]

    assert rows(1) == rows(1)
    assert rows(1) != rows(2)
    uuids = [str(r[2]) for r in rows(1)]
    assert len(set(uuids)) == 20
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", u) for u in uuids)
    assert all(str(r[3])[:36] != str(r[3])[36:] for r in rows(1))
    assert all(0 <= int(str(r[1])) < 10 for r in rows(1))
