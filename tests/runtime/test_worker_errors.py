"""Named errors that cross from a worker to the driver as text."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.worker_errors import WorkerError, carried, new_nonce, refused_value, reporting
from tests.security.corpus import Trap, marks

NONCE = new_nonce()


def failing(column: Any = "c ü\n'x'") -> Iterator[int]:
    yield 1
    raise RowkindError("NULL_IN_NOT_NULL_COLUMN", table="t", column=column)


def as_spark_tells_it(column: Any) -> RuntimeError:
    with pytest.raises(WorkerError) as failed:
        list(reporting(NONCE, failing, column))
    return RuntimeError(f"Job aborted due to stage failure:\n  File x\n{failed.value}\n\tat org.apache.spark.Foo")


@pytest.mark.parametrize("column", ["c ü\n'x'", 7, 2**70, 1.5, True, None, ["a", 1], {"k": [None]}])
def test_an_error_survives_as_text_inside_another(column: Any) -> None:
    found = carried(as_spark_tells_it(column), NONCE)
    assert found is not None
    assert found.condition == "NULL_IN_NOT_NULL_COLUMN"
    assert found.params == {"table": "t", "column": column}
    assert [type(v) for v in found.params.values()] == [str, type(column)]
    assert str(found) == str(RowkindError(found.condition, **found.params))


@pytest.mark.parametrize("column", [date(2026, 1, 2), b"caf\xe9", ("a", 1), {1: date(2026, 1, 2)}])
def test_what_json_does_not_have_becomes_text(column: Any) -> None:
    found = carried(as_spark_tells_it(column), NONCE)
    assert found is not None
    told = {"1": "2026-01-02"} if isinstance(column, dict) else str(column)
    assert found.params["column"] == told


def test_a_mark_inside_a_message_is_only_text(tmp_path: Path) -> None:
    for mark in marks(tmp_path / "here", new_nonce()):
        assert carried(RuntimeError(mark), NONCE) is None
        found = carried(as_spark_tells_it(mark), NONCE)
        assert found is not None
        assert found.params == {"table": "t", "column": mark}
    assert not list(tmp_path.iterdir())


def test_nothing_but_json_is_read_even_with_the_nonce(tmp_path: Path) -> None:
    trap = base64.b64encode(pickle.dumps(Trap(tmp_path / "here"))).decode()
    with pytest.raises(UnicodeDecodeError):
        carried(RuntimeError(f"<rowkind-error:{NONCE}:{trap}>"), NONCE)
    assert not list(tmp_path.iterdir())


def test_each_job_has_a_nonce_of_its_own() -> None:
    assert len({new_nonce() for _ in range(100)}) == 100


def test_what_was_given_before_the_error_was_handed_on() -> None:
    rows = reporting(NONCE, failing)
    assert next(rows) == 1


def test_a_named_error_is_its_own_and_others_are_none() -> None:
    error = RowkindError("NULL_IN_NOT_NULL_COLUMN", table="t", column="c")
    assert carried(error, NONCE) is error
    assert carried(ValueError("plain"), NONCE) is None


def test_what_spark_cannot_compute_has_a_name() -> None:
    said = """Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0
org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate it. SQLSTATE
== SQL (line 1, position 1) =="""
    found = refused_value(RuntimeError(said))
    assert found is not None
    assert found.condition == "EXPRESSION_FAILED"
    assert found.params == {"error": "DIVIDE_BY_ZERO", "reason": "Division by zero."}
    assert refused_value(ValueError("[NOT_KNOWN] here.")) is None
