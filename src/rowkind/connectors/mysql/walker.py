"""The state of a stream of events: file and position, open transaction, tables announced, transactions executed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection
from typing import Any, Protocol

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.changes import Captured, Gathered
from rowkind.connectors.mysql.events import Statement
from rowkind.connectors.mysql.gtids import MariaGtids, MySqlGtids, gtid_set
from rowkind.connectors.mysql.positions import BinlogPosition
from rowkind.connectors.mysql.table_maps import TableMap, table_map
from rowkind.errors import RowkindError

_HEADER = struct.Struct("<IBIIIH").unpack_from
_FOUR = struct.Struct("<I").unpack_from
_EIGHT = struct.Struct("<q").unpack_from
_MARIADB_GTID = struct.Struct("<QIB").unpack_from
_CHECKSUM = 4
_GTIDS = frozenset({events.GTID, events.ANONYMOUS_GTID, events.MARIADB_GTID, events.TAGGED_GTID})

Place = tuple[str, int]
"""A file and a position in it."""


class Listener(Protocol):
    """What the walker asks and tells."""

    def captured(self, found: TableMap, position: BinlogPosition) -> Captured | None:
        """The schema for a table's rows, or None when they are of no interest."""
        ...

    def file_ends(self) -> None:
        """Another file follows: positions of rows gathered up to here are of the old one."""
        ...

    def statement(self, query: events.Query, kind: Statement, before: BinlogPosition, after: BinlogPosition) -> None:
        """A statement that is not the border of a transaction, and the borders before and after it."""
        ...


class Undone(Exception):
    """Rows were gathered of a transaction that was rolled back, or that a crash of the server has cut off."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.place = place
        """Where it began. Whoever reads on has to read from an earlier border again and leave it out."""


class Walker:
    """Takes events one by one. `gathered` has the rows of captured tables since it was last decoded.

    The rows of transactions that begin at one of the places in `undone` are left out.
    """

    def __init__(self, start: BinlogPosition, listener: Listener, undone: Collection[Place] = ()) -> None:
        self.file = start.file
        self.pos = start.pos
        self.timestamp = start.timestamp
        self.gathered = Gathered()
        self._changed: Captured | None = None
        """A captured table that the open transaction has changed."""
        self._listener = listener
        self._undone_places = frozenset(undone)
        self._server_id = start.server_id
        self._gtids: MySqlGtids | MariaGtids | None = gtid_set(start.gtids) if start.gtids else None
        self._pending: tuple[Any, ...] | None = None
        self._inside = False
        self._begun = False
        self._checksum = 0
        self._number = 0
        self._tables: dict[int, Captured | None] = {}
        self._known: dict[bytes, Captured | None] = {}

    @property
    def at_border(self) -> bool:
        return not self._inside

    def position(self) -> BinlogPosition:
        """The last border."""
        gtids = str(self._gtids) if self._gtids is not None else ""
        return BinlogPosition(self.file, self.pos, gtids, self.timestamp, self._server_id)

    def forget_tables(self) -> None:
        """A schema has changed: what was known of tables is asked for again."""
        self._known.clear()
        self._tables.clear()

    def event(self, buffer: bytearray, start: int, end: int) -> bool:
        """Take one event; whether a border lies behind it."""
        seconds, type, _, _, log_pos, flags = _HEADER(buffer, start)
        if self._checksum or type in (events.FORMAT, events.ROTATE):
            end = self._verified(buffer, start, end, type)
        at = start + events.HEADER
        if type == events.TABLE_MAP:
            self._table_map(buffer, at, end)
            return False
        if type in _GTIDS:
            self._gtid(buffer, at, type)
            return False
        if type == events.QUERY and buffer[end - 5 : end] == b"BEGIN":
            self._inside = self._begun = True
            return False
        pos = self._long_pos(log_pos)
        if type in events.ROWS:
            self._rows(buffer, at, end, type, (seconds, pos, self._number))
            return False
        if type == events.XID:
            return self._commit(pos, seconds)
        if type in (events.QUERY, events.QUERY_COMPRESSED):
            return self._query(bytes(buffer[at:end]), type, pos, seconds)
        if type == events.TRANSACTION_PAYLOAD:
            return self._payload(bytes(buffer[at:end]), pos, seconds)
        return self._other(bytes(buffer[at:end]), type, log_pos, flags)

    def _verified(self, buffer: bytearray, start: int, end: int, type: int) -> int:
        """Where the event ends without its checksum, which must be right."""
        if type == events.FORMAT:
            # the algorithm of this file, before a checksum that is always there
            self._checksum = buffer[end - _CHECKSUM - 1]
            if self._checksum == 0:
                return end - _CHECKSUM
        right = zlib.crc32(memoryview(buffer)[start : end - _CHECKSUM]) == _FOUR(buffer, end - _CHECKSUM)[0]
        if type == events.ROTATE:
            # It may come before the format of its file is known.
            return end - _CHECKSUM if right else end
        if not right:
            raise RowkindError("MYSQL_CHECKSUM", position=self.position())
        return end - _CHECKSUM

    def _long_pos(self, log_pos: int) -> int:
        """Positions have 32 bits in the log; in a file beyond 4 GB they start again at 0.

        The head of a file, which a server may send at any place, has a position of before.
        """
        pos = log_pos | (self.pos & ~0xFFFFFFFF)
        if pos >= self.pos:
            return pos
        return pos + (1 << 32) if self.pos - pos > 1 << 31 else self.pos

    def _table_map(self, buffer: bytearray | bytes, at: int, end: int) -> None:
        body = bytes(buffer[at + 8 : end])
        if body not in self._known:
            self._known[body] = self._listener.captured(table_map(body), self.position())
        self._tables[int.from_bytes(buffer[at : at + 6], "little")] = self._known[body]

    def _rows(
        self, buffer: bytearray | bytes, at: int, end: int, type: int, when: tuple[int, int, int], inner: bool = False
    ) -> None:
        table = self._tables.get(int.from_bytes(buffer[at : at + 6], "little"))
        if table is None or (self._undone_places and (self.file, self.pos) in self._undone_places):
            return
        self._number += 1
        self._changed = table
        add = self.gathered.add_elsewhere if inner else self.gathered.add
        add(table, buffer, at, end, type, when)  # type: ignore[arg-type]

    def _commit(self, pos: int, seconds: int) -> bool:
        self.pos = pos
        if seconds:
            self.timestamp = seconds
        pending = self._pending
        if pending is not None:
            if self._gtids is not None:
                self._gtids.add(*pending)
            self._pending = None
        self._inside = self._begun = False
        self._changed = None
        return True

    def _gtid(self, buffer: bytearray, at: int, type: int) -> None:
        self._inside, self._begun = True, False
        if type == events.MARIADB_GTID:
            sequence, domain, flags = _MARIADB_GTID(buffer, at)
            server = _FOUR(buffer, at - events.HEADER + 5)[0]
            self._pending = (domain, server, sequence)
            self._begun = not flags & events.STANDALONE
        elif type == events.GTID:
            number = _EIGHT(buffer, at + 17)[0]
            self._pending = (events.uuid_text(bytes(buffer[at + 1 : at + 17])), number, number + 1)

    def _query(self, body: bytes, type: int, pos: int, seconds: int) -> bool:
        query = events.query(body, type == events.QUERY_COMPRESSED)
        kind = events.statement_kind(query.text)
        if kind is Statement.BEGIN:
            self._inside = self._begun = True
            return False
        if kind is Statement.COMMIT:
            return self._commit(pos, seconds)
        if kind is Statement.ROLLBACK:
            self._check_undone()
            return self._commit(pos, seconds)
        before = self.position()
        border = False if self._begun else self._commit(pos, seconds)
        self._listener.statement(query, kind, before, self.position())
        return border

    def _check_undone(self) -> None:
        if self._changed is not None:
            raise Undone((self.file, self.pos))

    def _cut_off(self) -> None:
        """A transaction never goes on in another file: the server has crashed while it wrote this one."""
        self._check_undone()
        self._inside = self._begun = False
        self._pending = None

    def _payload(self, body: bytes, pos: int, seconds: int) -> bool:
        """A compressed transaction: its events have neither checksums nor places of their own."""
        data = events.payload(body)
        at, border = 0, False
        while at < len(data):
            _, type, _, length, _, _ = _HEADER(data, at)
            start, end = at + events.HEADER, at + length
            if type in events.ROWS:
                self._rows(data, start, end, type, (seconds, pos, self._number), inner=True)
            elif type == events.TABLE_MAP:
                self._table_map(data, start, end)
            elif type == events.XID:
                border = self._commit(pos, seconds)
            elif type == events.QUERY:
                border = self._query(data[start:end], type, pos, seconds)
            elif type not in events.WITHOUT_MEANING:
                raise RowkindError("MYSQL_UNKNOWN_EVENT", type=type, position=self.position())
            at = end
        return border

    def _other(self, body: bytes, type: int, log_pos: int, flags: int) -> bool:
        if type == events.ROTATE:
            if self._inside:
                self._cut_off()
            self._listener.file_ends()
            self.file, self.pos = body[8:].decode(), int.from_bytes(body[:8], "little")
            # an announcement of the file that is being read changes nothing of what has been read
            return True
        if type == events.PREVIOUS_GTIDS:
            self._gtids = MySqlGtids({**events.previous_gtids(body)}) if self._gtids is None else self._gtids
        elif type == events.GTID_LIST:
            self._gtids = MariaGtids(events.gtid_list(body)) if self._gtids is None else self._gtids
        elif type == events.XA_PREPARE:
            if self._changed is not None and not body[0]:  # 1: XA COMMIT ... ONE PHASE
                raise RowkindError("MYSQL_XA_TRANSACTION", position=self.position(), table=self._changed.schema.id)
            return self._commit(self._long_pos(log_pos), 0)
        elif type not in events.WITHOUT_MEANING and type != events.FORMAT and not flags & events.IGNORABLE_FLAG:
            raise RowkindError("MYSQL_UNKNOWN_EVENT", type=type, position=self.position())
        if not self._inside and log_pos:
            self.pos = self._long_pos(log_pos)
        return not self._inside
