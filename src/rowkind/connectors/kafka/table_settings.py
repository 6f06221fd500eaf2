"""How a table is read and how it is written, read from its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from rowkind.connectors.kafka.rules.sink import guarantee
from rowkind.connectors.kafka.sink_options import (
    NAMING_STRATEGY,
    PARTITIONER,
    SEMANTIC,
    TOPIC_CONFIG,
    TOPIC_PARTITIONS,
    TOPIC_REPLICATION,
    TRANSACTIONAL_ID_PREFIX,
    NamingStrategy,
)
from rowkind.connectors.kafka.source_options import (
    DEAD_LETTER_TOPIC,
    DISCOVERY_INTERVAL,
    ON_DATA_LOSS,
    ON_MISSING_TOPIC,
    BoundedMode,
    OnDataLoss,
    OnMissingTopic,
    StartupMode,
)
from rowkind.connectors.kafka.startup import Bounded, Startup, bounded, startup
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.connectors.reading_options import (
    MAX_BYTES_PER_BATCH,
    MAX_ROWS_PER_BATCH,
    NEVER,
    ON_ERROR,
    SCAN_PARALLELISM,
    WATERMARK_EMIT,
    alignment,
    idle_timeout,
)
from rowkind.connectors.settings import ReadSettings, WriteSettings
from rowkind.connectors.writing_options import BUFFER_INTERVAL, BUFFER_MAX_ROWS, SINK_PARALLELISM
from rowkind.kinds import ChangelogMode
from rowkind.options.session_options import CDC_DUPLICATES


@dataclass(frozen=True, slots=True)
class ScanSettings(ReadSettings):
    """How a Kafka table is read."""

    startup: Startup = field(default_factory=lambda: Startup(StartupMode.EARLIEST))
    bounded: Bounded = field(default_factory=lambda: Bounded(BoundedMode.UNBOUNDED))
    discovery_interval: timedelta | None = None
    """None: new partitions and topics are not looked for."""
    on_data_loss: OnDataLoss = OnDataLoss.FAIL
    on_missing_topic: OnMissingTopic = OnMissingTopic.FAIL
    """Of a bounded read always FAIL: what it would wait for is after its end."""
    dead_letter_topic: str | None = None


@dataclass(frozen=True, slots=True)
class TopicCreation:
    """How a missing sink topic is created; None leaves it to the broker."""

    partitions: int | None = None
    replication_factor: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SinkSettings(WriteSettings):
    """How a Kafka table is written."""

    partitioner: str = "default"
    transactional_id_prefix: str | None = None
    naming_strategy: NamingStrategy = NamingStrategy.INCREMENTING
    topic_creation: TopicCreation = field(default_factory=TopicCreation)


def scan_settings(usage: KafkaUsage) -> tuple[ScanSettings, list[str]]:
    """Of a source whose options were checked; with warnings."""
    given, end = usage.given, bounded(usage)
    start, warnings = startup(usage)
    interval = given[DISCOVERY_INTERVAL]
    settings = ScanSettings(
        startup=start,
        bounded=end,
        discovery_interval=interval if interval > NEVER and not end.ends else None,
        parallelism=given.get(SCAN_PARALLELISM),
        max_rows_per_batch=given.get(MAX_ROWS_PER_BATCH),
        max_bytes_per_batch=given[MAX_BYTES_PER_BATCH],
        on_data_loss=given[ON_DATA_LOSS],
        on_missing_topic=OnMissingTopic.FAIL if end.ends else given[ON_MISSING_TOPIC],
        on_error=given[ON_ERROR],
        dead_letter_topic=given.get(DEAD_LETTER_TOPIC),
        watermark_emit=given[WATERMARK_EMIT],
        idle_timeout=idle_timeout(usage),
        alignment=alignment(usage),
        repeats_events=usage.changelog is ChangelogMode.RETRACT and usage.session.value(CDC_DUPLICATES),
    )
    return settings, warnings


def sink_settings(usage: KafkaUsage) -> tuple[SinkSettings, list[str]]:
    """Of a sink whose options were checked; with warnings."""
    given, upsert = usage.given, usage.upsert
    settings = SinkSettings(
        partitioner="default" if upsert else given[PARTITIONER],
        parallelism=given.get(SINK_PARALLELISM),
        guarantee=guarantee(usage),
        transactional_id_prefix=given.get(TRANSACTIONAL_ID_PREFIX),
        naming_strategy=given[NAMING_STRATEGY],
        buffer_max_rows=max(given[BUFFER_MAX_ROWS], 0) if upsert else 0,
        buffer_interval=max(given[BUFFER_INTERVAL], NEVER) if upsert else NEVER,
        topic_creation=_topic_creation(usage),
    )
    return settings, _deprecations(usage)


def _topic_creation(usage: KafkaUsage) -> TopicCreation:
    """A topic made for an upsert table is compacted unless its creator says otherwise."""
    config = {"cleanup.policy": "compact"} if usage.upsert else {}
    return TopicCreation(
        usage.given.get(TOPIC_PARTITIONS),
        usage.given.get(TOPIC_REPLICATION),
        config | usage.given.under(TOPIC_CONFIG),
    )


def _deprecations(usage: KafkaUsage) -> list[str]:
    if usage.upsert or not usage.given.has(SEMANTIC):
        return []
    return [
        f"Table '{usage.definition.name}': 'sink.semantic' is deprecated and replaces 'sink.delivery-guarantee'; "
        "use the latter."
    ]
