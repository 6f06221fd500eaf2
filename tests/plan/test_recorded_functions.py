"""Every operator, cast and function against what real Flink made of it."""

from __future__ import annotations

from base64 import b64encode

import pytest
from pyspark.sql import SparkSession

from tests.plan.answers import Answer, World
from tests.plan.corpus import GROUPS, ZONES, Case, cases, columns

pytestmark = pytest.mark.spark


def wrong(case: Case, answer: Answer) -> str | None:
    """What is not as it should be."""
    if case.error:
        # What Flink finds while a job runs may be found before.
        found = ("refused",) if case.error == "plan" else ("refused", "fails")
        return None if (answer.failure or "").startswith(found) else f"should be {found[-1]}, but is {answer}"
    if answer.failure or (answer.type, answer.value) != (case.type, _value(case)):
        return f"should be {case.type} {case.value!r}, but is {answer}"
    return None


def _value(case: Case) -> str | None:
    """Bytes are recorded in hexadecimal."""
    if case.value is None or not (case.type or "").startswith(("BYTES", "BINARY", "VARBINARY")):
        return case.value
    return b64encode(bytes.fromhex(case.value)).decode()


@pytest.mark.parametrize("group", GROUPS)
def test_expressions_equal_those_of_flink(group: str, spark: SparkSession) -> None:
    world = World.of(spark, ZONES.get(group, "UTC"), columns())
    alone = frozenset(case.expression for case in cases(group) if case.error == "run")
    found = world.answers([case.expression for case in cases(group)], alone)
    reasons = [(case.expression, wrong(case, found[case.expression])) for case in cases(group)]
    said = [f"{expression}: {reason}" for expression, reason in reasons if reason]
    assert not said, "\n" + "\n".join(said)
