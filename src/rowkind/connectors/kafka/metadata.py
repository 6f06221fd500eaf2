"""What a Kafka message has beside key and value: what METADATA columns may name."""

from __future__ import annotations

from rowkind.types import BIGINT, BYTES, INT, STRING, DataType, array, map_of, row, timestamp_ltz

READABLE: dict[str, DataType] = {
    "topic": STRING.not_null(),
    "partition": INT.not_null(),
    "headers": map_of(STRING.not_null(), BYTES).not_null(),
    "header-list": array(row(("key", STRING.not_null()), ("value", BYTES)).not_null()).not_null(),
    "leader-epoch": INT,
    "offset": BIGINT.not_null(),
    "timestamp": timestamp_ltz(3).not_null(),
    "timestamp-type": STRING.not_null(),
}

WRITABLE: dict[str, DataType] = {
    "topic": STRING.not_null(),
    "headers": map_of(STRING, BYTES),
    "header-list": array(row(("key", STRING), ("value", BYTES))),
    "timestamp": timestamp_ltz(3),
}
