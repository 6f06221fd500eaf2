"""What a Kafka message has beside key and value, and how a table's METADATA columns take part in it."""

from __future__ import annotations

from collections.abc import Mapping

from rowkind.connectors.kafka.option_usage import Usage
from rowkind.connectors.metadata import VALUE_PREFIX, MetadataField
from rowkind.definitions import MetadataColumn
from rowkind.types import BIGINT, BYTES, INT, STRING, DataType, array, map_of, row, timestamp_ltz

READABLE: Mapping[str, DataType] = {
    "topic": STRING.not_null(),
    "partition": INT.not_null(),
    "headers": map_of(STRING.not_null(), BYTES).not_null(),
    "header-list": array(row(("key", STRING.not_null()), ("value", BYTES)).not_null()).not_null(),
    "leader-epoch": INT,
    "offset": BIGINT.not_null(),
    "timestamp": timestamp_ltz(3).not_null(),
    "timestamp-type": STRING.not_null(),
}

WRITABLE: Mapping[str, DataType] = {
    "topic": STRING.not_null(),
    "headers": map_of(STRING, BYTES),
    "header-list": array(row(("key", STRING), ("value", BYTES))),
    "timestamp": timestamp_ltz(3),
}


def readable(usage: Usage) -> dict[str, DataType]:
    """Keys that a METADATA column of this table may read; an upsert table does not show those of its format."""
    found = dict(READABLE)
    if not usage.connector.upsert:
        found.update({VALUE_PREFIX + key: type for key, type in usage.value.format.metadata.items()})
    return found


def writable(usage: Usage) -> dict[str, DataType]:
    """Keys that a METADATA column of this table may write; `topic` only where there is a choice."""
    return {key: type for key, type in WRITABLE.items() if key != "topic" or usage.single_topic is None}


def read_columns(usage: Usage) -> tuple[MetadataColumn, ...]:
    return usage.definition.metadata


def written_columns(usage: Usage) -> tuple[MetadataColumn, ...]:
    return tuple(c for c in usage.definition.metadata if not c.virtual)


def read_fields(usage: Usage) -> tuple[MetadataField, ...]:
    types = readable(usage)
    return tuple(MetadataField(c.name, c.type, c.key, types[c.key]) for c in read_columns(usage))


def written_fields(usage: Usage) -> tuple[MetadataField, ...]:
    types = writable(usage)
    return tuple(MetadataField(c.name, c.type, c.key, types[c.key]) for c in written_columns(usage))
