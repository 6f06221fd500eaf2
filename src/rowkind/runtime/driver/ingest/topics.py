"""The topics of an ingestion job: there before the first message, compacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.sink_topics import warnings_about
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.ingest.topic_schemas import TopicSchema
from rowkind.runtime.driver.delivery import prepare_sinks
from rowkind.runtime.driver.ingest.tables import JobTables


class TopicCreator(Protocol):
    """Creates a topic that is not there: through the broker, or through a vendor's control plane."""

    def __call__(self, table: KafkaTable) -> None: ...


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
        if not self._seen:
            for warning in prepare_sinks(made[:1]):
                self._notify(f"Warning: {warning}")
        self._cluster = self._cluster or Cluster(made[0].properties)
        existing = self._cluster.existing([table.topics[0] for table in made])
        for table in made:
            topic = table.topics[0]
            if topic in existing:
                for warning in warnings_about(table, topic, self._cluster.topic_config(topic)):
                    self._notify(f"Warning: {warning}")
            elif self._create is not None:
                self._create(table)
            else:
                creation = table.writing.topic_creation
                partitions, replication = creation.partitions or -1, creation.replication_factor or -1
                self._cluster.create_topic(topic, partitions, replication, creation.config)
        self._seen |= fresh.keys()

    def marker(self, topics: Mapping[str, TopicSchema]) -> str:
        """The topic that carries the markers of the job: always the same one."""
        self._marker = self._marker or min(topics)
        return self._marker
