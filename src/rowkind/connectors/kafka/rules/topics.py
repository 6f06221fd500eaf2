"""Rules about the topics of a table."""

from __future__ import annotations

from rowkind.connectors.kafka.table_options import TOPIC, TOPIC_PATTERN
from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.options.java_regex import python_pattern


def topic_is_given(usage: KafkaUsage) -> None:
    if not usage.topics and not usage.given.has(TOPIC_PATTERN):
        raise usage.error("TOPIC_MISSING")


def topic_or_pattern(usage: KafkaUsage) -> None:
    if usage.given.has(TOPIC) and usage.given.has(TOPIC_PATTERN):
        raise usage.error("TOPIC_AND_PATTERN")


def pattern_is_valid(usage: KafkaUsage) -> None:
    pattern = usage.given.get(TOPIC_PATTERN)
    if pattern is None:
        return
    try:
        python_pattern(pattern)
    except ValueError as error:
        raise usage.error("INVALID_TOPIC_PATTERN", pattern=pattern, reason=str(error)) from None


def topic_column_is_declared(usage: KafkaUsage) -> None:
    """Flink finds out at the first row; here a sink with several topics says at once that rows must name theirs."""
    if usage.reads or usage.single_topic:
        return
    if not any(c.key == "topic" and not c.virtual for c in usage.definition.metadata):
        raise usage.error("TOPIC_COLUMN_MISSING")
