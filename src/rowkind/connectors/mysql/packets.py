"""The packets of a connection as places in one buffer: what follows is decoded from there, many at once."""

from __future__ import annotations

import select
import struct
from typing import Any

import pymysql

from rowkind.connectors.mysql.arrays import SLACK
from rowkind.connectors.mysql.connection import named
from rowkind.errors import RowkindError

BUFFER_BYTES = 4 << 20
MOMENT_MILLISECONDS = 2
"""A server that is sending fills its gaps within this time; larger batches are cheaper for each row."""
READ_BYTES = 64 << 10
FULL_PACKET = 0xFFFFFF
"""A packet of this length is continued by the next one."""
_ERROR, _EOF = 0xFF, 0xFE
_LENGTH = struct.Struct("<I").unpack_from


class Packets:
    """Reads what the server sends after a command. Places are offsets into `buffer`, valid until the next `more()`."""

    def __init__(self, connection: pymysql.Connection[Any], size: int = BUFFER_BYTES) -> None:
        self._connection = connection
        # After a command PyMySQL has no bytes left in its own buffer: the socket is read directly.
        self._socket = connection._sock
        self.buffer = bytearray(size + SLACK)
        self._taken = 0
        self._end = 0
        self._left: list[tuple[int, int]] = []
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def more(self, seconds: float | None = None, enough: int = 1, until_eof: bool = False) -> list[tuple[int, int]]:
        """The next packets as (start, end) of their contents: at least one, unless `seconds` have passed.

        Reading goes on until `enough` bytes are there or nothing more is at hand; with `until_eof`, which the rows of
        a SELECT have at their end, it waits for more instead.
        """
        places = self._drop_taken()
        while True:
            self._complete(places)
            if places and (self._end >= enough or (self._ends(places[-1]) if until_eof else not self._at_hand())):
                return places
            if not self._receive(seconds, enough, bool(places)):
                return places

    def _complete(self, places: list[tuple[int, int]]) -> None:
        """Add the packets that are there as a whole; the parts of a long one are joined in place."""
        buffer, at, end = self.buffer, self._taken, self._end
        append, length_at = places.append, _LENGTH
        last = end - 4
        while at <= last:
            length = length_at(buffer, at)[0] & FULL_PACKET
            following = at + 4 + length
            if following > end:
                break
            if length == FULL_PACKET:
                joined = self._join(at)
                if joined is None:
                    break
                following, end = joined, self._end
                last = end - 4
            append((at + 4, following))
            at = following
        self._taken = at

    def _ends(self, place: tuple[int, int]) -> bool:
        start, end = place
        return is_eof(self.buffer, start, end) or self.is_error(start)

    def _join(self, start: int) -> int | None:
        """Take the inner headers out of a packet of several parts; where it ends, or None if some of it is missing."""
        at, length = start, FULL_PACKET
        while length == FULL_PACKET:
            if at + 4 > self._end:
                return None
            length = _LENGTH(self.buffer, at)[0] & FULL_PACKET
            at += 4 + length
        if at > self._end:
            return None
        view = memoryview(self.buffer)
        following: int = start + 4 + FULL_PACKET
        while True:
            length = int(_LENGTH(self.buffer, following)[0]) & FULL_PACKET
            view[following : self._end - 4] = view[following + 4 : self._end]
            self._end -= 4
            following += length
            if length < FULL_PACKET:
                return following

    def give_back(self, places: list[tuple[int, int]]) -> None:
        """Packets at the end of what `more()` has given that are to be given again."""
        self._left = places

    def _drop_taken(self) -> list[tuple[int, int]]:
        """Move what has not been taken to the front; where the packets are now that were given back."""
        first = self._left[0][0] - 4 if self._left else self._taken
        if first:
            self.buffer[: self._end - first] = self.buffer[first : self._end]
        self._end, self._taken = self._end - first, self._taken - first
        left, self._left = [(start - first, end - first) for start, end in self._left], []
        return left

    def _receive(self, seconds: float | None, enough: int, pending: bool) -> int:
        """Read what is at hand, waiting for it, not much more than is enough; 0 when the time is over.

        A server that refuses says why and hangs up: packets that are `pending` are looked at before that is an error.
        """
        if self._end + SLACK >= len(self.buffer):
            self._grow()
        limit = min(len(self.buffer) - SLACK, max(enough, self._end + READ_BYTES))
        self._socket.settimeout(seconds)
        try:
            count = self._socket.recv_into(memoryview(self.buffer)[self._end : limit])
        except TimeoutError:
            return 0
        except OSError as error:
            raise RowkindError("MYSQL_UNREACHABLE", server="the server", what="reading", reason=error) from error
        if not count and not pending:
            reason = "it closed the connection"
            raise RowkindError("MYSQL_UNREACHABLE", server="the server", what="reading", reason=reason)
        self._end += count
        return int(count)

    def _grow(self) -> None:
        larger = bytearray(2 * len(self.buffer))
        larger[: self._end] = self.buffer[: self._end]
        self.buffer = larger

    def _at_hand(self) -> bool:
        """Whether bytes can be read with hardly any waiting: in the socket, or already decrypted."""
        pending = getattr(self._socket, "pending", None)
        return bool(pending and pending()) or bool(self._poll.poll(MOMENT_MILLISECONDS))

    def raise_error(self, start: int, end: int, what: str) -> None:
        """Raise the named error of an error packet."""
        code = int.from_bytes(self.buffer[start + 1 : start + 3], "little")
        text = bytes(self.buffer[start + 3 : end]).decode("utf-8", "replace")
        reason = text[6:] if text.startswith("#") else text
        raise named(pymysql.MySQLError(code, reason), "the server", what)

    def is_error(self, start: int) -> bool:
        return self.buffer[start] == _ERROR


def is_eof(buffer: bytearray, start: int, end: int) -> bool:
    """Whether this packet ends a sequence of others."""
    return end - start < 9 and buffer[start] == _EOF
