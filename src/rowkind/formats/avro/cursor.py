"""Many Avro datums read in step: one position per message, all moved on by the same field at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.formats.spans import Bools, Bytes, Ints, spans

PAD = 16
"""Spare bytes before and after the data, so that a whole word may be read at any place."""
SLOW = "left to the exact path"
_STOPS = np.uint64(0x8080808080808080)


class Block:
    """The bytes of a batch of messages, readable as bytes and as words at any offset."""

    def __init__(self, payloads: pa.BinaryArray, skip: int = 0) -> None:
        data, at = spans(payloads)
        self.bytes: Bytes = np.zeros(at[-1] - at[0] + 2 * PAD, np.uint8)
        self.bytes[PAD : len(self.bytes) - PAD] = data[at[0] : at[-1]]
        self.words = np.ndarray((len(self.bytes) - 7,), "<u8", self.bytes, strides=(1,))
        self.starts: Ints = at[:-1] - at[0] + PAD + skip
        self.ends: Ints = at[1:] - at[0] + PAD
        self.reasons = [""]

    def cursor(self, first: int, last: int) -> Cursor:
        """A cursor over the messages first to last - 1."""
        cursor = Cursor(self, self.starts[first:last].copy(), self.ends[first:last], np.zeros(last - first, np.int16))
        cursor.advance(0)
        return cursor


class Cursor:
    """Positions of messages in a block. A message that fails stops at its end, and reads as zeros from there."""

    __slots__ = ("block", "ends", "faults", "pos")

    def __init__(self, block: Block, pos: Ints, ends: Ints, faults: np.ndarray[Any, Any]) -> None:
        self.block, self.pos, self.ends, self.faults = block, pos, ends, faults

    def __len__(self) -> int:
        return len(self.pos)

    def fail(self, where: Bools, reason: str) -> None:
        """Stop the marked messages, unless they have failed before."""
        fresh = where & (self.faults == 0)
        if not fresh.any():
            return
        if reason not in self.block.reasons:
            self.block.reasons.append(reason)
        self.faults[fresh] = self.block.reasons.index(reason)
        self.pos[fresh] = self.ends[fresh]

    @property
    def alive(self) -> Bools:
        return np.asarray(self.faults == 0)

    def part(self, rows: Ints) -> Cursor:
        """A cursor over some of the messages; `join` moves these on by what it read."""
        return Cursor(self.block, self.pos[rows], self.ends[rows], self.faults[rows])

    def join(self, rows: Ints, part: Cursor) -> None:
        self.pos[rows] = part.pos
        self.faults[rows] = part.faults

    def advance(self, size: Ints | int) -> Ints:
        """Move on by a size in bytes; the positions before."""
        before = self.pos
        self.pos = before + size
        past = self.pos > self.ends
        if past.any():
            self.fail(past, "the message ends in the middle of a value")
            self.pos[past] = self.ends[past]
        return before

    def int64(self) -> Ints:
        raw, _ = self._varint()
        return (raw >> np.uint64(1)).astype(np.int64) ^ -(raw & np.uint64(1)).astype(np.int64)

    def int32(self) -> Ints:
        """A 32-bit number: at most five bytes, of which Java keeps the low 32 bits."""
        raw, size = self._varint()
        self.fail(size > 5, "a number has more than 32 bits")
        raw &= np.uint64(0xFFFFFFFF)
        return (raw >> np.uint64(1)).astype(np.int64) ^ -(raw & np.uint64(1)).astype(np.int64)

    def size(self) -> Ints:
        """The length of a string or of bytes; zero for messages that have failed."""
        length = self.int64()
        self.fail(length < 0, "a length is negative")
        self.fail(length > self.ends - self.pos, "the message ends in the middle of a value")
        return np.where(self.alive, length, 0)

    def _varint(self) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], Any]:
        first = self.block.bytes[self.pos]
        if not (first & 0x80).any():
            self.advance(1)
            return first.astype(np.uint64), np.int64(1)
        word = self.block.words[self.pos]
        stops = ~word & _STOPS
        used = (stops & (~stops + np.uint64(1))) * np.uint64(2) - np.uint64(1)
        size = np.bitwise_count(used).astype(np.int64) >> 3
        word &= used & ~_STOPS
        word = (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
        word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
        word = (word & np.uint64(0x000000000FFFFFFF)) | ((word & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
        if not stops.all():
            self._long_varint(np.flatnonzero(stops == 0), word, size)
        self.advance(size)
        return word, size

    def _long_varint(self, rows: Ints, word: np.ndarray[Any, np.dtype[np.uint64]], size: Ints) -> None:
        """Numbers of nine and ten bytes."""
        ninth = self.block.bytes[self.pos[rows] + 8].astype(np.uint64)
        tenth = np.where(ninth & np.uint64(0x80), self.block.bytes[self.pos[rows] + 9], 0).astype(np.uint64)
        word[rows] |= (ninth & np.uint64(0x7F)) << np.uint64(56) | (tenth & np.uint64(1)) << np.uint64(63)
        size[rows] = np.where(ninth & np.uint64(0x80), 10, 9)
        wrong = np.zeros(len(self), np.bool_)
        wrong[rows] = (tenth & np.uint64(0x80)) != 0
        self.fail(wrong, "a number has more than 64 bits")

    def floats(self, type: str) -> np.ndarray[Any, Any]:
        """Numbers of four or eight bytes, least byte first."""
        width = np.dtype(type).itemsize
        at = self.advance(width)
        word = self.block.words[at]
        return word.view(type)[:: 8 // width] if width < 8 else word.view(type)

    def binary(self, starts: Ints, sizes: Ints) -> pa.BinaryArray:
        """The bytes at these places as one array: as views first, which Arrow then copies together."""
        low, high = self.block.words[starts], self.block.words[starts + 8]
        short = sizes <= 12
        low = np.where(sizes < 8, low & ~(~np.uint64(0) << (8 * np.minimum(sizes, 7)).astype(np.uint64)), low)
        high &= ~(~np.uint64(0) << (8 * np.clip(sizes - 8, 0, 4)).astype(np.uint64))
        views = np.empty((len(sizes), 4), np.uint32)
        views[:, 0] = sizes
        views[:, 1] = low & np.uint64(0xFFFFFFFF)
        views[:, 2] = np.where(short, low >> np.uint64(32), np.uint64(0))
        views[:, 3] = np.where(short, high, starts.astype(np.uint64))
        buffers = [None, pa.py_buffer(views), pa.py_buffer(self.block.bytes)]
        return pa.Array.from_buffers(pa.binary_view(), len(sizes), buffers).cast(pa.binary())
