"""The number of state partitions: from the configuration, never from who has come so far, and never changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_plan import JobPlan, job_plan
from rowkind.runtime.driver.state_partitions import ON_A_CLUSTER, configured_cores, partitions_for
from tests.runtime.tables import APPEND, table

CONFIGURED: dict[str, tuple[dict[str, str], int | None]] = {
    "nothing": ({}, None),
    "parallelism": ({"spark.default.parallelism": "6", "spark.cores.max": "4"}, 6),
    "cores of the application": ({"spark.cores.max": "4", "spark.executor.cores": "2"}, 4),
    "executors": ({"spark.executor.instances": "3", "spark.executor.cores": "4"}, 12),
    "executors without cores": ({"spark.executor.instances": "3"}, None),
}


@pytest.mark.parametrize(("settings", "cores"), CONFIGURED.values(), ids=CONFIGURED)
def test_cores_come_from_the_configuration(settings: dict[str, str], cores: int | None) -> None:
    assert configured_cores(settings) == cores


@pytest.mark.parametrize("master", ["spark://there:7077", "yarn"])
def test_executors_that_come_late_do_not_count(master: str) -> None:
    assert {partitions_for(master, {}, there) for there in (1, 2, 40)} == {ON_A_CLUSTER}
    assert {partitions_for(master, {"spark.cores.max": "4"}, there) for there in (1, 2, 40)} == {4}


def test_a_local_spark_is_there_at_once() -> None:
    assert partitions_for("local[3,4]", {}, 3) == 3


def plan(partitions: int, given: bool) -> JobPlan:
    sink = n.Sink(n.Scan(table("id INT", APPEND)), table("id INT", {**APPEND, "topic": "b"}, Side.SINK), 0)
    return job_plan([sink], partitions, partitions_given=given)


def test_a_number_that_is_asked_for_must_be_the_recorded_one(tmp_path: Path) -> None:
    first, _ = Checkpoint(str(tmp_path)).open(plan(4, given=True))
    assert Checkpoint(str(tmp_path)).open(plan(4, given=True)) == (first, [])
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan(8, given=True))
    assert failed.value.condition == "CHECKPOINT_PARTITIONS_CHANGED"
    assert (failed.value.params["stored"], failed.value.params["given"]) == (4, 8)


def test_the_usual_number_may_be_another_and_the_recorded_one_stays(tmp_path: Path) -> None:
    first, _ = Checkpoint(str(tmp_path)).open(plan(4, given=False))
    assert Checkpoint(str(tmp_path)).open(plan(16, given=False)) == (first, [])
    assert first.partitions == 4
