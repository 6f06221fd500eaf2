"""Rules about writing a table."""

from __future__ import annotations

from rowkind.connectors.kafka.partitioners import partitioner_named
from rowkind.connectors.kafka.sink_options import PARTITIONER, SEMANTIC, TRANSACTIONAL_ID_PREFIX
from rowkind.connectors.kafka.table_options import KEY_FIELDS
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.connectors.settings import Guarantee
from rowkind.connectors.writing_options import DELIVERY_GUARANTEE

MAX_PREFIX_BYTES = 64_000


def guarantee(usage: KafkaUsage) -> Guarantee:
    """The promise, by its option or by the deprecated one that goes before it."""
    old = None if usage.upsert else usage.given.get(SEMANTIC)
    return old or usage.given[DELIVERY_GUARANTEE]


def exactly_once_needs_prefix(usage: KafkaUsage) -> None:
    if guarantee(usage) is Guarantee.EXACTLY_ONCE and not usage.given.get(TRANSACTIONAL_ID_PREFIX):
        raise usage.error("TRANSACTIONAL_ID_PREFIX_MISSING")


def prefix_is_short_enough(usage: KafkaUsage) -> None:
    size = len((usage.given.get(TRANSACTIONAL_ID_PREFIX) or "").encode())
    if size > MAX_PREFIX_BYTES:
        raise usage.error("TRANSACTIONAL_ID_PREFIX_TOO_LONG", size=size, limit=MAX_PREFIX_BYTES)


def round_robin_has_no_key(usage: KafkaUsage) -> None:
    if not usage.upsert and usage.given[PARTITIONER].strip().lower() == "round-robin" and usage.given.has(KEY_FIELDS):
        raise usage.error("ROUND_ROBIN_WITH_KEY")


def partitioner_exists(usage: KafkaUsage) -> None:
    """A class is imported and built once here, so that a wrong name fails at planning and not in a worker."""
    if usage.upsert:
        return
    if not usage.given[PARTITIONER].strip():
        raise usage.error("PARTITIONER_EMPTY")
    partitioner_named(usage.given[PARTITIONER])
