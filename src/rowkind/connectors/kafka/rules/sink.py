"""Rules about writing a table."""

from __future__ import annotations

from datetime import timedelta

from rowkind.connectors.kafka.option_usage import Usage
from rowkind.connectors.kafka.partitioners import partitioner_named
from rowkind.connectors.kafka.sink_options import (
    BUFFER_INTERVAL,
    BUFFER_MAX_ROWS,
    DELIVERY_GUARANTEE,
    PARTITIONER,
    SEMANTIC,
    SINK_PARALLELISM,
    TRANSACTIONAL_ID_PREFIX,
)
from rowkind.connectors.kafka.table_options import KEY_FIELDS
from rowkind.connectors.settings import Guarantee

MAX_PREFIX_BYTES = 64_000


def guarantee(usage: Usage) -> Guarantee:
    """The promise, by its option or by the deprecated one that goes before it."""
    old = None if usage.connector.upsert else usage.given.get(SEMANTIC)
    return old or usage.given[DELIVERY_GUARANTEE]


def exactly_once_needs_prefix(usage: Usage) -> None:
    if guarantee(usage) is Guarantee.EXACTLY_ONCE and not usage.given.get(TRANSACTIONAL_ID_PREFIX):
        raise usage.error("TRANSACTIONAL_ID_PREFIX_MISSING")


def prefix_is_short_enough(usage: Usage) -> None:
    size = len((usage.given.get(TRANSACTIONAL_ID_PREFIX) or "").encode())
    if size > MAX_PREFIX_BYTES:
        raise usage.error("TRANSACTIONAL_ID_PREFIX_TOO_LONG", size=size, limit=MAX_PREFIX_BYTES)


def round_robin_has_no_key(usage: Usage) -> None:
    if (
        not usage.connector.upsert
        and usage.given[PARTITIONER].strip().lower() == "round-robin"
        and usage.given.has(KEY_FIELDS)
    ):
        raise usage.error("ROUND_ROBIN_WITH_KEY")


def partitioner_exists(usage: Usage) -> None:
    """A class is imported and built once here, so that a wrong name fails at planning and not in a worker."""
    if usage.connector.upsert:
        return
    if not usage.given[PARTITIONER].strip():
        raise usage.error("PARTITIONER_EMPTY")
    partitioner_named(usage.given[PARTITIONER])


def buffering_is_complete(usage: Usage) -> None:
    if not usage.connector.upsert:
        return
    rows, interval = usage.given[BUFFER_MAX_ROWS] > 0, usage.given[BUFFER_INTERVAL] > timedelta(0)
    if rows != interval:
        raise usage.error("BUFFER_OPTIONS_INCOMPLETE")


def sink_parallelism_is_positive(usage: Usage) -> None:
    parallelism = usage.given.get(SINK_PARALLELISM)
    if parallelism is not None and parallelism <= 0:
        raise usage.error("INVALID_PARALLELISM", option=SINK_PARALLELISM.name, value=parallelism)
