"""The topics of a table as a sink: prepared before a job, promised exactly once, settled after a run that broke off."""

from __future__ import annotations

from rowkind.connectors.contract import Marker, Sink, Used
from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.sink_topics import prepare
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.kafka.transactions import Insert, settled
from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError


class KafkaSink(Sink):
    """The topics of one table."""

    def __init__(self, table: TopicTable) -> None:
        self._table = table

    @property
    def guarantees(self) -> frozenset[Guarantee]:
        return frozenset(Guarantee)

    def prepare(self) -> list[str]:
        return prepare(self._table)

    def insert(self, name: str, lineage: str) -> Insert:
        return Insert(self._table.transaction_prefix or "", name, lineage, self._marker_topic())

    def _marker_topic(self) -> str:
        """An existing topic of the sink: the marker of a batch is an offset on its first partition."""
        table = self._table
        if table.topics:
            return table.topics[0]
        assert table.topic_pattern is not None
        found = Cluster(table.properties).matching(table.topic_pattern)
        if not found:
            raise RowkindError("NO_TOPIC_FOR_MARKER", table=table.name, pattern=table.topic_pattern.pattern)
        return found[0].topic

    def used(self, insert: Insert, task: int) -> Used:
        return Used(insert.prefix, insert.name, self._servers, task, {"marker-topic": insert.marker_topic})

    @property
    def _servers(self) -> str:
        return self._table.properties["bootstrap.servers"]

    def reach(self, used: Used) -> int:
        """By a table on the same brokers, or the table itself, should its address be another now."""
        if self._servers == used.place:
            return 2
        return int(self._table.transaction_prefix == used.prefix)

    def settle(self, used: Used, lineage: str) -> Marker | None:
        insert = Insert(used.prefix, used.name, lineage, used.detail["marker-topic"])
        return settled(self._table.properties, insert, used.task)
