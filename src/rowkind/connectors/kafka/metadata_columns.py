"""Metadata columns from messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from rowkind.connectors.kafka.metadata import READABLE
from rowkind.types import arrow_type

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


def headers_array(name: str, found: Sequence[Any]) -> pa.Array:
    """`headers`, where the last of several with one name wins, or `header-list`, from pairs of text and bytes."""
    type = arrow_type(READABLE[name])
    if not any(found):
        return pa.repeat(pa.scalar([], type), len(found))  # topics without headers are the rule
    if name == "headers":
        return pa.array([list(dict(headers or ()).items()) for headers in found], type)
    return pa.array([[{"key": k, "value": v} for k, v in headers or ()] for headers in found], type)


def _headers(messages: Messages, type: pa.DataType) -> pa.Array:
    return headers_array("headers", list(map(Message.headers, messages)))


def _header_list(messages: Messages, type: pa.DataType) -> pa.Array:
    return headers_array("header-list", list(map(Message.headers, messages)))


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
