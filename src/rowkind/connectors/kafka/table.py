"""A table resolved: everything the runtime needs to read or write it, as plain data that can be pickled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rowkind.connectors.contract import Table
from rowkind.connectors.kafka.key_bytes import key_bytes
from rowkind.connectors.kafka.source_options import OnDataLoss
from rowkind.connectors.kafka.table_options import KEY_FIELDS_PREFIX, TOPIC_PATTERN, VALUE_FIELDS_INCLUDE, FieldsInclude
from rowkind.connectors.kafka.table_settings import ScanSettings, SinkSettings, scan_settings, sink_settings
from rowkind.connectors.kafka.usage import FormatUse, KafkaUsage
from rowkind.connectors.kafka.without_effect import without_effect
from rowkind.connectors.metadata import metadata_fields
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.options.java_regex import python_pattern
from rowkind.types import Field


@dataclass(frozen=True, slots=True)
class KafkaTable(Table):
    """A `kafka` or `upsert-kafka` table on one side of a statement.

    `key_columns` are named as in the table, `key_payload` as inside the key (prefix cut off), in the same order.
    """

    reading: ScanSettings
    writing: SinkSettings
    topics: tuple[str, ...]
    topic_pattern: re.Pattern[str] | None
    """For `fullmatch` on topic names; None when `topics` names them."""
    properties: Mapping[str, str] = field(repr=False)
    """Java client properties without the prefix `properties.`."""
    key_format: FormatChoice | None
    value_format: FormatChoice
    key_columns: tuple[Field, ...]
    key_payload: tuple[Field, ...]
    value_columns: tuple[Field, ...]

    def __hash__(self) -> int:
        # Options and properties are mappings: equal tables still have equal hashes without them.
        return hash((self.definition.name, self.side, self.topics))

    @property
    def leaves_deleted_topics(self) -> bool:
        """Topics of a pattern come and go; of a list of topics one that goes is lost data."""
        return self.topic_pattern is not None or self.reading.on_data_loss is OnDataLoss.CONTINUE

    @property
    def bounded(self) -> bool:
        return self.reading.bounded.ends

    @property
    def place(self) -> str:
        return ";".join(self.topics) or str(self.topic_pattern and self.topic_pattern.pattern)

    @property
    def parts(self) -> tuple[str, ...]:
        return self.topics

    @property
    def shown_topics(self) -> str:
        """The topics; a pattern between slashes."""
        return self.place if self.topics else f"/{self.place}/"

    @property
    def details(self) -> tuple[str, ...]:
        return (f"topic {self.shown_topics}", self.value_format.name)

    @property
    def takes_new_rows_only(self) -> str:
        return (
            f"A '{self.connector}' table with format '{self.value_format.name}' only takes new rows. Write into an "
            "'upsert-kafka' table with a PRIMARY KEY, or use a CDC format such as 'debezium-json' in the 'kafka' table."
        )

    @property
    def order_key(self) -> tuple[str, ...]:
        return self.primary_key or tuple(c.name for c in self.key_columns)

    def column_place(self, column: str) -> str:
        key = {c.name: f"key {place}" for place, c in enumerate(self.key_columns)}
        return (key | {m.name: f"metadata {m.key}" for m in self.metadata}).get(column, "value")

    def identity(self) -> dict[str, Any]:
        """Options of formats may hold credentials; those that decide a key's bytes are in `lasting_key`.

        Where columns are in a message is told of each column. Reading and writing settings say where to start and how
        fast: the checkpoint's positions count.
        """
        return {
            "": "KafkaTable",
            "name": self.name,
            "connector": self.connector,
            "topics": list(self.topics),
            "topic_pattern": self.topic_pattern.pattern if self.topic_pattern else None,
            "key_format": self.key_format.name if self.key_format else None,
            "value_format": self.value_format.name,
        }

    @property
    def lasting_key(self) -> tuple[str, str] | None:
        if not self.upsert or self.key_format is None:
            return None
        return f"{self.side.value} topic {self.shown_topics}", key_bytes(self.key_format, self.key_payload)

    @property
    def group_id(self) -> str | None:
        return self.properties.get("group.id")


def of_kafka(tables: Iterable[Table]) -> list[KafkaTable]:
    """Those that are Kafka's."""
    return [table for table in tables if isinstance(table, KafkaTable)]


def kafka_table(usage: KafkaUsage) -> tuple[KafkaTable, list[str]]:
    """The table of a usage whose options were checked, with warnings for the user."""
    scan, scan_warnings = scan_settings(usage) if usage.reads else (ScanSettings(), [])
    sink, sink_warnings = (SinkSettings(), []) if usage.reads else sink_settings(usage)
    table = _table(usage, scan, sink)
    for choice, columns in ((table.key_format, table.key_payload), (table.value_format, table.value_columns)):
        if choice:
            format_named(choice.name).validate(columns, choice)
    return table, scan_warnings + sink_warnings + without_effect(usage)


def _table(usage: KafkaUsage, scan: ScanSettings, sink: SinkSettings) -> KafkaTable:
    pattern, key, key_columns = usage.given.get(TOPIC_PATTERN), usage.key, _key_columns(usage)
    return KafkaTable(
        definition=usage.definition,
        side=usage.side,
        connector=usage.connector,
        changelog=usage.changelog,
        topics=usage.topics,
        topic_pattern=None if pattern is None else python_pattern(pattern),
        properties=usage.properties,
        key_format=_choice(usage, key) if key else None,
        value_format=_choice(usage, usage.value),
        key_columns=key_columns,
        key_payload=_key_payload(usage, key_columns),
        value_columns=_value_columns(usage),
        metadata=metadata_fields(usage),
        reading=scan,
        writing=sink,
    )


def _choice(usage: KafkaUsage, use: FormatUse) -> FormatChoice:
    given = usage.given
    options: dict[str, Any] = {
        bare.name: given.under(option) if option.prefix else given.get(option)
        for bare, option in zip(use.format.options, use.options, strict=True)
    }
    context = FormatContext(
        usage.definition.name, key=use.prefix.startswith("key."), topic=usage.single_topic, sink=not usage.reads
    )
    return FormatChoice(use.format.name, options, context)


def _key_columns(usage: KafkaUsage) -> tuple[Field, ...]:
    """In the order of `key.fields`, or of the PRIMARY KEY constraint."""
    columns = {f.name: f for f in usage.definition.physical}
    return tuple(columns[name] for name in usage.key_names)


def _key_payload(usage: KafkaUsage, columns: tuple[Field, ...]) -> tuple[Field, ...]:
    prefix = usage.given.get(KEY_FIELDS_PREFIX) or ""
    return tuple(replace(c, name=c.name.removeprefix(prefix)) for c in columns)


def _value_columns(usage: KafkaUsage) -> tuple[Field, ...]:
    """In table order. Key columns are part of the value unless the table says EXCEPT_KEY."""
    if usage.given[VALUE_FIELDS_INCLUDE] is FieldsInclude.ALL:
        return usage.definition.physical
    return tuple(f for f in usage.definition.physical if f.name not in usage.key_names)
