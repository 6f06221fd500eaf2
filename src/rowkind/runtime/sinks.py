"""Sink topics before a job starts: looked at, and created where they are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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
                warnings += _forgets_rows(table, topic, cluster.topic_config(topic))
    return warnings


def _forgets_rows(table: KafkaTable, topic: str, config: Mapping[str, str]) -> list[str]:
    """A warning where the topic's clean-up removes rows that are still valid."""
    policy = config.get("cleanup.policy", "")
    where = f"Table '{table.name}': topic '{topic}'"
    match set(re.split(r"[\s,]+", policy)):
        case policies if "compact" not in policies:
            return [
                f"{where} is not compacted (cleanup.policy={policy}), so old rows may be removed before they are "
                "replaced and the table cannot be read back whole later; set cleanup.policy=compact."
            ]
        case policies if "delete" in policies:
            return [
                f"{where} is compacted and also deleted by age or size (cleanup.policy={policy}, "
                f"retention.ms={config.get('retention.ms')}, retention.bytes={config.get('retention.bytes')}): rows "
                "that are not written again disappear without a tombstone; set cleanup.policy=compact to keep them."
            ]
    return []
