"""Exactly-once on the driver: what is recorded before a batch, and what is ended and looked at before a job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rowkind.connectors.contract import Marker, Promise, Table, Used
from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.insert_names import insert_names
from rowkind.runtime.driver.resuming import Standing


class ExactlyOnce:
    """The exactly-once sinks of a job. `job` is its name in the session, `lineage` what its markers carry."""

    def __init__(self, sinks: Sequence[n.Sink], checkpoint: Checkpoint, job: str, lineage: str) -> None:
        self._checkpoint = checkpoint
        names = insert_names(sinks)
        once = [sink for sink in sinks if sink.table.writing.guarantee is Guarantee.EXACTLY_ONCE]
        self._names = {sink: f"{job}.{names[sink]}" for sink in once}
        self._sinks = {sink: sink.table.sink() for sink in once}
        self._inserts = {sink: self._sinks[sink].insert(self._names[sink], lineage) for sink in once}

    def promises(self, version: int, entry: str, tasks: dict[n.Sink, int]) -> dict[n.Sink, Promise]:
        """What each sink promises for a batch; `tasks` is how many each has, and is recorded with the batch."""
        self._checkpoint.record_used(
            self._sinks[sink].used(insert, task)
            for sink, insert in self._inserts.items()
            for task in range(tasks[sink])
        )
        return {sink: Promise(insert, version, entry) for sink, insert in self._inserts.items()}

    def tasks(self, version: int, wanted: dict[n.Sink, int]) -> dict[n.Sink, int]:
        """In how many tasks the sinks write: as recorded, should the batch be run again under another setting."""
        if not self._names:
            return wanted
        recorded = self._checkpoint.sink_tasks(version, {name: wanted[sink] for sink, name in self._names.items()})
        return {**wanted, **{sink: recorded[name] for sink, name in self._names.items()}}


def settle(used: Sequence[Used], tables: Iterable[Table], lineage: str) -> tuple[list[tuple[Used, Marker]], list[str]]:
    """End the transactions that earlier runs of a job left open, each where it was begun.

    Answers the markers that are there, and what to tell. An INSERT that is no longer in the script is reached through
    any other table at its place.
    """
    sinks = [table.sink() for table in tables] if used else []
    work, notes = [], []
    for one in used:
        sink = max(sinks, key=lambda sink: sink.reach(one), default=None)
        if sink is None or not sink.reach(one):
            notes.append(
                f"No table of this job is at {one.place} any more: a transaction '{one.prefix}' that was left open "
                "there ends by itself after its timeout."
            )
        else:
            work.append((one, sink))
    with ThreadPoolExecutor(8) as pool:
        found = [(one, pool.submit(sink.settle, one, lineage)) for one, sink in work]
    markers = [(one, marker) for one, answer in found if (marker := answer.result()) is not None]
    return markers, list(dict.fromkeys(notes))


def prepare_sinks(tables: Iterable[Table]) -> list[str]:
    """Before a job starts; the strings are warnings for the user. What a sink cannot promise is refused."""
    warnings: list[str] = []
    for table in tables:
        sink, wanted = table.sink(), table.writing.guarantee
        if wanted not in sink.guarantees:
            known = ", ".join(f"'{guarantee}'" for guarantee in Guarantee if guarantee in sink.guarantees)
            raise RowkindError(
                "GUARANTEE_NOT_GIVEN", table=table.name, connector=table.connector, wanted=wanted.value, known=known
            )
        warnings += sink.prepare()
    return warnings


def check_latest(checkpoint: Checkpoint, standing: Standing, markers: Iterable[tuple[Used, Marker]]) -> None:
    """That no sink has a batch which this checkpoint does not know: it would be an old copy."""
    pending = None if standing.pending is None else standing.next
    for one, marker in markers:
        known = marker.version < standing.next or marker.version == pending
        if not known or checkpoint.entry_id(marker.version) not in (marker.entry, None):
            raise RowkindError("CHECKPOINT_NOT_LATEST", prefix=one.prefix, batch=standing.next, found=marker.version)
