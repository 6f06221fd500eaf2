"""The metadata of a Kafka message as table columns: their types, and how they are taken from messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from rowkind.catalog.types import BIGINT, BYTES, INT, STRING, DataType, array, arrow_type, map_of, row, timestamp_ltz

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

Messages = Sequence[Message]


def metadata_array(name: str, messages: Messages) -> pa.Array:
    """One metadata column of some messages of one partition."""
    return _ARRAYS[name](messages, arrow_type(READABLE[name]))


def _topic(messages: Messages, type: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(messages[0].topic(), type), len(messages))


def _partition(messages: Messages, type: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(messages[0].partition(), type), len(messages))


def _offset(messages: Messages, type: pa.DataType) -> pa.Array:
    return pa.array(np.fromiter(map(Message.offset, messages), np.int64, len(messages)), type)


def _leader_epoch(messages: Messages, type: pa.DataType) -> pa.Array:
    return pa.array(list(map(Message.leader_epoch, messages)), type)


def _timestamp(messages: Messages, type: pa.DataType) -> pa.Array:
    millis = np.fromiter((m.timestamp()[1] for m in messages), np.int64, len(messages))
    return pa.array(millis * 1000, pa.int64()).cast(type)


_TIMESTAMP_TYPES = {
    TIMESTAMP_NOT_AVAILABLE: "NoTimestampType",
    TIMESTAMP_CREATE_TIME: "CreateTime",
    TIMESTAMP_LOG_APPEND_TIME: "LogAppendTime",
}


def _timestamp_type(messages: Messages, type: pa.DataType) -> pa.Array:
    return pa.array([_TIMESTAMP_TYPES[m.timestamp()[0]] for m in messages], type)


def _headers(messages: Messages, type: pa.DataType) -> pa.Array:
    """The last of several headers with one name wins."""
    return pa.array([list(dict(headers).items()) for headers in _header_lists(messages)], type)


def _header_list(messages: Messages, type: pa.DataType) -> pa.Array:
    return pa.array([[{"key": k, "value": v} for k, v in headers] for headers in _header_lists(messages)], type)


def _header_lists(messages: Messages) -> list[list[tuple[str, bytes | None]]]:
    empty: list[tuple[str, bytes | None]] = []
    return [headers or empty for headers in map(Message.headers, messages)]  # type: ignore[misc]


_ARRAYS: dict[str, Callable[[Messages, pa.DataType], Any]] = {
    "topic": _topic,
    "partition": _partition,
    "headers": _headers,
    "header-list": _header_list,
    "leader-epoch": _leader_epoch,
    "offset": _offset,
    "timestamp": _timestamp,
    "timestamp-type": _timestamp_type,
}
