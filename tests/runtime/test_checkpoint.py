"""A job's folder: what it remembers, and whom it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.catalog.modes import Side
from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from rowkind.runtime.checkpoint import Checkpoint
from rowkind.runtime.job_plan import JobPlan, job_plan
from tests.runtime.tables import APPEND, table


def plan(source: str = "a", sink: str = "b", partitions: int = 2) -> JobPlan:
    scan = n.Scan(table("id INT", {**APPEND, "topic": source}))
    return job_plan([n.Sink(scan, table("id INT", {**APPEND, "topic": sink}, Side.SINK), 0)], partitions)


def test_a_fresh_folder_takes_the_job_and_knows_it_again(tmp_path: Path) -> None:
    first = Checkpoint(f"{tmp_path}/c").open(plan())
    again = Checkpoint(f"{tmp_path}/c/").open(plan(partitions=7))
    assert again == first
    assert again.partitions == 2


def test_another_sink_is_the_same_job(tmp_path: Path) -> None:
    first = Checkpoint(str(tmp_path)).open(plan())
    assert Checkpoint(str(tmp_path)).open(plan(sink="c")).id == first.id


def test_another_source_is_another_job(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path)).open(plan())
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan(source="other"))
    assert failed.value.condition == "CHECKPOINT_OF_ANOTHER_JOB"


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{")
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan())
    assert failed.value.condition == "CHECKPOINT_DAMAGED"


def test_manifests_tell_what_is_done(tmp_path: Path) -> None:
    checkpoint = Checkpoint(str(tmp_path))
    assert checkpoint.last() is None
    for version in range(105):
        checkpoint.finish(version, {"version": version})
    assert checkpoint.last() == 104
    assert checkpoint.done(104)
    assert not checkpoint.done(105)
    assert checkpoint.manifest(104) == {"version": 104}
    assert not checkpoint.done(3)  # long past: Spark never asks for it again
