"""The rules of a table in the order they are checked, which is the order in which Flink finds mistakes."""

from __future__ import annotations

from collections.abc import Callable

from rowkind.connectors.kafka.option_usage import Usage
from rowkind.connectors.kafka.rules import formats, keys, metadata, options, scan, sink, topics
from rowkind.connectors.settings import Side

Rule = Callable[[Usage], None]

TOPICS: tuple[Rule, ...] = (topics.topic_or_pattern, topics.topic_is_given, topics.pattern_is_valid)

FORMATS: tuple[Rule, ...] = (
    formats.format_is_given_once,
    formats.formats_exist,
    formats.key_format_is_insert_only,
)

OPTIONS: tuple[Rule, ...] = (options.keys_are_known, options.required_are_given, options.values_are_valid)

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

SCAN: tuple[Rule, ...] = (
    scan.startup_options_are_given,
    scan.bounded_options_are_given,
    scan.specific_offsets_need_one_topic,
    scan.specific_offsets_are_valid,
    scan.offset_reset_is_valid,
    scan.group_offsets_need_group,
    scan.commits_need_group,
    scan.serializers_handle_bytes,
    scan.alignment_is_complete,
    scan.scan_parallelism_is_positive,
    scan.batch_mode_fits,
    scan.cdc_duplicates_need_primary_key,
    scan.dead_letters_have_a_topic,
)

SINK: tuple[Rule, ...] = (
    sink.partitioner_exists,
    sink.round_robin_has_no_key,
    sink.exactly_once_needs_prefix,
    sink.prefix_is_short_enough,
    sink.buffering_is_complete,
    sink.sink_parallelism_is_positive,
    scan.serializers_handle_bytes,
)

READ_METADATA: tuple[Rule, ...] = (metadata.read_keys_exist, metadata.read_types_fit)

WRITTEN_METADATA: tuple[Rule, ...] = (
    metadata.written_keys_are_writable,
    metadata.written_types_fit,
    metadata.headers_are_written_once,
    topics.topic_column_is_declared,
)

SUPPORT: tuple[Rule, ...] = (options.values_are_supported,)

SOURCE_RULES = FORMATS + OPTIONS + TOPICS + SCAN + PRIMARY_KEY + KEYS + READ_METADATA + SUPPORT
"""A source looks at its formats first, so that a missing format is not reported as an unknown option."""

SINK_RULES = TOPICS + FORMATS + OPTIONS + SINK + PRIMARY_KEY + KEYS + WRITTEN_METADATA + SUPPORT
"""A sink looks at its topic first."""


def validate(usage: Usage) -> None:
    """Raise the first rule's condition that the table breaks."""
    for rule in SOURCE_RULES if usage.side is Side.SOURCE else SINK_RULES:
        rule(usage)
