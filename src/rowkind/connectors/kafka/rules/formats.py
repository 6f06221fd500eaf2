"""Rules about which formats a table may use, and as what."""

from __future__ import annotations

from rowkind.connectors.kafka.table_options import FORMAT, VALUE_FORMAT
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.kinds import ChangelogMode


def format_is_given_once(usage: KafkaUsage) -> None:
    if usage.given.has(FORMAT) and usage.given.has(VALUE_FORMAT):
        raise usage.error("FORMAT_GIVEN_TWICE")


def formats_exist(usage: KafkaUsage) -> None:
    """The key's is looked up first, as in Flink."""
    _ = usage.formats


def key_format_is_insert_only(usage: KafkaUsage) -> None:
    key = usage.key
    if key and not usage.upsert and key.format.changelog is not ChangelogMode.INSERT_ONLY:
        raise usage.error("KEY_FORMAT_NOT_INSERT_ONLY", format=key.format.name, mode=key.format.changelog.value)


def upsert_formats_are_insert_only(usage: KafkaUsage) -> None:
    if not usage.upsert:
        return
    for use, place in zip(usage.formats, ("key", "value"), strict=True):
        if use.format.changelog is not ChangelogMode.INSERT_ONLY:
            raise usage.error("UPSERT_FORMAT_NOT_INSERT_ONLY", format=use.format.name, place=place)


def upsert_has_primary_key(usage: KafkaUsage) -> None:
    if usage.upsert and not usage.definition.primary_key:
        raise usage.error("PRIMARY_KEY_REQUIRED")


def append_has_no_primary_key(usage: KafkaUsage) -> None:
    """A CDC format says which row a message changes, so there a primary key means something."""
    format = usage.value.format
    if not usage.upsert and usage.definition.primary_key and format.changelog is ChangelogMode.INSERT_ONLY:
        raise usage.error("PRIMARY_KEY_NOT_ALLOWED", format=format.name)
