"""rowkind's results equal those that were recorded from Flink, over inputs that take several batches.

The cases of a group run in one job. `pytest tests/parity -k NAME` runs the named ones alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkind.broker.cache import exclusive
from tests.e2e.lab import Lab
from tests.kafka_client import KafkaClient
from tests.parity.cases import CASES, HERE, Case, create_topic, fill_topics, parsed, recorded, result, script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 1200
"""A deadline for a job of many cases; a loaded machine is slow."""


@pytest.fixture(scope="module")
def inputs(kafka_client: KafkaClient, run_folder: Path) -> KafkaClient:
    """The input topics are filled, by the first worker that comes to a group."""
    filled = run_folder / "parity-inputs"
    with exclusive(run_folder / "parity.lock"):
        if not filled.exists():
            fill_topics(kafka_client)
            filled.touch()
    return kafka_client


class Jobs:
    """One job for each group, with all of its cases that this run of pytest has chosen."""

    def __init__(self, spark: SparkSession, inputs: KafkaClient, chosen: set[str]) -> None:
        self._spark, self._inputs, self._chosen = spark, inputs, chosen
        self._ended: set[str] = set()

    def end(self, group: str) -> None:
        """Have the group's job come to its end, unless it has."""
        if group not in self._ended:
            self._ended.add(group)
            self._run([c for c in CASES if c.group == group and f"test_results_equal_flinks[{c.id}]" in self._chosen])

    def _run(self, cases: list[Case]) -> None:
        for case in cases:
            create_topic(self._inputs, case.topic)
        lab = Lab(self._spark, self._inputs)
        try:
            statements = [
                "SET 'table.local-time-zone' = 'UTC'",
                "SET 'rowkind.state.partitions' = '1'",
                *script(cases, self._inputs.bootstrap, capped=True),
            ]
            job = lab.job(";\n".join(statements) + ";")
            assert job.wait(SECONDS), "the job did not end"
            assert job.progress.batches > 2, "the inputs came in one batch, so that nothing was taken back"
        finally:
            lab.close()


@pytest.fixture(scope="module")
def jobs(request: pytest.FixtureRequest, spark: SparkSession, inputs: KafkaClient) -> Jobs:
    return Jobs(spark, inputs, {item.name for item in request.session.items})


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_results_equal_flinks(jobs: Jobs, case: Case, inputs: KafkaClient) -> None:
    jobs.end(case.group)
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
