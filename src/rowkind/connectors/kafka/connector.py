"""The two connectors on topics: their options, and their rules in the order in which Flink finds mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rowkind.connectors.connector import Connector
from rowkind.connectors.contract import Table
from rowkind.connectors.kafka.client_keys import declared
from rowkind.connectors.kafka.metadata import READABLE, WRITABLE
from rowkind.connectors.kafka.properties import check
from rowkind.connectors.kafka.rules import formats, keys, metadata, scan, sink, topics
from rowkind.connectors.kafka.sink_options import APPEND_SINK, UPSERT_SINK
from rowkind.connectors.kafka.source_options import SCAN, STARTUP
from rowkind.connectors.kafka.table import kafka_table
from rowkind.connectors.kafka.table_options import KEY_FIELDS, KEY_FORMAT, SHARED
from rowkind.connectors.kafka.usage import UPSERT_KAFKA, KafkaUsage
from rowkind.connectors.settings import Side
from rowkind.connectors.usage import Options, Usage

Rule = Callable[[KafkaUsage], None]

TOPICS: tuple[Rule, ...] = (topics.topic_or_pattern, topics.topic_is_given, topics.pattern_is_valid)

FORMATS: tuple[Rule, ...] = (
    formats.format_is_given_once,
    formats.formats_exist,
    formats.key_format_is_insert_only,
)

PRIMARY_KEY: tuple[Rule, ...] = (
    formats.upsert_has_primary_key,
    formats.append_has_no_primary_key,
    formats.upsert_formats_are_insert_only,
)

KEYS: tuple[Rule, ...] = (
    keys.key_fields_need_format,
    keys.key_format_needs_fields,
    keys.key_fields_are_physical,
    keys.key_fields_are_distinct,
    keys.key_fields_have_prefix,
    keys.prefix_needs_except_key,
)

READING: tuple[Rule, ...] = (
    scan.startup_options_are_given,
    scan.bounded_options_are_given,
    scan.specific_offsets_need_one_topic,
    scan.specific_offsets_are_valid,
    scan.offset_reset_is_valid,
    scan.group_offsets_need_group,
    scan.commits_need_group,
    scan.serializers_handle_bytes,
    scan.batch_mode_fits,
    scan.cdc_duplicates_need_primary_key,
    scan.dead_letters_have_a_topic,
)

WRITING: tuple[Rule, ...] = (
    sink.partitioner_exists,
    sink.round_robin_has_no_key,
    sink.exactly_once_needs_prefix,
    sink.prefix_is_short_enough,
    scan.serializers_handle_bytes,
)

WRITTEN_METADATA: tuple[Rule, ...] = (metadata.headers_are_written_once, topics.topic_column_is_declared)


class KafkaConnector(Connector[KafkaUsage]):
    """`kafka`: every message is a row, or what a CDC format makes of it."""

    name = "kafka"
    options = Options(table=(*SHARED, KEY_FIELDS), reading=STARTUP + SCAN, writing=APPEND_SINK)
    readable = READABLE
    writable = WRITABLE
    metadata_about = "A table with one topic does not write `topic`. `value.<key>` reads what the value's format tells."

    def declared(self, key: str) -> str:
        return declared(key)

    def usage(self, usage: Usage) -> KafkaUsage:
        return KafkaUsage(**usage.parts)

    def first_rules(self, side: Side) -> Sequence[Rule]:
        """A source looks at its formats before its options, so that a missing format is not reported as an unknown
        option; a sink looks at its topic first.
        """
        return FORMATS if side is Side.SOURCE else TOPICS + FORMATS

    def rules(self, side: Side) -> Sequence[Rule]:
        if side is Side.SOURCE:
            return TOPICS + READING + PRIMARY_KEY + KEYS
        return WRITING + PRIMARY_KEY + KEYS + WRITTEN_METADATA

    def table(self, usage: KafkaUsage) -> tuple[Table, list[str]]:
        table, warnings = kafka_table(usage)
        return table, warnings + check(table.properties)


class UpsertKafkaConnector(KafkaConnector):
    """`upsert-kafka`: a message replaces the row of its key, one without value deletes it."""

    name = UPSERT_KAFKA
    options = Options(
        table=tuple(replace(o, required="yes", unset="") if o is KEY_FORMAT else o for o in SHARED),
        reading=SCAN,
        writing=UPSERT_SINK,
    )
    metadata_about = "A table with one topic does not write `topic`."
