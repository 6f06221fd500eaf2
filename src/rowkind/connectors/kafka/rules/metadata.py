"""Rules about METADATA columns."""

from __future__ import annotations

from rowkind.connectors.kafka.usage import KafkaUsage
from rowkind.connectors.metadata import written_columns


def headers_are_written_once(usage: KafkaUsage) -> None:
    keys = {c.key for c in written_columns(usage)}
    if {"headers", "header-list"} <= keys:
        raise usage.error("HEADERS_WRITTEN_TWICE")
