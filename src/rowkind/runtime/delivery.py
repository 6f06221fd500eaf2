"""Exactly-once on the driver: what is recorded before a batch, and what is cleared away before a job."""

from __future__ import annotations

from collections.abc import Sequence

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.catalog.modes import Guarantee
from rowkind.errors import RowkindError
from rowkind.kafka.cluster import Cluster
from rowkind.kafka.transactions import DEFAULT_TIMEOUT_MS, Promise, abort_lingering
from rowkind.plan import nodes as n
from rowkind.runtime.checkpoint import Checkpoint


class ExactlyOnce:
    """The exactly-once sinks of a job, by their place among its INSERTs."""

    def __init__(self, sinks: Sequence[n.Sink], checkpoint: Checkpoint, job: str) -> None:
        self._sinks = [s for s in sinks if s.table.sink.guarantee is Guarantee.EXACTLY_ONCE]
        self._checkpoint = checkpoint
        self._job = job
        self._markers = {s.index: _marker_topic(s.table) for s in self._sinks}

    def clear(self) -> None:
        """End the transactions that an earlier run of this job left open."""
        ids = self._checkpoint.transactional_ids()
        if ids and self._sinks:
            abort_lingering(self._sinks[0].table.properties, ids)

    def promises(self, version: int, tasks: dict[int, int]) -> dict[int, Promise]:
        """What each sink promises for a batch; `tasks` is how many each has, and is recorded with the batch."""
        made = {}
        for sink in self._sinks:
            prefix = sink.table.sink.transactional_id_prefix or ""
            promise = Promise(prefix, sink.index, self._job, version, self._markers[sink.index])
            self._checkpoint.record_transactional_ids(promise.transactional_id(t) for t in range(tasks[sink.index]))
            made[sink.index] = promise
        return made

    def tasks(self, version: int, wanted: dict[int, int]) -> dict[int, int]:
        """In how many tasks the sinks write: as recorded, should the batch be run again under another setting."""
        if not self._sinks:
            return wanted
        mine = {str(s.index): wanted[s.index] for s in self._sinks}
        recorded = self._checkpoint.sink_tasks(version, mine)
        return {**wanted, **{int(index): count for index, count in recorded.items()}}


def _marker_topic(table: KafkaTable) -> str:
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
    if table.sink.guarantee is not Guarantee.EXACTLY_ONCE:
        return
    wanted = int(table.properties.get("transaction.timeout.ms", DEFAULT_TIMEOUT_MS))
    limit = cluster.broker_setting("transaction.max.timeout.ms")
    if limit is not None and wanted > int(limit):
        reason = f"table '{table.name}' asks for {wanted} ms, the broker allows {limit} ms"
        raise RowkindError("TRANSACTION_TIMEOUT_TOO_LONG", reason=reason)
