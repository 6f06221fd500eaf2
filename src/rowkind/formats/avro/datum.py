"""One Avro datum read byte by byte, as Java's BinaryDecoder does."""

from __future__ import annotations

from collections.abc import Iterator

MOST_EMPTY = 1 << 16
"""The most elements that take no bytes, in one datum: a few bytes can ask for any number of them."""


class Datum:
    """A message and how far it has been read. Every method raises ValueError where Java would fail."""

    __slots__ = ("data", "empty", "pos")

    def __init__(self, data: bytes, pos: int = 0) -> None:
        self.data, self.pos, self.empty = data, pos, 0
        self.take(0)

    def take(self, size: int) -> bytes:
        end = self.pos + size
        if end > len(self.data):
            raise ValueError("the message ends in the middle of a value")
        taken = self.data[self.pos : end]
        self.pos = end
        return taken

    def int64(self) -> int:
        raw = self._varint(10, "a number has more than 64 bits") & 0xFFFFFFFFFFFFFFFF
        return (raw >> 1) ^ -(raw & 1)

    def int32(self) -> int:
        raw = self._varint(5, "a number has more than 32 bits") & 0xFFFFFFFF
        return (raw >> 1) ^ -(raw & 1)

    def _varint(self, most: int, too_long: str) -> int:
        raw = 0
        for i in range(most):
            byte = self.take(1)[0]
            raw |= (byte & 0x7F) << 7 * i
            if byte < 0x80:
                return raw
        raise ValueError(too_long)

    def size(self) -> int:
        size = self.int64()
        if size < 0:
            raise ValueError("a length is negative")
        return size

    def blocks(self, smallest: int) -> Iterator[None]:
        """Once for every element of an array or map; the caller reads it."""
        while count := self.int64():
            if count < 0:
                count = -count
                self.int64()
            self.empty += 0 if smallest else count
            if self.empty > MOST_EMPTY or (smallest and count > (len(self.data) - self.pos) // smallest):
                raise ValueError("a count is out of range")
            for _ in range(count):
                yield
