"""The batches of a job in turn: written down before they are run, the one under way first, until the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from rowkind.connectors.kafka.ranges import Partition
from rowkind.connectors.kafka.source import Offsets
from rowkind.errors import RowkindError
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.pending_batches import PendingBatches
from tests.runtime.test_batch_planner import Log, planner

A0 = Partition("a", 0)


class Job:
    """Runs of one job over a log; each `start` is a fresh process on the same checkpoint."""

    def __init__(self, folder: Path, log: Log) -> None:
        self.checkpoint = Checkpoint(str(folder))
        self.log = log
        self.notes: list[str] = []

    def start(self, drain: bool = False) -> PendingBatches[Batch]:
        self.stopping = threading.Event()
        standing = self.checkpoint.standing()
        return PendingBatches(
            self.checkpoint, standing, planner(self.log), "digest", self.stopping, self.notes.append, drain
        )

    def done(self, entry: Batch) -> None:
        self.checkpoint.finish(entry.number, {"version": entry.number})


def until(entry: Batch) -> int:
    return int(entry.inputs[0].until["at"]["a"]["0"])


def test_a_batch_is_written_down_before_it_is_run(tmp_path: Path) -> None:
    job = Job(tmp_path, Log({A0: 5}))
    entry = next(iter(job.start()))
    assert Batch.of_json(job.checkpoint.entry(0)) == entry


def test_the_batch_under_way_comes_first_and_as_it_was(tmp_path: Path) -> None:
    job = Job(tmp_path, Log({A0: 5}))
    first = next(iter(job.start()))
    job.log.ends[A0] = 9
    batches = iter(job.start())
    assert next(batches) == first
    job.done(first)
    second = next(batches)
    assert (second.number, until(second)) == (1, 9)
    assert next(iter(job.start())) == second


def test_a_bounded_job_ends_and_has_ended_when_it_is_started_again(tmp_path: Path) -> None:
    job = Job(tmp_path, Log({A0: 5}, stops={A0: 5}))
    upcoming = job.start()
    entries = []
    for entry in upcoming:
        entries.append(entry)
        job.done(entry)
    assert [entry.final for entry in entries] == [False, True]
    assert upcoming.finished
    again = job.start()
    assert list(again) == []
    assert again.finished


def test_a_drained_job_ends_after_the_batch_under_way(tmp_path: Path) -> None:
    job = Job(tmp_path, Log({A0: 5}))
    first = next(iter(job.start()))
    job.log.ends[A0] = 9
    draining = job.start(drain=True)
    for entry in draining:
        assert entry == first
        job.done(entry)
    assert not draining.finished
    assert job.checkpoint.last() == 0
    assert list(job.start(drain=True)) == []


def test_an_entry_that_another_script_wrote_meanwhile_is_not_run(tmp_path: Path) -> None:
    job = Job(tmp_path, Log({A0: 5}))
    late = job.start()
    job.checkpoint.begin(0, {"number": 0, "plan": "another"})
    with pytest.raises(RowkindError) as refused:
        next(iter(late))
    assert refused.value.condition == "BATCH_OF_ANOTHER_SCRIPT"


def test_it_stops_while_it_waits(tmp_path: Path) -> None:
    job = Job(tmp_path, Log({A0: 5}))
    upcoming = job.start()
    threading.Timer(0.3, job.stopping.set).start()
    for entry in upcoming:
        job.done(entry)
    assert not upcoming.finished
    assert job.checkpoint.last() == 0


class Away(Log):
    """A log whose cluster is away for three looks behind the first batch, or from the start."""

    def __init__(self, looks: list[bool]) -> None:
        super().__init__({A0: 5})
        self.looks = iter(looks)

    def end(self, partitions: Any) -> Offsets:
        if not next(self.looks, True):
            raise RowkindError("KAFKA_UNREACHABLE", servers="here:1", what="", reason="")
        self.ends[A0] += 1
        return super().end(partitions)


def test_a_job_that_has_begun_waits_for_its_cluster_and_says_so_once(tmp_path: Path) -> None:
    job = Job(tmp_path, Away([True, False, False, False, True]))
    entries: Iterator[Batch] = iter(job.start())
    assert [until(entry) for entry in islice(entries, 2)] == [6, 7]
    assert len(job.notes) == 2
    assert all("here:1" in note for note in job.notes)


def test_a_job_that_has_not_begun_does_not_wait(tmp_path: Path) -> None:
    job = Job(tmp_path, Away([False]))
    with pytest.raises(RowkindError):
        next(iter(job.start()))
