"""A run takes a checkpoint over: what it finds there afterwards is what it goes on from, whatever the old run does."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.insert_names import insert_names
from rowkind.runtime.driver.job_plan import JobPlan, job_plan
from rowkind.runtime.driver.resuming import GOING_ON, Resuming
from rowkind.runtime.driver.taking_over import Taken, plan_digest, take_over
from tests.runtime.tables import APPEND, UPSERT, table

SOURCE = n.Scan(table("id INT", {**APPEND, "topic": "numbers"}))


def sink(name: str, number: int, scan: n.Node = SOURCE, **more: str) -> n.Sink:
    return n.Sink(scan, table("id INT", {**APPEND, "topic": name}, Side.SINK, **more), number)


def plan(*names: str) -> JobPlan:
    return job_plan([sink(name, number) for number, name in enumerate(names or ("copied",))], 2)


class Run:
    """A run of a job, step by step."""

    def __init__(self, folder: Path, job: JobPlan, resuming: Resuming = GOING_ON) -> None:
        self.checkpoint = Checkpoint(str(folder), sync=False)
        self.notes: list[str] = []
        self.digest = plan_digest(job)
        self.taken: Taken = take_over(self.checkpoint, "job", job, resuming, self.notes.append)

    def begin(self) -> int:
        version = self.taken.standing.next
        self.checkpoint.begin(version, {"number": version, "id": f"{version}", "plan": self.digest})
        return version

    def finish(self, version: int) -> None:
        self.checkpoint.finish(version, {"version": version, "operators": {"op": version}})


def test_a_batch_that_is_finished_during_a_hand_over_is_seen_or_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Run(tmp_path, plan())
    old.begin()
    claim = Checkpoint.claim

    def late(self: Checkpoint) -> None:
        old.finish(0)  # at the last moment
        claim(self)

    monkeypatch.setattr(Checkpoint, "claim", late)
    standing = Run(tmp_path, plan()).taken.standing
    assert (standing.last, standing.manifest["operators"], standing.pending) == (0, {"op": 0}, None)


def test_an_old_run_neither_begins_nor_finishes_a_batch(tmp_path: Path) -> None:
    old = Run(tmp_path, plan())
    begun = old.begin()
    new = Run(tmp_path, plan())
    for step in (lambda: old.finish(begun), old.begin):
        with pytest.raises(RowkindError) as refused:
            step()
        assert refused.value.condition == "JOB_TAKEN_OVER"
    assert new.taken.standing.pending is not None


def test_a_refused_start_leaves_the_running_job_alone(tmp_path: Path) -> None:
    old = Run(tmp_path, plan())
    begun = old.begin()
    with pytest.raises(RowkindError) as refused:
        Run(tmp_path, plan("copied", "more"))
    assert refused.value.condition == "BATCH_OF_ANOTHER_SCRIPT"
    assert refused.value.params["batch"] == begun
    old.finish(begun)
    assert Run(tmp_path, plan("copied", "more")).taken.standing.last == begun


def test_a_batch_of_another_script_is_run_anew_on_demand(tmp_path: Path) -> None:
    Run(tmp_path, plan()).begin()
    changed = Run(tmp_path, plan("copied", "more"), Resuming(rewind=True))
    assert changed.taken.standing.pending is None
    assert any("written again" in note and "twice in t" in note for note in changed.notes)
    assert changed.begin() == 0


def test_going_back_is_done_only_where_it_is_needed(tmp_path: Path) -> None:
    Run(tmp_path, plan()).begin()
    same = Run(tmp_path, plan(), Resuming(rewind=True))
    assert same.taken.standing.pending is not None
    [note] = same.notes  # nothing of going back, only from whom it takes over: the first run never ended
    assert note.startswith("Taking over the checkpoint")
    assert f"process {os.getpid()} on" in note


def test_inserts_may_change_places_in_the_middle_of_a_batch(tmp_path: Path) -> None:
    begun = Run(tmp_path, plan("copied", "more", "copied"))
    begun.begin()
    moved = Run(tmp_path, plan("more", "copied", "copied"))
    assert moved.taken.standing.pending is not None


def test_an_insert_keeps_its_name_wherever_it_stands() -> None:
    """Markers of a batch are found by it: another name would write what is in already, or skip what is not."""

    def named(*names: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one, name in insert_names(plan(*names).sinks).items():
            found.setdefault(one.table.place, []).append(name)
        return found

    both = named("copied", "more", "copied")
    assert named("more", "copied", "copied") == both
    assert named("new", "copied", "more", "copied") == {**both, "new": named("new")["new"]}
    assert named("copied", "copied")["copied"] == both["copied"]


def digest(*roots: n.Node) -> str:
    return plan_digest(job_plan(roots, 2))


def test_a_digest_tells_what_a_batch_is_made_of() -> None:
    keyed = n.Scan(table("id INT, PRIMARY KEY (id) NOT ENFORCED", UPSERT))
    call = n.Call("l", "LISTAGG", ("id",), SOURCE.columns[0].type, separator=",")
    grouped = n.Aggregate(SOURCE, (), (call,))
    other = n.Aggregate(SOURCE, (), (replace(call, separator=";"),))
    different = [
        digest(sink("a", 0)),
        digest(sink("b", 0)),
        digest(sink("a", 0), sink("a", 1)),
        digest(sink("a", 0, keyed)),
        digest(sink("a", 0, grouped)),
        digest(sink("a", 0, other)),
        digest(sink("a", 0, sink_delivery__guarantee="none")),
    ]
    assert len(set(different)) == len(different)
    reading = n.Scan(table("id INT", {**APPEND, "topic": "numbers"}, scan_max__rows__per__batch="7"))
    assert digest(sink("a", 0, reading)) == digest(sink("a", 0, sink_parallelism="3")) == different[0]
