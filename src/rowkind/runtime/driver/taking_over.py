"""The start of a run on a checkpoint: it becomes the owner, and only then reads how far the job is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rowkind.connectors.contract import Table
from rowkind.errors import RowkindError
from rowkind.plan import identity
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.delivery import ExactlyOnce, check_latest, settle
from rowkind.runtime.driver.insert_names import insert_names
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.job_record import JobRecord
from rowkind.runtime.driver.resuming import Resuming, Standing, check_script


@dataclass(frozen=True, slots=True)
class Taken:
    """A checkpoint that this run owns, as it found it."""

    record: JobRecord
    standing: Standing
    digest: str
    once: ExactlyOnce


def take_over(folder: Checkpoint, job: str, plan: JobPlan, resuming: Resuming, notify: Callable[[str], None]) -> Taken:
    """Open a checkpoint for a job under its name in the session. `notify` hears what the user should know."""
    digest = plan_digest(plan)
    before = folder.standing()
    folder.agreed(plan, before, folder.record())  # what is refused is refused before a job that runs is disturbed
    if not resuming.rewind:
        check_script(folder.uri, before.pending, digest)
    owner = folder.claim()
    if owner is not None and owner.may_run:
        notify(f"Taking over the checkpoint {folder.uri} from {owner}; it stops when it notices.")
    standing = folder.standing()
    record, notes = folder.agreed(plan, standing, folder.record())
    for note in notes:
        notify(note)
    standing = _settled(folder, standing, record, plan, digest, resuming.rewind, notify)
    folder.keep(record)
    return Taken(record, standing, digest, ExactlyOnce(plan.sinks, folder, job, folder.lineage(record.id)))


def _settled(
    folder: Checkpoint,
    standing: Standing,
    record: JobRecord,
    plan: JobPlan,
    digest: str,
    rewind: bool,
    notify: Callable[[str], None],
) -> Standing:
    """Where to go on: after the last batch that is known, if the sinks have none that is not."""
    tables = [*(sink.table for sink in plan.sinks), *plan.tables]
    markers, notes = settle(folder.used(), tables, folder.lineage(record.id))
    for note in notes:
        notify(note)
    try:
        check_script(folder.uri, standing.pending, digest)
        check_latest(folder, standing, markers)
    except RowkindError:
        if not rewind:
            raise
        notify(_gone_back(standing, plan.sinks))
        return folder.rewind(standing)
    return standing


def _gone_back(standing: Standing, sinks: tuple[n.Sink, ...]) -> str:
    appended = sorted({sink.table.name for sink in sinks if not sink.table.upsert})
    since = "the beginning" if standing.last is None else f"batch {standing.last}"
    repeated = f" Rows come twice in {', '.join(appended)}." if appended else ""
    return f"Going back to {since}: what was written after it is written again.{repeated} Upsert tables converge."


def plan_digest(plan: JobPlan) -> str:
    """A batch that was begun must be finished by a plan that computes and promises the same.

    It is the same for INSERTs in another order, and whatever options of reading and pacing are.

    What is promised of a sink counts: its markers would be looked for elsewhere. So does when it writes what it holds
    back: that decides which rows are the batch's.
    """
    promised = {name: _promised(sink.table) for sink, name in insert_names(plan.sinks).items()}
    return identity.digest([identity.plan_digest(plan.roots), promised])


def _promised(table: Table) -> list[str | int | None]:
    sink = table.writing
    return [str(sink.guarantee), table.transaction_prefix, sink.buffer_max_rows, str(sink.buffer_interval)]
