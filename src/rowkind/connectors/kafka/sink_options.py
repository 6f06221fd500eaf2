"""Options of a table that is written: partitions, promises, buffering, and the topic that is created."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from rowkind.connectors.settings import Guarantee
from rowkind.connectors.writing_options import BUFFERING, DELIVERY_GUARANTEE, SINK_PARALLELISM
from rowkind.options.declarations import Option, choice, positive, text


class NamingStrategy(StrEnum):
    INCREMENTING = "INCREMENTING"
    POOLING = "POOLING"


def semantic(value: str) -> Guarantee:
    """The guarantee as the deprecated option writes it: any case, `-` or `_`."""
    parsed: Guarantee = choice(Guarantee)(value.replace("_", "-"))
    return parsed


PARTITIONER = Option(
    "sink.partitioner",
    text,
    "string",
    "default",
    "`default` (by key as Kafka's Java clients do, without key as the client likes), `fixed` (one partition a task), "
    "`round-robin` (rotates; only without key), or a Python class as `module:Class`.",
)

SEMANTIC: Option[Guarantee] = Option(
    "sink.semantic",
    semantic,
    "string",
    None,
    "Deprecated; replaces `sink.delivery-guarantee`.",
    unset="`sink.delivery-guarantee`",
)

TRANSACTIONAL_ID_PREFIX = Option(
    "sink.transactional-id-prefix",
    text,
    "string",
    None,
    "Start of the transactional ids, unique to the job.",
    required="with `exactly-once`",
)

NAMING_STRATEGY: Option[NamingStrategy] = Option(
    "sink.transaction-naming-strategy",
    choice(NamingStrategy),
    "INCREMENTING, POOLING",
    NamingStrategy.INCREMENTING,
    "Accepted for scripts that have it: each task of a sink has one transactional id and uses it again, "
    "whatever this says.",
)

TOPIC_PARTITIONS = Option(
    "sink.topic.partitions",
    positive,
    "int",
    None,
    "Partitions of a topic that rowkind creates (rowkind's own).",
    unset="the broker's `num.partitions`",
)

TOPIC_REPLICATION = Option(
    "sink.topic.replication-factor",
    positive,
    "int",
    None,
    "Replication factor of a topic that rowkind creates (rowkind's own).",
    unset="the broker's `default.replication.factor`",
)

TOPIC_CONFIG = Option(
    "sink.topic.config.*",
    text,
    "string",
    None,
    "Settings of a topic that rowkind creates, such as `sink.topic.config.retention.ms` (rowkind's own).",
    unset="the broker's settings; of an upsert table `cleanup.policy` = `compact`",
)

SINK: tuple[Option[Any], ...] = (
    SINK_PARALLELISM,
    DELIVERY_GUARANTEE,
    TRANSACTIONAL_ID_PREFIX,
    NAMING_STRATEGY,
    TOPIC_PARTITIONS,
    TOPIC_REPLICATION,
    TOPIC_CONFIG,
)

APPEND_SINK: tuple[Option[Any], ...] = (PARTITIONER, *SINK, SEMANTIC)

UPSERT_SINK: tuple[Option[Any], ...] = (*SINK, *BUFFERING)
