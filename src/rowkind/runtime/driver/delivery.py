"""Exactly-once on the driver: what is recorded before a batch, and what is ended and looked at before a job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from rowkind.connectors.kafka.clients import Properties
from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.kafka.transactions import DEFAULT_TIMEOUT_MS, Insert, Marker, Promise, Used, settled
from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.insert_names import insert_names
from rowkind.runtime.driver.resuming import Standing

SERVERS = "bootstrap.servers"


class ExactlyOnce:
    """The exactly-once sinks of a job. `job` is its name in the session, `lineage` what its markers carry."""

    def __init__(self, sinks: Sequence[n.Sink], checkpoint: Checkpoint, job: str, lineage: str) -> None:
        self._checkpoint = checkpoint
        names = insert_names(sinks)
        once = {
            sink: sink.table
            for sink in sinks
            if isinstance(sink.table, KafkaTable) and sink.table.writing.guarantee is Guarantee.EXACTLY_ONCE
        }
        self._servers = {sink: table.properties[SERVERS] for sink, table in once.items()}
        self._inserts = {
            sink: Insert(table.writing.transactional_id_prefix or "", f"{job}.{names[sink]}", lineage, _topic(table))
            for sink, table in once.items()
        }

    def promises(self, version: int, entry: str, tasks: dict[n.Sink, int]) -> dict[n.Sink, Promise]:
        """What each sink promises for a batch; `tasks` is how many each has, and is recorded with the batch."""
        self._checkpoint.record_used(
            Used(insert.prefix, insert.name, insert.marker_topic, self._servers[sink], task)
            for sink, insert in self._inserts.items()
            for task in range(tasks[sink])
        )
        return {sink: Promise(insert, version, entry) for sink, insert in self._inserts.items()}

    def tasks(self, version: int, wanted: dict[n.Sink, int]) -> dict[n.Sink, int]:
        """In how many tasks the sinks write: as recorded, should the batch be run again under another setting."""
        if not self._inserts:
            return wanted
        mine = {insert.name: wanted[sink] for sink, insert in self._inserts.items()}
        recorded = self._checkpoint.sink_tasks(version, mine)
        return {**wanted, **{sink: recorded[insert.name] for sink, insert in self._inserts.items()}}


def settle(
    used: Sequence[Used], tables: Iterable[KafkaTable], lineage: str
) -> tuple[list[tuple[Used, Marker]], list[str]]:
    """End the transactions that earlier runs of a job left open, each on its own cluster.

    Answers the markers that are there, and what to tell. An INSERT that is no longer in the script is reached through
    any other table on its brokers.
    """
    known = list(tables)
    work, notes = [], []
    for one in used:
        properties = _properties(one, known)
        if properties is None:
            notes.append(
                f"No table of this job is at {one.servers} any more: a transaction '{one.prefix}' that was left open "
                "there ends by itself after its timeout."
            )
        else:
            insert = Insert(one.prefix, one.name, lineage, one.marker_topic)
            work.append((one, partial(settled, properties, insert, one.task)))
    with ThreadPoolExecutor(8) as pool:
        found = [(one, pool.submit(call)) for one, call in work]
    markers = [(one, marker) for one, answer in found if (marker := answer.result()) is not None]
    return markers, list(dict.fromkeys(notes))


def _properties(one: Used, tables: Sequence[KafkaTable]) -> Properties | None:
    """How to reach the brokers of a task: by a table there, or the table itself, should its address be another now."""
    there = [t.properties for t in tables if t.properties[SERVERS] == one.servers]
    itself = [t.properties for t in tables if t.writing.transactional_id_prefix == one.prefix]
    return next(iter((*there, *itself)), None)


def check_latest(checkpoint: Checkpoint, standing: Standing, markers: Iterable[tuple[Used, Marker]]) -> None:
    """That no sink has a batch which this checkpoint does not know: it would be an old copy."""
    pending = None if standing.pending is None else standing.next
    for one, marker in markers:
        known = marker.version < standing.next or marker.version == pending
        if not known or checkpoint.entry_id(marker.version) not in (marker.entry, None):
            raise RowkindError("CHECKPOINT_NOT_LATEST", prefix=one.prefix, batch=standing.next, found=marker.version)


def _topic(table: KafkaTable) -> str:
    """An existing topic of the sink: the marker of a batch is an offset on its first partition."""
    if table.topics:
        return table.topics[0]
    assert table.topic_pattern is not None
    found = Cluster(table.properties).matching(table.topic_pattern)
    if not found:
        raise RowkindError("NO_TOPIC_FOR_MARKER", table=table.name, pattern=table.topic_pattern.pattern)
    return found[0].topic


def check_timeout(table: KafkaTable, cluster: Cluster) -> None:
    """A transaction must be allowed to last as long as the sink asks for."""
    if table.writing.guarantee is not Guarantee.EXACTLY_ONCE:
        return
    wanted = int(table.properties.get("transaction.timeout.ms", DEFAULT_TIMEOUT_MS))
    limit = cluster.broker_setting("transaction.max.timeout.ms")
    if limit is not None and wanted > int(limit):
        reason = f"table '{table.name}' asks for {wanted} ms, the broker allows {limit} ms"
        raise RowkindError("TRANSACTION_TIMEOUT_TOO_LONG", reason=reason)
