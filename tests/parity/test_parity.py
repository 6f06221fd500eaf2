"""rowkind's results equal those that were recorded from Flink, over inputs that take several batches.

The cases of a group run in one job. `pytest tests/parity -k NAME` runs the named ones alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import Lab
from tests.kafka_client import KafkaClient
from tests.parity.cases import CASES, HERE, Case, create_topic, fill_topics, parsed, recorded, result, script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 1200
"""A deadline for a job of many cases; a loaded machine is slow."""


@pytest.fixture(scope="module")
def inputs(kafka_client: KafkaClient) -> KafkaClient:
    """The input topics are filled."""
    fill_topics(kafka_client)
    return kafka_client


@pytest.fixture(scope="module")
def group(request: pytest.FixtureRequest, spark: SparkSession, inputs: KafkaClient) -> str:
    """A group of which all cases that this run of pytest has chosen have come to their ends."""
    chosen = {item.name for item in request.session.items}
    cases = [
        case for case in CASES if case.group == request.param and f"test_results_equal_flinks[{case.id}]" in chosen
    ]
    for case in cases:
        create_topic(inputs, case.topic)
    lab = Lab(spark, inputs)
    try:
        statements = ["SET 'table.local-time-zone' = 'UTC'", *script(cases, inputs.bootstrap, capped=True)]
        job = lab.job(";\n".join(statements) + ";")
        assert job.wait(SECONDS), "the job did not end"
        assert job.progress.batches > 2, "the inputs came in one batch, so that nothing was taken back"
    finally:
        lab.close()
    return request.param


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.parametrize(
    ("group", "case"), [pytest.param(case.group, case, id=case.id) for case in CASES], indirect=["group"]
)
def test_results_equal_flinks(group: str, case: Case, inputs: KafkaClient) -> None:
    found, wanted = [parsed(row) for row in result(case, inputs)], recorded(case)["rows"]
    if case.instead is not None:
        assert [parsed(row) for row in case.instead] != wanted, "it does not differ any more"
        wanted = [parsed(row) for row in case.instead]
    assert found == wanted


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_recording_is_of_the_case_as_it_stands(case: Case) -> None:
    """Else: `python -m tools.record_parity --missing`."""
    assert recorded(case)["of"] == case.digest


def test_every_recording_has_its_case() -> None:
    assert {path.stem for path in (HERE / "recorded").glob("*.json")} == {case.name for case in CASES}
