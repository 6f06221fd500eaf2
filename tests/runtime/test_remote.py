"""Named errors that cross from a worker to the driver as text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.remote import WorkerError, carried, refused_value, reporting


def failing() -> Iterator[int]:
    yield 1
    raise RowkindError("NULL_IN_NOT_NULL_COLUMN", table="t", column="c ü\n'x'")


def test_an_error_survives_as_text_inside_another() -> None:
    with pytest.raises(WorkerError) as failed:
        list(reporting(failing))
    wrapped = RuntimeError(f"Job aborted due to stage failure:\n  File x\n{failed.value}\n\tat org.apache.spark.Foo")
    found = carried(wrapped)
    assert found is not None
    assert found.condition == "NULL_IN_NOT_NULL_COLUMN"
    assert found.params == {"table": "t", "column": "c ü\n'x'"}
    assert str(found) == str(RowkindError(found.condition, **found.params))


def test_what_was_given_before_the_error_was_handed_on() -> None:
    rows = reporting(failing)
    assert next(rows) == 1


def test_a_named_error_is_its_own_and_others_are_none() -> None:
    error = RowkindError("NULL_IN_NOT_NULL_COLUMN", table="t", column="c")
    assert carried(error) is error
    assert carried(ValueError("plain")) is None


def test_what_spark_cannot_compute_has_a_name() -> None:
    said = """Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0
org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate it. SQLSTATE
== SQL (line 1, position 1) =="""
    found = refused_value(RuntimeError(said))
    assert found is not None
    assert found.condition == "EXPRESSION_FAILED"
    assert found.params == {"error": "DIVIDE_BY_ZERO", "reason": "Division by zero."}
    assert refused_value(ValueError("[NOT_KNOWN] here.")) is None
