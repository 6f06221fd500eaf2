"""A table resolved: everything the runtime needs to read or write it, as plain data that can be pickled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rowkind.connectors.contract import Limits, SourceContext, WriteContext
from rowkind.connectors.kafka.dead_letters import KafkaLetters
from rowkind.connectors.kafka.sink import KafkaSink
from rowkind.connectors.kafka.source import KafkaSource
from rowkind.connectors.kafka.table_options import KEY_FIELDS_PREFIX, TOPIC_PATTERN, VALUE_FIELDS_INCLUDE, FieldsInclude
from rowkind.connectors.kafka.table_positions import KafkaPositions
from rowkind.connectors.kafka.table_reader import KafkaReader
from rowkind.connectors.kafka.table_settings import ScanSettings, SinkSettings, scan_settings, sink_settings
from rowkind.connectors.kafka.table_writer import RowWriter, row_writer
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.kafka.usage import FormatUse, KafkaUsage
from rowkind.connectors.kafka.without_effect import without_effect
from rowkind.connectors.metadata import metadata_fields
from rowkind.connectors.settings import OnError
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.options.java_regex import python_pattern
from rowkind.types import Field


class KafkaTable(TopicTable):
    """The way from a table to all that reads and writes it."""

    __slots__ = ()

    def source(self, context: SourceContext) -> KafkaSource:
        reading = self.reading
        limits = Limits(reading.max_rows_per_batch, reading.max_bytes_per_batch, reading.parallelism)
        return KafkaSource(KafkaPositions(self), limits)

    def reader(self) -> KafkaReader:
        return KafkaReader(self)

    def sink(self) -> KafkaSink:
        return KafkaSink(self)

    def writer(self, context: WriteContext) -> RowWriter | None:
        return row_writer(self, context)

    def letters(self) -> KafkaLetters | None:
        return KafkaLetters(self) if self.reading.on_error is OnError.DEAD_LETTER else None


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
