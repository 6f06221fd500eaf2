"""The topics of a sink before a job starts: looked at, and created where they are missing."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from rowkind.connectors.kafka.api_versions import (
    BROKER_DEFAULTS,
    EXACTLY_ONCE,
    IDEMPOTENCE,
    WRITING,
    ZSTD,
    Need,
    api_versions,
    check_broker,
)
from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.properties import producer_config
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.kafka.transactions import DEFAULT_TIMEOUT_MS
from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError


def prepare(table: TopicTable) -> list[str]:
    """Create the topics that are missing; the strings are warnings for the user."""
    warnings: list[str] = []
    cluster = Cluster(table.properties)
    check_timeout(table, cluster)
    existing = cluster.existing(table.topics)
    check_broker(table.name, table.properties, needs(table, existing), api_versions(table.properties))
    for topic in table.topics:
        if topic not in existing:
            creation = table.writing.topic_creation
            cluster.create_topic(topic, creation.partitions or -1, creation.replication_factor or -1, creation.config)
        elif table.upsert:
            warnings += warnings_about(table, topic, cluster.topic_config(topic))
    return warnings


def needs(table: TopicTable, existing: Container[str]) -> Iterator[Need]:
    """What a sink needs of its broker, the most basic first."""
    yield WRITING
    settings, creation = producer_config(table.properties).values, table.writing.topic_creation
    if str(settings["enable.idempotence"]).lower() == "true":
        yield IDEMPOTENCE
    if settings.get("compression.type") == "zstd":
        yield ZSTD
    if table.writing.guarantee is Guarantee.EXACTLY_ONCE:
        yield EXACTLY_ONCE
    if None in (creation.partitions, creation.replication_factor) and any(t not in existing for t in table.topics):
        yield BROKER_DEFAULTS


def warnings_about(table: TopicTable, topic: str, config: Mapping[str, str]) -> list[str]:
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


def check_timeout(table: TopicTable, cluster: Cluster) -> None:
    """A transaction must be allowed to last as long as the sink asks for."""
    if table.writing.guarantee is not Guarantee.EXACTLY_ONCE:
        return
    wanted = int(table.properties.get("transaction.timeout.ms", DEFAULT_TIMEOUT_MS))
    limit = cluster.broker_setting("transaction.max.timeout.ms")
    if limit is not None and wanted > int(limit):
        reason = f"table '{table.name}' asks for {wanted} ms, the broker allows {limit} ms"
        raise RowkindError("TRANSACTION_TIMEOUT_TOO_LONG", reason=reason)
