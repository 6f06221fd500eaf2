"""Rules about the columns that make the message's key."""

from __future__ import annotations

from collections import Counter

from rowkind.connectors.kafka.table_options import KEY_FIELDS, KEY_FIELDS_PREFIX, VALUE_FIELDS_INCLUDE, FieldsInclude
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.errors import nearest


def key_fields_need_format(usage: KafkaUsage) -> None:
    if not usage.upsert and usage.given.has(KEY_FIELDS) and not usage.key:
        raise usage.error("KEY_FIELDS_WITHOUT_FORMAT")


def key_format_needs_fields(usage: KafkaUsage) -> None:
    if usage.key and not usage.key_names:
        raise usage.error("KEY_FORMAT_WITHOUT_FIELDS")


def key_fields_are_physical(usage: KafkaUsage) -> None:
    columns = [f.name for f in usage.definition.physical]
    for name in usage.key_names:
        if name not in columns:
            raise usage.error(
                "KEY_FIELD_NOT_PHYSICAL", field=name, columns=", ".join(columns), suggestion=nearest(name, columns)
            )


def key_fields_are_distinct(usage: KafkaUsage) -> None:
    for name, count in Counter(usage.key_names).items():
        if count > 1:
            raise usage.error("KEY_FIELD_TWICE", field=name)


def key_fields_have_prefix(usage: KafkaUsage) -> None:
    prefix = usage.given.get(KEY_FIELDS_PREFIX) or ""
    for name in usage.key_names:
        if not name.startswith(prefix):
            raise usage.error("KEY_FIELD_WITHOUT_PREFIX", field=name, prefix=prefix)


def prefix_needs_except_key(usage: KafkaUsage) -> None:
    if usage.given.get(KEY_FIELDS_PREFIX) and usage.given[VALUE_FIELDS_INCLUDE] is FieldsInclude.ALL:
        raise usage.error("KEY_PREFIX_WITH_ALL", prefix=usage.given[KEY_FIELDS_PREFIX])
