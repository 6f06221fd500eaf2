"""Harm that comes to a job while it rests or is handed over: old copies, edits, second jobs, second runs, no power."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.faults.arena import Arena
from tests.faults.checks import CHECKS, INSERTS, OUTPUTS, Promise
from tests.faults.power import cut_in_place, recorded
from tests.faults.scenarios import ONCE, Scenario, ends_with

HAND_OVERS = 3
POWER_STEPS = ("before-sinks", "after-state", "after-sinks", "after-manifest")
COPY = CHECKS["append copy"]
EDITED = INSERTS.replace(COPY, COPY.replace(";", " WHERE id >= 0;"))
MOVED = f"EXECUTE STATEMENT SET BEGIN {' '.join(reversed(CHECKS.values()))} END;"
HALVES = [COPY.replace(";", f" WHERE MOD(id, 2) = {rest};") for rest in (0, 1)]
OWN_JOBS = " ".join([*HALVES, *(insert for insert in CHECKS.values() if insert != COPY)])


def restored(arena: Arena) -> int:
    """The checkpoint is put back from a copy: refused where rows would be lost, and it goes back on demand."""
    copy = arena.folder / "copy"
    for _ in range(2):
        arena.load(2 * arena.batch)
        with arena.start() as job:
            arena.complete(job)
        if not copy.exists():
            shutil.copytree(arena.checkpoint, copy)
    shutil.rmtree(arena.checkpoint)
    copy.rename(arena.checkpoint)
    arena.load(arena.batch)
    if arena.promise is Promise.EXACTLY_ONCE:
        with arena.start() as job:
            ends_with(job, "CHECKPOINT_NOT_LATEST")
    arena.flags = ("--rewind",)
    with arena.start() as job:
        arena.finish(job, Promise.AT_LEAST_ONCE)
    return 1


def handed_over_under_load(arena: Arena) -> int:
    """A job is handed over again and again while messages keep coming: each time the old run is in a batch."""
    arena.batch = 300
    arena.load(4 * arena.batch)
    with ExitStack() as stack:
        job = stack.enter_context(arena.start())
        arena.until_written(job)
        with loading(arena):
            for _ in range(HAND_OVERS):
                owner = arena.owner()
                successor = stack.enter_context(arena.start())
                successor.until(lambda owner=owner: arena.owner() != owner)  # type: ignore[misc]
                ends_with(job, "JOB_TAKEN_OVER", "TRANSACTION_FENCED")
                job = successor
        arena.finish(job)
    return HAND_OVERS


def edited_in_a_batch(arena: Arena) -> int:
    """Killed when a batch is in some sinks, and the script edited: refused, finished with the old one, then edited."""
    step = "after-commit" if arena.promise is Promise.EXACTLY_ONCE else "after-sinks"
    arena.load(3 * arena.batch)
    happened = arena.folder / "half"
    with arena.start(ROWKIND_FAIL_AT=f"{step}:1:{happened}") as job:
        job.until(happened.exists)
        job.kill()
    arena.inserts = EDITED
    with arena.start() as job:
        ends_with(job, "BATCH_OF_ANOTHER_SCRIPT")
    arena.inserts, arena.flags = MOVED, ("--drain",)
    with arena.start() as job:
        assert job.wait() == 0, job.err
    arena.inserts, arena.flags = EDITED, ()
    arena.load(arena.batch)
    with arena.start() as job:
        arena.finish(job)
    return 1


def several_jobs(arena: Arena) -> int:
    """One session has a job for each INSERT, two of them into one table under one prefix; killed once under load."""
    arena.inserts = OWN_JOBS
    arena.load(3 * arena.batch)
    with arena.start() as job:
        arena.until_written(job)
        arena.load(2 * arena.batch)
        job.kill()
    with arena.start() as job:
        arena.finish(job)
    return 1


def power_cut(arena: Arena) -> int:
    """Killed at a step, and the checkpoint is left with what was synced; one after the other on one checkpoint."""
    arena.load(arena.batch * (len(POWER_STEPS) + 2))
    for number, step in enumerate(POWER_STEPS):
        happened, record = arena.folder / f"cut-{step}", arena.folder / f"disk-{number}"
        env = recorded(arena.checkpoint, record)
        with arena.start(**env, ROWKIND_FAIL_AT=f"{step}:{1 + number}:{happened}") as job:
            job.until(happened.exists)
            job.kill()
        cut_in_place(arena.checkpoint, record)
    with arena.start() as job:
        arena.finish(job)
    return len(POWER_STEPS)


@contextmanager
def loading(arena: Arena) -> Iterator[None]:
    """Messages keep coming meanwhile, so many that there is always a batch to run, and not more."""
    over, copied = threading.Event(), arena.topic(OUTPUTS[0].table)

    def load() -> None:
        while not over.wait(0.2):
            if arena.loaded - sum(arena.client.end_offsets(copied).values()) < 4 * arena.batch:
                arena.load(100)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


SAFE_SCENARIOS = (
    Scenario("restored", restored),
    Scenario("handed-over-under-load", handed_over_under_load),
    Scenario("edited-in-a-batch", edited_in_a_batch),
    Scenario("several-jobs", several_jobs, promises=ONCE),
    Scenario("power-cut", power_cut),
)
