"""Rules about reading a table."""

from __future__ import annotations

from typing import Any

from rowkind.connectors.kafka.source_options import (
    BOUNDED_MODE,
    BOUNDED_SPECIFIC_OFFSETS,
    BOUNDED_TIMESTAMP,
    DEAD_LETTER_TOPIC,
    STARTUP_MODE,
    STARTUP_SPECIFIC_OFFSETS,
    STARTUP_TIMESTAMP,
    BoundedMode,
    StartupMode,
)
from rowkind.connectors.kafka.startup import OFFSET_RESET, specific_offsets, starts_at_group
from rowkind.connectors.kafka.table_options import GROUP_ID
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.connectors.reading_options import ON_ERROR
from rowkind.connectors.settings import OnError
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option
from rowkind.options.session_options import CDC_DUPLICATES, RUNTIME_MODE, RuntimeMode

RESETS = ("latest", "earliest", "none")
SERIALIZERS = ("key.serializer", "value.serializer", "key.deserializer", "value.deserializer")


def _startup_mode(usage: KafkaUsage) -> StartupMode:
    return StartupMode.EARLIEST if usage.upsert else usage.given[STARTUP_MODE]


def startup_options_are_given(usage: KafkaUsage) -> None:
    needed: dict[StartupMode, Option[Any]] = {
        StartupMode.TIMESTAMP: STARTUP_TIMESTAMP,
        StartupMode.SPECIFIC: STARTUP_SPECIFIC_OFFSETS,
    }
    mode = _startup_mode(usage)
    if mode in needed and not usage.given.has(needed[mode]):
        raise usage.error("STARTUP_OPTION_MISSING", option=needed[mode].name, mode=mode)


def bounded_options_are_given(usage: KafkaUsage) -> None:
    needed: dict[BoundedMode, Option[Any]] = {
        BoundedMode.TIMESTAMP: BOUNDED_TIMESTAMP,
        BoundedMode.SPECIFIC: BOUNDED_SPECIFIC_OFFSETS,
    }
    mode = usage.given[BOUNDED_MODE]
    if mode in needed and not usage.given.has(needed[mode]):
        raise usage.error("BOUNDED_OPTION_MISSING", option=needed[mode].name, mode=mode)


def specific_offsets_need_one_topic(usage: KafkaUsage) -> None:
    specific = _startup_mode(usage) is StartupMode.SPECIFIC or usage.given[BOUNDED_MODE] is BoundedMode.SPECIFIC
    if specific and usage.single_topic is None:
        raise usage.error("SPECIFIC_OFFSETS_NEED_ONE_TOPIC")


def specific_offsets_are_valid(usage: KafkaUsage) -> None:
    _check_offsets(usage, BOUNDED_SPECIFIC_OFFSETS)
    if not usage.upsert:
        _check_offsets(usage, STARTUP_SPECIFIC_OFFSETS)


def _check_offsets(usage: KafkaUsage, option: Option[str]) -> None:
    text = usage.given.get(option)
    if text is None:
        return
    try:
        specific_offsets(text)
    except ValueError as error:
        raise usage.error("INVALID_SPECIFIC_OFFSETS", option=option.name, value=text, reason=str(error)) from None


def group_offsets_need_group(usage: KafkaUsage) -> None:
    """Only an explicit start mode asks for a group; without mode and group the table is read from now on."""
    asked = starts_at_group(usage) or usage.given[BOUNDED_MODE] is BoundedMode.GROUP
    default_fails = _starts_nowhere(usage)
    if (asked or default_fails) and not usage.given.has(GROUP_ID):
        raise usage.error("GROUP_ID_MISSING")


def _starts_nowhere(usage: KafkaUsage) -> bool:
    """No group, so nothing is committed, and the user asks to fail in that case."""
    return (
        not usage.upsert
        and usage.given[STARTUP_MODE] is StartupMode.GROUP
        and usage.properties.get(OFFSET_RESET) == "none"
    )


def offset_reset_is_valid(usage: KafkaUsage) -> None:
    reset = usage.properties.get(OFFSET_RESET)
    if _startup_mode(usage) is StartupMode.GROUP and reset is not None and reset not in RESETS:
        raise usage.error("INVALID_OFFSET_RESET", value=reset, known=", ".join(RESETS))


def commits_need_group(usage: KafkaUsage) -> None:
    for key in ("enable.auto.commit", "commit.offsets.on.checkpoint"):
        if usage.properties.get(key, "").lower() == "true" and not usage.given.has(GROUP_ID):
            raise usage.error("COMMIT_WITHOUT_GROUP", option=f"properties.{key}")


def serializers_handle_bytes(usage: KafkaUsage) -> None:
    for key in SERIALIZERS:
        name = usage.properties.get(key)
        if name is not None and not name.rpartition(".")[2].startswith("ByteArray"):
            raise usage.error("SERIALIZER_NOT_BYTES", option=f"properties.{key}", value=name)


def batch_mode_fits(usage: KafkaUsage) -> None:
    if usage.session.value(RUNTIME_MODE) is not RuntimeMode.BATCH:
        return
    if usage.changelog is not ChangelogMode.INSERT_ONLY:
        raise usage.error("BATCH_NEEDS_INSERT_ONLY", mode=usage.changelog.value)
    if usage.given[BOUNDED_MODE] is BoundedMode.UNBOUNDED:
        raise usage.error("BATCH_NEEDS_BOUNDED")


def cdc_duplicates_need_primary_key(usage: KafkaUsage) -> None:
    cdc = usage.changelog is ChangelogMode.RETRACT
    if cdc and usage.session.value(CDC_DUPLICATES) and not usage.definition.primary_key:
        raise usage.error("CDC_DUPLICATES_NEED_PRIMARY_KEY")


def dead_letters_have_a_topic(usage: KafkaUsage) -> None:
    diverts = usage.given[ON_ERROR] is OnError.DEAD_LETTER
    if diverts != usage.given.has(DEAD_LETTER_TOPIC):
        raise usage.error("DEAD_LETTER_INCOMPLETE")
