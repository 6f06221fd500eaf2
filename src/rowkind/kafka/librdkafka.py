"""The bulk calls of librdkafka that its Python client leaves out: batches of messages as memory instead of objects.

The client makes, configures and closes the connection; its handle is only borrowed here. Calls that may wait let go of
Python's lock, small ones that are made once a message keep it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Producer, cimpl, version

Words = npt.NDArray[np.int64]
Pointer = ctypes.c_void_p

USABLE = version()[0].startswith("2.") and struct.calcsize("P") == 8 and sys.byteorder == "little"
"""Whether the client is one whose objects begin with librdkafka's handle, and messages are laid out as below."""

MESSAGE_BYTES = 72
ERROR, PARTITION, PAYLOAD, PAYLOAD_LENGTH, KEY, KEY_LENGTH, OFFSET = 0, 2, 3, 4, 5, 6, 7
"""Members of `rd_kafka_message_t`, in words of eight bytes."""

_waiting, _quick = ctypes.CDLL(cimpl.__file__), ctypes.PyDLL(cimpl.__file__)


def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    found = getattr(library, f"rd_kafka_{name}")
    found.restype, found.argtypes = result, arguments
    return found  # type: ignore[no-any-return]


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
last_error = _function(_waiting, "last_error", ctypes.c_int)
message_destroy = _function(_quick, "message_destroy", None, Pointer)
_message_timestamp = _function(_quick, "message_timestamp", ctypes.c_int64, Pointer, Pointer)


def handle(client: Consumer | Producer) -> int:
    """librdkafka's handle: the first member of a client object."""
    found = Pointer.from_address(id(client) + object.__basicsize__).value
    assert found, "a closed client"
    return found


def last_failure() -> KafkaError:
    return KafkaError(last_error())


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
        return self._words[self._places + number]

    @property
    def errors(self) -> Words:
        codes: Words = self.member(ERROR) & 0xFFFFFFFF
        return codes

    def timestamps(self) -> Words:
        """Milliseconds; -1 where there is none."""
        return np.fromiter((_message_timestamp(p, None) for p in self.pointers.tolist()), np.int64, len(self))

    def texts(self, pointer: int, length: int) -> pa.Array:
        """The keys or the payloads, copied."""
        return _copied(self.member(pointer), self.member(length))

    def release(self) -> None:
        deque(map(message_destroy, self.pointers.tolist()), maxlen=0)


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
