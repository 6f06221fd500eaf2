"""The bulk calls of librdkafka that its Python client leaves out: batches of messages as memory instead of objects.

Calls that may wait let go of Python's lock, small ones that are made once a message keep it.

The calls and the layout of messages are librdkafka's public interface, but where a client object has its handle is not.
So they are used in versions that were tested, with all symbols present, and unless `ROWKIND_KAFKA_BULK` says otherwise;
everywhere else messages go one by one through the Python client, which gives the same results.
"""

from __future__ import annotations

import ctypes
import logging
import os
import struct
import sys
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Producer, __version__, cimpl, libversion

Words = npt.NDArray[np.int64]
Pointer = ctypes.c_void_p
Headers = list[tuple[bytes, bytes | None]]

TESTED = ("2.16.",)
"""Versions of the Python client, which carries its librdkafka, that the tests were run with."""
SWITCH = "ROWKIND_KAFKA_BULK"
"""Environment variable: `off` has all messages go through the Python client, `on` trusts a version not tested, too."""

MESSAGE_BYTES = 72
ERROR, TOPIC, PARTITION, PAYLOAD, PAYLOAD_LENGTH, KEY, KEY_LENGTH, OFFSET = range(8)
"""Members of `rd_kafka_message_t`, in words of eight bytes."""
ANY_PARTITION, COPY, BY_PARTITION = -1, 0x2, 0x8
"""Of `produce_batch`."""
_CONSUMER, _OFFSET_OF_PLACE = 1, 16
DELIVERY, LOG, ERROR_EVENT = 0x1, 0x4, 0x8
"""Types of events."""

_LOG = logging.getLogger("rowkind.kafka")
_missing: list[str] = []
"""What the library does not have, or why there is none."""


def _library(kind: type[ctypes.CDLL]) -> ctypes.CDLL | None:
    try:
        return kind(cimpl.__file__)
    except OSError as error:  # a client that is linked otherwise
        _missing.append(str(error))
        return None


_waiting, _quick = _library(ctypes.CDLL), _library(ctypes.PyDLL)


def _function(library: ctypes.CDLL | None, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    found = getattr(library, f"rd_kafka_{name}", None)
    if found is None:
        _missing.append(f"rd_kafka_{name}")
        return _unbound
    found.restype, found.argtypes = result, arguments
    return found  # type: ignore[no-any-return]


def _unbound(*arguments: Any) -> Any:
    raise AssertionError("a call of librdkafka that was not found: ask `usable` first")


_version = _function(_quick, "version", ctypes.c_int)
_conf_new = _function(_waiting, "conf_new", Pointer)
_conf_set = _function(
    _waiting, "conf_set", ctypes.c_int, Pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t
)
_conf_destroy = _function(_waiting, "conf_destroy", None, Pointer)
_new = _function(_waiting, "new", Pointer, ctypes.c_int, Pointer, ctypes.c_char_p, ctypes.c_size_t)
_set_log_queue = _function(_waiting, "set_log_queue", ctypes.c_int, Pointer, Pointer)
destroy = _function(_waiting, "destroy", None, Pointer)
_partitions_new = _function(_waiting, "topic_partition_list_new", Pointer, ctypes.c_int)
_partitions_add = _function(_waiting, "topic_partition_list_add", Pointer, Pointer, ctypes.c_char_p, ctypes.c_int32)
_partitions_destroy = _function(_waiting, "topic_partition_list_destroy", None, Pointer)
_position = _function(_waiting, "position", ctypes.c_int, Pointer, Pointer)
_watermarks = _function(
    _waiting, "query_watermark_offsets", ctypes.c_int, Pointer, ctypes.c_char_p, ctypes.c_int32,
    Pointer, Pointer, ctypes.c_int,
)  # fmt: skip
topic_new = _function(_waiting, "topic_new", Pointer, Pointer, ctypes.c_char_p, Pointer)
topic_destroy = _function(_waiting, "topic_destroy", None, Pointer)
queue_new = _function(_waiting, "queue_new", Pointer, Pointer)
queue_destroy = _function(_waiting, "queue_destroy", None, Pointer)
consume_start = _function(
    _waiting, "consume_start_queue", ctypes.c_int, Pointer, ctypes.c_int32, ctypes.c_int64, Pointer
)
consume_stop = _function(_waiting, "consume_stop", ctypes.c_int, Pointer, ctypes.c_int32)
consume_batch = _function(
    _waiting, "consume_batch_queue", ctypes.c_ssize_t, Pointer, ctypes.c_int, Pointer, ctypes.c_size_t
)
produce_batch = _function(
    _waiting, "produce_batch", ctypes.c_int, Pointer, ctypes.c_int32, ctypes.c_int, Pointer, ctypes.c_int
)
queue_get_main = _function(_waiting, "queue_get_main", Pointer, Pointer)
queue_poll = _function(_waiting, "queue_poll", Pointer, Pointer, ctypes.c_int)
event_type = _function(_quick, "event_type", ctypes.c_int, Pointer)
event_error = _function(_quick, "event_error", ctypes.c_int, Pointer)
event_error_string = _function(_quick, "event_error_string", ctypes.c_char_p, Pointer)
event_message_count = _function(_quick, "event_message_count", ctypes.c_size_t, Pointer)
event_message_array = _function(_quick, "event_message_array", ctypes.c_size_t, Pointer, Pointer, ctypes.c_size_t)
event_destroy = _function(_waiting, "event_destroy", None, Pointer)
_event_log = _function(_quick, "event_log", ctypes.c_int, Pointer, Pointer, Pointer, Pointer)
topic_name = _function(_quick, "topic_name", ctypes.c_char_p, Pointer)
last_error = _function(_waiting, "last_error", ctypes.c_int)
message_destroy = _function(_quick, "message_destroy", None, Pointer)
_message_timestamp = _function(_quick, "message_timestamp", ctypes.c_int64, Pointer, Pointer)
_message_headers = _function(_quick, "message_headers", ctypes.c_int, Pointer, Pointer)
_header_get_all = _function(
    _quick, "header_get_all", ctypes.c_int, Pointer, ctypes.c_size_t, Pointer, Pointer, Pointer
)  # fmt: skip


def usable() -> bool:
    """Whether messages are taken and handed over in bulk."""
    switch = os.environ.get(SWITCH, "").lower()
    return switch != "off" and _obstacle(trusted=switch == "on") is None


@cache
def _obstacle(trusted: bool) -> str | None:
    """What speaks against it in this process, logged once."""
    reason = None
    if _missing:
        reason = f"it lacks {', '.join(_missing)}"
    elif struct.calcsize("P") != 8 or sys.byteorder != "little":
        reason = "messages are laid out in another way on this machine"
    elif _version() != libversion()[1]:
        reason = "another librdkafka answers"
    elif not trusted and not str(__version__).startswith(TESTED):
        reason = f"version {__version__} was not tested; {SWITCH}=on tries it"
    if reason is not None:
        _LOG.warning("Messages go one by one through confluent-kafka, at twice the CPU time: %s", reason)
    return reason


class Refused(Exception):
    """librdkafka's reason for not making a client."""


def new_consumer(settings: Mapping[str, Any]) -> int:
    """The handle of a consumer without callbacks: all that it has to tell is in its main queue."""
    conf, reason = _conf_new(), ctypes.create_string_buffer(512)
    for name, value in {**settings, "log.queue": True}.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if _conf_set(conf, name.encode(), text.encode(), reason, len(reason)) != 0:
            _conf_destroy(conf)
            raise Refused(reason.value.decode())
    made: int | None = _new(_CONSUMER, conf, reason, len(reason))
    if not made:
        _conf_destroy(conf)
        raise Refused(reason.value.decode())
    _set_log_queue(made, None)
    return made


def position(client: int, topic: str, partition: int) -> int:
    """Where a consumer is; negative before its first message."""
    wanted = _partitions_new(1)
    try:
        place = _partitions_add(wanted, topic.encode(), partition)
        _position(client, wanted)
        return ctypes.c_int64.from_address(place + _OFFSET_OF_PLACE).value
    finally:
        _partitions_destroy(wanted)


def watermarks(client: int, topic: str, partition: int, seconds: float) -> tuple[int, int]:
    low, high = ctypes.c_int64(), ctypes.c_int64()
    bounds = (ctypes.byref(low), ctypes.byref(high))
    code = _watermarks(client, topic.encode(), partition, *bounds, int(seconds * 1000))
    if code:
        raise KafkaException(KafkaError(code))
    return low.value, high.value


def handle(client: Producer) -> int:
    """librdkafka's handle, borrowed: it is the first member of a client object."""
    found = Pointer.from_address(id(client) + object.__basicsize__).value
    assert found, "a closed client"
    return found


def last_failure() -> KafkaError:
    return KafkaError(last_error())


def log_line(event: int) -> str:
    facility, text, level = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_int()
    _event_log(event, *(ctypes.byref(v) for v in (facility, text, level)))
    return f"{(facility.value or b'').decode()}: {(text.value or b'').decode()}"


def let_go(owner: object, release: Callable[..., None], *borrowed: Any) -> weakref.finalize[..., object]:
    """Have what was borrowed from a client given back before the client goes: when asked, when the owner is forgotten
    or at the end of the process. Never in a forked child, where librdkafka has no threads to answer.
    """
    return weakref.finalize(owner, _release_in, os.getpid(), release, *borrowed)


def _release_in(process: int, release: Callable[..., None], *borrowed: Any) -> None:
    if os.getpid() == process:
        release(*borrowed)


class Messages:
    """Messages that librdkafka has handed out, as members gathered into arrays; `release` gives them back."""

    def __init__(self, pointers: npt.NDArray[np.int64]) -> None:
        self.pointers = pointers
        base = int(pointers.min())
        memory = pa.foreign_buffer(base, int(pointers.max()) - base + MESSAGE_BYTES)
        self._words: Words = np.frombuffer(memory, np.int64)
        self._places = (pointers - base) >> 3

    def __len__(self) -> int:
        return len(self.pointers)

    def member(self, number: int) -> Words:
        found: Words = self._words[self._places + number]
        return found

    @property
    def errors(self) -> npt.NDArray[np.int32]:
        """Codes, which fill half of their word."""
        return self.member(ERROR).astype(np.int32)

    def timestamps(self) -> Words:
        """Milliseconds; -1 where there is none."""
        return np.fromiter((_message_timestamp(p, None) for p in self.pointers.tolist()), np.int64, len(self))

    def headers(self) -> list[Headers]:
        """In their order. Names are bytes: a producer may write what is not text, and the Python client fails on it."""
        return [_headers_of(pointer) for pointer in self.pointers.tolist()]

    def texts(self, pointer: int, length: int) -> pa.Array:
        """The keys or the payloads, copied."""
        return _copied(self.member(pointer), self.member(length))

    def release(self) -> None:
        deque(map(message_destroy, self.pointers.tolist()), maxlen=0)


def _headers_of(message: int) -> Headers:
    headers = Pointer()
    found: Headers = []
    if _message_headers(message, ctypes.byref(headers)) != 0:
        return []
    name, value, size = ctypes.c_char_p(), Pointer(), ctypes.c_size_t()
    parts = ctypes.byref(name), ctypes.byref(value), ctypes.byref(size)
    while _header_get_all(headers, len(found), *parts) == 0:
        found.append((name.value or b"", ctypes.string_at(value.value, size.value) if value.value else None))
    return found


def _copied(starts: Words, lengths: Words) -> pa.Array:
    """Pieces of memory as a binary array. A fetch lies in memory in order, so most of them are one ascending run."""
    absent = starts == 0
    if absent.all():
        return pa.nulls(len(starts), pa.binary())
    if absent.any():
        starts = _filled(starts, lengths, absent)
    cuts = np.flatnonzero(starts[1:] < starts[:-1] + lengths[:-1]) + 1
    bounds = [0, *cuts.tolist(), len(starts)]
    runs = [_run(starts[a:b], lengths[a:b]) for a, b in pairwise(bounds)]
    texts = pa.concat_arrays(runs).cast(pa.binary())
    if not absent.any():
        return texts
    _, offsets, data = texts.buffers()
    return pa.BinaryArray.from_buffers(pa.binary(), len(texts), [_validity(~absent), offsets, data])


def _filled(starts: Words, lengths: Words, absent: npt.NDArray[np.bool_]) -> Words:
    """Each absent piece, which is empty, at the end of the piece before it."""
    last = np.maximum.accumulate(np.where(absent, -1, np.arange(len(starts))))
    first = int(np.flatnonzero(~absent)[0])
    ends = np.where(last < 0, starts[first], starts[last] + lengths[last])
    return np.where(absent, ends, starts)


def _run(starts: Words, lengths: Words) -> pa.Array:
    """Pieces that follow each other: every other slot of an array whose slots between them are what is left out."""
    base = int(starts[0])
    slots = np.empty(2 * len(starts), np.int64)
    slots[0::2] = starts - base
    slots[1::2] = slots[0::2] + lengths
    memory = pa.foreign_buffer(base, max(1, int(slots[-1])))
    both = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(slots) - 1, [None, pa.py_buffer(slots), memory])
    return both.take(pa.array(np.arange(0, len(slots) - 1, 2)))


def _validity(present: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(present, bitorder="little"))
