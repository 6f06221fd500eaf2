"""Sink topics before a job starts: looked at, and created where they are missing."""

from __future__ import annotations

from collections.abc import Iterable

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.kafka.cluster import Cluster
from rowkind.runtime.delivery import check_timeout


def prepare_sinks(tables: Iterable[KafkaTable]) -> list[str]:
    """Create missing topics; the strings are warnings for the user."""
    warnings: list[str] = []
    for table in tables:
        cluster = Cluster(table.properties)
        check_timeout(table, cluster)
        existing = cluster.existing(table.topics)
        for topic in table.topics:
            if topic not in existing:
                creation = table.sink.topic_creation
                cluster.create_topic(
                    topic, creation.partitions or -1, creation.replication_factor or -1, creation.config
                )
            elif table.upsert:
                warnings += _not_compacted(table, cluster, topic)
    return warnings


def _not_compacted(table: KafkaTable, cluster: Cluster, topic: str) -> list[str]:
    policy = cluster.topic_config(topic).get("cleanup.policy", "")
    if "compact" in policy:
        return []
    return [
        f"Table '{table.name}': topic '{topic}' is not compacted (cleanup.policy={policy}), so old rows may be removed "
        "before they are replaced and the table cannot be read back whole later; set cleanup.policy=compact."
    ]
