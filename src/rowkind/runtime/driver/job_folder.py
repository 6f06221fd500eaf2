"""The folder of a job in a checkpoint: named after the job's first table, and found when another one is first now."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from rowkind.errors import RowkindError
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.job_record import JobRecord, job_record
from rowkind.state.files import Folder


def moved_folder(checkpoint: str, wanted: str, plan: JobPlan, used: Collection[str]) -> str | None:
    """The folder that a job has under another name: it reads the same, and writes some of its tables.

    None when the wanted folder is there, or no such folder is. `used` are those of other jobs of the session.
    """
    there = Folder(checkpoint).folders()
    if wanted in there or not plan.sinks or not plan.scans:
        return None
    mine = job_record("", plan)
    found = (name for name in there if name not in used and _alike(_record(f"{checkpoint}/{name}"), mine))
    return next(found, None)


def _record(folder: str) -> JobRecord | None:
    with suppress(RowkindError):  # damaged, or of another version: a job that uses it will say so
        return Checkpoint(folder).record()
    return None


def _alike(found: JobRecord | None, mine: JobRecord) -> bool:
    return found is not None and found.sources == mine.sources and not set(found.sinks).isdisjoint(mine.sinks)
