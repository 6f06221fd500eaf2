"""Options that a table was given and that change nothing where they stand: each is named in a warning, with the reason.

One function a rule; each gives options and why they have no effect. Those that were not given do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rowkind.connectors.kafka.rules.sink import guarantee
from rowkind.connectors.kafka.sink_options import NAMING_STRATEGY, TRANSACTIONAL_ID_PREFIX
from rowkind.connectors.kafka.source_options import (
    BOUNDED_MODE,
    BOUNDED_SPECIFIC_OFFSETS,
    BOUNDED_TIMESTAMP,
    DISCOVERY_INTERVAL,
    ON_MISSING_TOPIC,
    STARTUP_MODE,
    STARTUP_SPECIFIC_OFFSETS,
    STARTUP_TIMESTAMP,
    BoundedMode,
    StartupMode,
)
from rowkind.connectors.kafka.startup import OFFSET_RESET
from rowkind.connectors.kafka.table_options import (
    KEY_FIELDS_PREFIX,
    PROPERTIES,
    TOPIC_PATTERN,
    VALUE_FIELDS_INCLUDE,
    FieldsInclude,
)
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.connectors.reading_options import (
    ALIGNMENT_GROUP,
    ALIGNMENT_MAX_DRIFT,
    ALIGNMENT_UPDATE_INTERVAL,
    WATERMARK_EMIT,
    WATERMARK_IDLE_TIMEOUT,
)
from rowkind.connectors.settings import Guarantee
from rowkind.options.declarations import Option

Idle = Iterator[tuple[Option[Any] | str, str]]
"""Options, or texts that stand for them, and why they have no effect."""


def without_effect(usage: KafkaUsage) -> list[str]:
    """Warnings about a table whose options were checked."""
    rules = SHARED + (READ if usage.reads else WRITTEN)
    return [
        f"Table '{usage.definition.name}': {_named(option)} has no effect: {why}."
        for rule in rules
        for option, why in rule(usage)
        if isinstance(option, str) or usage.given.has(option)
    ]


def _named(option: Option[Any] | str) -> str:
    return option if isinstance(option, str) else f"'{option.name}'"


def start_of_another_mode(usage: KafkaUsage) -> Idle:
    if usage.upsert:
        return
    for option, needed in (
        (STARTUP_TIMESTAMP, StartupMode.TIMESTAMP),
        (STARTUP_SPECIFIC_OFFSETS, StartupMode.SPECIFIC),
    ):
        if usage.given[STARTUP_MODE] is not needed:
            yield option, f"'{STARTUP_MODE.name}' is '{usage.given[STARTUP_MODE]}', not '{needed}'"


def end_of_another_mode(usage: KafkaUsage) -> Idle:
    for option, needed in (
        (BOUNDED_TIMESTAMP, BoundedMode.TIMESTAMP),
        (BOUNDED_SPECIFIC_OFFSETS, BoundedMode.SPECIFIC),
    ):
        if usage.given[BOUNDED_MODE] is not needed:
            yield option, f"'{BOUNDED_MODE.name}' is '{usage.given[BOUNDED_MODE]}', not '{needed}'"


def reset_without_group_offsets(usage: KafkaUsage) -> Idle:
    mode = StartupMode.EARLIEST if usage.upsert else usage.given[STARTUP_MODE]
    if OFFSET_RESET in usage.properties and mode is not StartupMode.GROUP:
        yield f"'{PROPERTIES.prefix}{OFFSET_RESET}'", f"the table is read from '{mode}', not from '{StartupMode.GROUP}'"


def waiting_of_a_bounded_read(usage: KafkaUsage) -> Idle:
    if usage.given[BOUNDED_MODE] is not BoundedMode.UNBOUNDED:
        yield DISCOVERY_INTERVAL, "a bounded read does not look for new partitions"
        yield ON_MISSING_TOPIC, "a bounded read fails when a topic is missing"


def missing_topic_of_a_pattern(usage: KafkaUsage) -> Idle:
    if usage.given.has(TOPIC_PATTERN):
        yield ON_MISSING_TOPIC, f"'{TOPIC_PATTERN.name}' names no topic that could be missing"


def event_time_without_watermark(usage: KafkaUsage) -> Idle:
    if usage.definition.watermark is None:
        family = (ALIGNMENT_GROUP, ALIGNMENT_MAX_DRIFT, ALIGNMENT_UPDATE_INTERVAL)
        for option in (WATERMARK_EMIT, WATERMARK_IDLE_TIMEOUT, *family):
            yield option, "the table has no WATERMARK"


def key_options_without_key(usage: KafkaUsage) -> Idle:
    if usage.key is None:
        yield KEY_FIELDS_PREFIX, "the table has no key"
        if usage.given[VALUE_FIELDS_INCLUDE] is FieldsInclude.EXCEPT_KEY:
            yield (
                f"'{VALUE_FIELDS_INCLUDE.name}' = '{FieldsInclude.EXCEPT_KEY}'",
                "the table has no key; 'key.format' and 'key.fields' make one",
            )


def transactions_without_exactly_once(usage: KafkaUsage) -> Idle:
    if (given := guarantee(usage)) is not Guarantee.EXACTLY_ONCE:
        why = f"'sink.delivery-guarantee' is '{given}', not '{Guarantee.EXACTLY_ONCE}'"
        yield TRANSACTIONAL_ID_PREFIX, why
        yield NAMING_STRATEGY, why


SHARED: tuple[Callable[[KafkaUsage], Idle], ...] = (key_options_without_key,)
READ: tuple[Callable[[KafkaUsage], Idle], ...] = (
    start_of_another_mode,
    end_of_another_mode,
    reset_without_group_offsets,
    waiting_of_a_bounded_read,
    missing_topic_of_a_pattern,
    event_time_without_watermark,
)
WRITTEN: tuple[Callable[[KafkaUsage], Idle], ...] = (transactions_without_exactly_once,)
