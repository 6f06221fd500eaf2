"""The list of differences shows what is true: each example is a case with Flink's recorded answer and ours."""

from __future__ import annotations

import json

import pytest

from rowkind.plan.expressions.functions.differences import DIFFERENCES, Difference
from tests.plan.corpus import FOLDER

RECORDED = {
    case["expression"]: case
    for path in FOLDER.glob("*.json")
    if path.stem != "columns"
    for case in json.loads(path.read_text("utf-8"))
}


def answer(found: dict[str, str | None]) -> str:
    if "error" in found:
        return "refused" if found["error"] == "plan" else "fails"
    value = found.get("value")
    return "NULL" if value is None else value


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.what)
def test_examples_are_recorded(difference: Difference) -> None:
    call, here, flink = difference.example
    case = RECORDED[call]
    assert (answer(case["rowkind"]), answer(case)) == (here, flink)
