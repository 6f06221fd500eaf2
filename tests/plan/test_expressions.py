"""Types and text of translated expressions; nothing here needs Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.plan.expressions import Moment, Typed, bind_clock, common_type, depends_on_clock
from rowkind.plan.expressions.arithmetic import adjusted
from rowkind.plan.expressions.functions.all import FUNCTIONS, REFUSED
from rowkind.plan.expressions.functions.document import PAGE, page
from rowkind.plan.expressions.patterns import similar_regex
from rowkind.plan.expressions.scope import AskSpark, Scope
from rowkind.plan.expressions.typed import text
from rowkind.sql import parse_expression
from rowkind.types import DataType

COLUMNS = {
    "i": t.INT,
    "n": t.INT.not_null(),
    "b": t.BIGINT,
    "s": t.STRING,
    "d": t.decimal(10, 2),
    "ts": t.timestamp(3),
    "day": t.DATE,
    "r": t.row(("x", t.INT.not_null()), ("Y", t.STRING)),
    "back`tick": t.INT,
}


def translated(expression: str) -> Typed:
    return Scope(COLUMNS).translate(parse_expression(expression))


def condition(expression: str) -> str:
    with pytest.raises(RowkindError) as caught:
        translated(expression)
    return caught.value.condition


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("i + n", "INT"),
        ("n + 1", "INT NOT NULL"),
        ("i / 2", "INT"),
        ("b % i", "INT"),
        ("d * d", "DECIMAL(21, 4)"),
        ("d / 3", "DECIMAL(21, 13)"),
        ("d + b", "DECIMAL(22, 2)"),
        ("CASE WHEN i > 1 THEN 'a' ELSE 'bcd' END", "VARCHAR(3) NOT NULL"),
        ("CASE WHEN i > 1 THEN 'a' END", "CHAR(1)"),
        ("COALESCE(i, n)", "INT NOT NULL"),
        ("CAST(n AS STRING)", "STRING NOT NULL"),
        ("TRY_CAST(n AS STRING)", "STRING"),
        ("ts - INTERVAL '5' SECOND", "TIMESTAMP(3)"),
        ("(r).x", "INT"),
        ("s IS NULL", "BOOLEAN NOT NULL"),
        ("PROCTIME()", "TIMESTAMP_LTZ(3) NOT NULL"),
        ("INTERVAL '2' YEAR", "INTERVAL YEAR TO MONTH NOT NULL"),
    ],
)
def test_types_are_those_of_flink(expression: str, type: str) -> None:
    assert str(translated(expression).type) == type


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("nowhere + 1", "UNKNOWN_COLUMN_IN_EXPRESSION"),
        ("I + 1", "UNKNOWN_COLUMN_IN_EXPRESSION"),
        ("s + 1", "OPERATOR_TYPES"),
        ("-s", "OPERATOR_TYPES"),
        ("s || i", "OPERATOR_TYPES"),
        ("ts - ts", "OPERATOR_TYPES"),
        ("r < r", "OPERATOR_TYPES"),
        ("i = s", "NOT_COMPARABLE"),
        ("day = ts", "NOT_COMPARABLE"),
        ("CASE WHEN i > 1 THEN i ELSE s END", "NO_COMMON_TYPE"),
        ("COALESCE(i, s)", "NO_COMMON_TYPE"),
        ("i AND TRUE", "NOT_A_CONDITION"),
        ("CASE WHEN i THEN 1 END", "NOT_A_CONDITION"),
        ("s SIMILAR TO s", "PATTERN_NOT_CONSTANT"),
        ("s LIKE 'a' ESCAPE s", "PATTERN_NOT_CONSTANT"),
        ("CAST(i AS DATE)", "CAST_NOT_POSSIBLE"),
        ("CAST(ts AS BIGINT)", "CAST_NOT_POSSIBLE"),
        ("CAST(r AS ROW<x INT>)", "CAST_NOT_POSSIBLE"),
        ("UPPER(i)", "FUNCTION_ARGUMENT"),
        ("UPPER(s, s)", "FUNCTION_ARGUMENT_COUNT"),
        ("CONCAT()", "FUNCTION_ARGUMENT_COUNT"),
        ("SHA2(s, 7)", "FUNCTION_ARGUMENT_VALUE"),
        ("JSON_VALUE(s, s)", "FUNCTION_ARGUMENT_VALUE"),
        ("JSON_VALUE(s, '$..a')", "FUNCTION_ARGUMENT_VALUE"),
        ("DATE_FORMAT(ts, 'YYYY')", "FUNCTION_ARGUMENT_VALUE"),
        ("TO_TIMESTAMP_LTZ(b, 6)", "FUNCTION_ARGUMENT_VALUE"),
        ("PARSE_JSON(s)", "FUNCTION_NOT_SUPPORTED"),
        ("CURRENT_WATERMARK(ts)", "FUNCTION_NOT_SUPPORTED"),
        ("SHUFFLE(s)", "FUNCTION_NOT_SUPPORTED"),
        ("(r).z", "NO_SUCH_FIELD"),
        ("12345678901234567890", "NUMBER_OUT_OF_RANGE"),
    ],
)
def test_what_does_not_fit_is_a_named_error(expression: str, name: str) -> None:
    assert condition(expression) == name


def test_errors_tell_the_place_and_near_names() -> None:
    with pytest.raises(RowkindError, match=r"(?s)Line 1, column 9.*did you mean 'ts'") as caught:
        translated("i + 1 > tss")
    assert caught.value.params["column"] == "tss"


def test_other_functions_are_left_to_spark() -> None:
    with pytest.raises(AskSpark) as asked:
        translated("my_function(i, s)")
    assert asked.value.sql == "`MY_FUNCTION`(`i`, `s`)"
    told = Scope(COLUMNS, {asked.value.sql: t.BIGINT})
    assert told.translate(parse_expression("my_function(i, s) + 1")).type == t.BIGINT


def test_names_are_quoted() -> None:
    assert translated("`back``tick`").sql == "`back``tick`"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_literal_holds_neither_a_variable_nor_a_marker(value: str) -> None:
    literal = text(value)
    assert "${" not in literal
    assert "/*" not in literal
    assert literal[0] == literal[-1] == "'"


def test_the_clock_is_bound_outside_of_literals_only() -> None:
    found = translated("CAST(CURRENT_TIMESTAMP AS STRING) || '0L /*rowkind:clock*/'")
    assert depends_on_clock(found.sql)
    bound = bind_clock(found.sql, Moment(1_700_000_000_000_000, 7))
    assert "1700000000000000L" in bound
    assert "rowkind:clock" in bound
    assert not depends_on_clock(bound)


def test_two_random_calls_differ_and_a_seed_is_used() -> None:
    assert translated("RAND() + RAND()").sql.count("rand(0L /*rowkind:seed*/ + 0)") == 1
    assert "rand(xxhash64(0L /*rowkind:batch*/, 5))" in translated("RAND(5)").sql
    assert depends_on_clock(translated("UUID()").sql)


_DECIMALS = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: t.decimal(p, s)))
_NUMBERS = st.one_of(st.sampled_from([t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE]), _DECIMALS)


@given(_NUMBERS, _NUMBERS)
def test_the_common_type_of_numbers_does_not_depend_on_their_order(left: DataType, right: DataType) -> None:
    assert common_type([left, right]) == common_type([right, left])


@given(st.integers(1, 80), st.integers(0, 40))
def test_decimal_results_fit_in_38_digits(precision: int, scale: int) -> None:
    type = adjusted(max(precision, scale), scale)
    assert type.precision is not None
    assert type.scale is not None
    assert type.precision <= 38
    assert min(scale, 6) <= type.scale <= min(scale, 38)


def test_similar_patterns_become_regular_expressions() -> None:
    assert similar_regex("a%_[%_](b|c)", "") == "a.*.[%_](b|c)"
    assert similar_regex("100!%", "!") == "100%"


def test_every_scalar_function_of_flink_is_in_the_table() -> None:
    names = (Path(__file__).parent / "fixtures" / "flink_functions.txt").read_text("utf-8").split()
    assert sorted(set(names) - set(FUNCTIONS) - set(REFUSED)) == []


def test_the_page_of_functions_is_current() -> None:
    """If this fails: run `python -m rowkind.plan.expressions.functions.document` in the root of the repository."""
    assert PAGE.read_text("utf-8") == page()
