"""The topics of an ingestion job: there before the first message, compacted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.latest import Latest
from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.connectors.kafka.sink_topics import warnings_about
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.ingest.topic_schemas import TopicSchema
from rowkind.runtime.driver.delivery import prepare_sinks
from rowkind.runtime.driver.ingest.tables import JobTables


class TopicCreator(Protocol):
    """Creates a topic that is not there: through the broker, or through a vendor's control plane."""

    def __call__(
        self, topic: str, partitions: int | None, replication: int | None, config: Mapping[str, str]
    ) -> None: ...


class Topics:
    """Sees to it once for each topic."""

    def __init__(
        self,
        tables: JobTables,
        notify: Callable[[str], None],
        create: TopicCreator | None = None,
        marker: str | None = None,
    ) -> None:
        self._tables = tables
        self._notify = notify
        self._create = create
        self._seen: set[str] = set()
        self._cluster: Cluster | None = None
        self._marker = marker

    def prepare(self, topics: Mapping[str, TopicSchema]) -> None:
        fresh = {topic: schema for topic, schema in topics.items() if topic not in self._seen}
        if not fresh:
            return
        made = [self._tables.kafka_table(topic, schema) for topic, schema in fresh.items()]
        cluster = self._cluster = self._cluster or Cluster(made[0].properties)
        existing = cluster.existing([table.topics[0] for table in made])
        missing = [table for table in made if table.topics[0] not in existing]
        if self._create is not None:
            self._create_elsewhere(self._create, missing, cluster)
        if not self._seen:
            prepare_sinks(made[:1])  # the brokers are looked at, too
        for topic in existing:
            for warning in warnings_about(self._tables.any_table(topic), topic, cluster.topic_config(topic)):
                self._notify(f"Warning: {warning}")
        for table in missing if self._create is None else ():
            creation = table.writing.topic_creation
            partitions, replication = creation.partitions or -1, creation.replication_factor or -1
            cluster.create_topic(table.topics[0], partitions, replication, creation.config)
        self._seen |= fresh.keys()

    def _create_elsewhere(self, create: TopicCreator, tables: Iterable[KafkaTable], cluster: Cluster) -> None:
        for table in tables:
            creation = table.writing.topic_creation
            create(table.topics[0], creation.partitions, creation.replication_factor, creation.config)
            cluster.await_topic(table.topics[0])

    def marker(self, topics: Mapping[str, TopicSchema]) -> str:
        """The topic that carries the markers of the job: always the same one."""
        self._marker = self._marker or min(topics)
        return self._marker


def latest_of(table: KafkaTable) -> Latest:
    """What is in a topic now, for workers to read; a topic that does not exist is empty."""
    cluster, topic = Cluster(table.properties), table.topics[0]
    partitions = [Partition(topic, number) for number in cluster.existing([topic]).get(topic, ())]
    begins, ends = cluster.beginnings(partitions), cluster.ends(partitions)
    ranges = tuple(OffsetRange(*p, begins[p], ends[p]) for p in partitions)
    return Latest(ranges, tuple(sorted(table.properties.items())))
