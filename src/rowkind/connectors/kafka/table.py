"""A table resolved: everything the runtime needs to read or write it, as plain data that can be pickled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from rowkind.connectors.kafka.connector_options import Side
from rowkind.connectors.kafka.metadata import MetadataField, read_fields, written_fields
from rowkind.connectors.kafka.option_usage import FormatUse, Usage, use
from rowkind.connectors.kafka.source_options import OnDataLoss
from rowkind.connectors.kafka.startup import Bounded, Startup
from rowkind.connectors.kafka.table_options import KEY_FIELDS_PREFIX, TOPIC_PATTERN, VALUE_FIELDS_INCLUDE, FieldsInclude
from rowkind.connectors.kafka.table_settings import ScanSettings, SinkSettings, scan_settings, sink_settings
from rowkind.connectors.kafka.validation import validate
from rowkind.connectors.kafka.without_effect import without_effect
from rowkind.definitions import MetadataColumn, PhysicalColumn, TableDefinition
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.kinds import ChangelogMode
from rowkind.options.java_regex import python_pattern
from rowkind.options.session_values import SessionOptions
from rowkind.types import Field


@dataclass(frozen=True, slots=True)
class KafkaTable:
    """A `kafka` or `upsert-kafka` table on one side of a statement.

    `key_columns` are named as in the table, `key_payload` as inside the key (prefix cut off), in the same order.
    Of a source `metadata` holds every METADATA column, of a sink those that are written.
    """

    definition: TableDefinition
    side: Side
    connector: str
    changelog: ChangelogMode
    """What a read emits, or what a write takes."""
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
    metadata: tuple[MetadataField, ...]
    scan: ScanSettings
    sink: SinkSettings

    def __hash__(self) -> int:
        # Options and properties are mappings: equal tables still have equal hashes without them.
        return hash((self.definition.name, self.side, self.topics))

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def upsert(self) -> bool:
        return self.changelog is ChangelogMode.UPSERT

    @property
    def leaves_deleted_topics(self) -> bool:
        """Topics of a pattern come and go; of a list of topics one that goes is lost data."""
        return self.topic_pattern is not None or self.scan.on_data_loss is OnDataLoss.CONTINUE

    @property
    def primary_key(self) -> tuple[str, ...]:
        return self.definition.primary_key

    @property
    def physical(self) -> tuple[Field, ...]:
        return self.definition.physical

    @property
    def startup(self) -> Startup:
        return self.scan.startup

    @property
    def bounded(self) -> Bounded:
        return self.scan.bounded

    @property
    def discovery_interval(self) -> timedelta | None:
        return self.scan.discovery_interval

    @property
    def group_id(self) -> str | None:
        return self.properties.get("group.id")

    @property
    def stored_columns(self) -> tuple[Field, ...]:
        """Physical and metadata columns in table order: what is read, or what an INSERT provides."""
        used = {m.name for m in self.metadata}
        key = self.definition.primary_key
        return tuple(
            Field(c.name, c.type.not_null() if c.name in key else c.type)
            for c in self.definition.columns
            if isinstance(c, PhysicalColumn) or (isinstance(c, MetadataColumn) and c.name in used)
        )


def resolve(definition: TableDefinition, session: SessionOptions, side: Side) -> tuple[KafkaTable, list[str]]:
    """Check a table's options for the side it is used on, and read them all; the strings are warnings for the user."""
    usage, warnings = use(definition, session, side)
    validate(usage)
    scan, scan_warnings = scan_settings(usage) if usage.reads else (ScanSettings(), [])
    sink, sink_warnings = (SinkSettings(), []) if usage.reads else sink_settings(usage)
    table = _table(usage, scan, sink)
    for choice, columns in ((table.key_format, table.key_payload), (table.value_format, table.value_columns)):
        if choice:
            format_named(choice.name).validate(columns, choice)
    return table, warnings + scan_warnings + sink_warnings + without_effect(usage)


def _table(usage: Usage, scan: ScanSettings, sink: SinkSettings) -> KafkaTable:
    pattern, key, key_columns = usage.given.get(TOPIC_PATTERN), usage.key, _key_columns(usage)
    return KafkaTable(
        definition=usage.definition,
        side=usage.side,
        connector=usage.connector.name,
        changelog=usage.changelog,
        topics=usage.topics,
        topic_pattern=None if pattern is None else python_pattern(pattern),
        properties=usage.properties,
        key_format=_choice(usage, key) if key else None,
        value_format=_choice(usage, usage.value),
        key_columns=key_columns,
        key_payload=_key_payload(usage, key_columns),
        value_columns=_value_columns(usage),
        metadata=read_fields(usage) if usage.reads else written_fields(usage),
        scan=scan,
        sink=sink,
    )


def _choice(usage: Usage, use: FormatUse) -> FormatChoice:
    given = usage.given
    options: dict[str, Any] = {
        bare.name: given.under(option) if option.prefix else given.get(option)
        for bare, option in zip(use.format.options, use.options, strict=True)
    }
    context = FormatContext(
        usage.definition.name, key=use.prefix.startswith("key."), topic=usage.single_topic, sink=not usage.reads
    )
    return FormatChoice(use.format.name, options, context)


def _key_columns(usage: Usage) -> tuple[Field, ...]:
    """In the order of `key.fields`, or of the PRIMARY KEY constraint."""
    columns = {f.name: f for f in usage.definition.physical}
    return tuple(columns[name] for name in usage.key_names)


def _key_payload(usage: Usage, columns: tuple[Field, ...]) -> tuple[Field, ...]:
    prefix = usage.given.get(KEY_FIELDS_PREFIX) or ""
    return tuple(replace(c, name=c.name.removeprefix(prefix)) for c in columns)


def _value_columns(usage: Usage) -> tuple[Field, ...]:
    """In table order. Key columns are part of the value unless the table says EXCEPT_KEY."""
    if usage.given[VALUE_FIELDS_INCLUDE] is FieldsInclude.ALL:
        return usage.definition.physical
    return tuple(f for f in usage.definition.physical if f.name not in usage.key_names)
