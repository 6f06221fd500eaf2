"""A job whose first INSERT is another now finds its folder; no other job's."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.connectors.settings import Side
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_folder import moved_folder
from rowkind.runtime.driver.job_plan import JobPlan, job_plan
from rowkind.types import Field
from tests.runtime.tables import APPEND, table


def plan(source: str = "numbers", *more: n.Node) -> JobPlan:
    """Writes table `t`."""
    scan = n.Scan(table("id INT", {**APPEND, "topic": source}))
    return job_plan([n.Sink(scan, table("id INT", APPEND, Side.SINK), 0), *more], 2)


@pytest.fixture
def root(tmp_path: Path) -> str:
    Checkpoint(str(tmp_path / "first")).open(plan())
    return str(tmp_path)


def test_a_job_is_found_by_what_it_reads_and_writes(root: str) -> None:
    assert moved_folder(root, "second", plan(), set()) == "first"


@pytest.mark.parametrize(
    ("wanted", "source", "used"),
    [("first", "numbers", set()), ("second", "others", set()), ("second", "numbers", {"first"})],
    ids=["its own is there", "it reads something else", "another job of the session has it"],
)
def test_other_jobs_begin_in_a_folder_of_their_own(root: str, wanted: str, source: str, used: set[str]) -> None:
    assert moved_folder(root, wanted, plan(source), used) is None


def test_rows_written_once_are_no_job_to_go_on_with(root: str) -> None:
    values = n.Values((), (Field("id", plan().scans[0].columns[0].type),))
    written = job_plan([n.Sink(values, table("id INT", APPEND, Side.SINK), 0)], 2)
    Checkpoint(f"{root}/values").open(written)
    assert moved_folder(root, "more", written, {"first"}) is None
