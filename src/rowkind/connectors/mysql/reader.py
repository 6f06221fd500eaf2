"""The binlog, piece by piece: changes of the captured tables as Arrow, with the position up to which they go."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.binlog_stream import open_stream
from rowkind.connectors.mysql.changes import Captured, TableChanges
from rowkind.connectors.mysql.connection import ServerAddress
from rowkind.connectors.mysql.events import Statement
from rowkind.connectors.mysql.history import SchemaHistory, TableDdl
from rowkind.connectors.mysql.positions import BinlogPosition
from rowkind.connectors.mysql.table_maps import TableMap, difference
from rowkind.connectors.mysql.types import Reading, column_types
from rowkind.connectors.mysql.walker import Place, Walker
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.connectors.mysql.facts import ServerFacts

PIECE_BYTES = 16 << 20
HEARTBEAT_SECONDS = 30.0
_REPLACED = ("same server_uuid/server_id", "same server_id")

__all__ = ["BinlogReader", "Piece", "TableChanges"]


@dataclass(frozen=True, slots=True)
class Piece:
    """What one `poll()` has read."""

    parts: tuple[TableChanges | TableDdl, ...]
    """Changes of several tables between two DDL are ordered among each other by their sequence."""
    position: BinlogPosition
    """The last border between transactions that was read."""
    at_border: bool
    """False in the middle of a transaction: then the position is where it began, and not to be stored as done."""
    reached: bool
    """`until` was reached; nothing beyond it is here."""
    bytes: int
    seconds_behind: float | None
    """How old the last transaction was when it was read, None when nothing came."""


class BinlogReader:
    """Reads from one connection, in order. Not for several threads; close it when an error was raised."""

    def __init__(
        self,
        address: ServerAddress,
        facts: ServerFacts,
        start: BinlogPosition,
        server_id: int,
        history: SchemaHistory,
        reading: Reading,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        undone: Collection[Place] = (),
    ) -> None:
        self._history = history
        self._reading = reading
        self._server_id = server_id
        self._facts = facts
        self._stream = open_stream(address, facts, start, server_id, heartbeat_seconds)
        self._silence = max(60.0, 3 * heartbeat_seconds)
        self._heard = time.monotonic()
        self._walker = Walker(replace(start, server_id=facts.server_id), self, undone)
        self._parts: list[TableChanges | TableDdl] = []

    def poll(self, max_bytes: int = PIECE_BYTES, seconds: float = 1.0, until: BinlogPosition | None = None) -> Piece:
        """The next piece: what is there, up to about so many bytes, waiting so long for something to come."""
        if until is not None and self._is_reached(until):
            return self._piece(0, reached=True)
        packets = self._stream.packets
        places = packets.more(seconds, max_bytes)
        if not places:
            self._check_silence()
            return self._piece(0, reached=False)
        self._heard = time.monotonic()
        reached, count = False, 0
        buffer, event, ends_at = packets.buffer, self._walker.event, until.place() if until is not None else None
        for place, (start, end) in enumerate(places):
            if buffer[start] != 0:
                self._ended(start, end)
            border = event(buffer, start + 1, end)
            count += end - start
            # Most borders are not near the end: a look at the position alone is enough for them.
            if border and ends_at is not None and (self._walker.pos >= ends_at[2] or self._walker.file != ends_at[1]):
                if not self._is_reached(until):  # type: ignore[arg-type]
                    continue
                packets.give_back(places[place + 1 :])
                reached = True
                break
        self._decode()
        return self._piece(count, reached)

    def close(self) -> None:
        self._stream.close()

    def captured(self, found: TableMap, position: BinlogPosition) -> Captured | None:
        """For the walker: the schema of a table, when it is one of ours."""
        schema = self._history.schema(found.table)
        if schema is None:
            return None
        columns = column_types(schema, self._reading)
        reason = difference(found, columns)
        if reason:
            raise RowkindError("MYSQL_SCHEMA_MISMATCH", table=found.table, position=position, reason=reason)
        return Captured(found, schema, columns)

    def file_ends(self) -> None:
        """For the walker: rows have the file they are in beside their positions."""
        self._decode()

    def statement(self, query: events.Query, kind: Statement, before: BinlogPosition, after: BinlogPosition) -> None:
        """For the walker: a statement may change schemas, and then rows before it belong to the old ones."""
        if kind is Statement.CHANGES_ROWS and self._history.concerns(query.database, query.text):
            raise RowkindError("MYSQL_STATEMENT_LOGGED", position=before, statement=query.text[:500])
        if kind is not Statement.CHANGES_SCHEMA:
            return
        changes = [replace(c, position=after) for c in self._history.apply(query.database, query.text, before)]
        if changes:
            self._decode()
            self._parts += changes
            self._walker.forget_tables()

    def _decode(self) -> None:
        if self._walker.gathered:
            self._parts += self._walker.gathered.decode(self._stream.packets.buffer, self._walker.file)

    def _piece(self, count: int, reached: bool) -> Piece:
        walker = self._walker
        behind = max(0.0, time.time() - walker.timestamp) if count and walker.timestamp else None
        parts, self._parts = tuple(self._parts), []
        return Piece(parts, walker.position(), walker.at_border, reached, count, behind)

    def _is_reached(self, until: BinlogPosition) -> bool:
        walker = self._walker
        if not walker.at_border:
            return False
        if not until.file:
            return until.compare(walker.position()) <= 0
        return (len(walker.file), walker.file, walker.pos) >= until.place()

    def _check_silence(self) -> None:
        # Heartbeats come when nothing else does: without them the connection is dead, though nobody has said so.
        if time.monotonic() - self._heard > self._silence:
            raise RowkindError(
                "MYSQL_UNREACHABLE", server="the server", what="reading the binlog", reason="no heartbeat came"
            )

    def _ended(self, start: int, end: int) -> None:
        packets = self._stream.packets
        text = bytes(packets.buffer[start + 3 : end]).decode("utf-8", "replace")
        if any(word in text for word in _REPLACED):
            raise RowkindError("MYSQL_SERVER_ID_IN_USE", server_id=self._server_id, reason=text[6:])
        if packets.is_error(start):
            packets.raise_error(start, end, "reading the binlog")
        raise RowkindError(
            "MYSQL_UNREACHABLE", server="the server", what="reading the binlog", reason="it has ended the stream"
        )
