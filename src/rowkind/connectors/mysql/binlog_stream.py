"""Logging in as a replica: from a place in a file, or from a set of transactions that has been read."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkind.connectors.mysql.connection import ServerAddress, connect, named_errors, rows
from rowkind.connectors.mysql.gtids import MySqlGtids
from rowkind.connectors.mysql.packets import Packets
from rowkind.connectors.mysql.positions import FIRST_EVENT, BinlogPosition, binlog_files
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import pymysql

    from rowkind.connectors.mysql.facts import ServerFacts

_COM_BINLOG_DUMP, _COM_REGISTER_SLAVE, _COM_BINLOG_DUMP_GTID = 0x12, 0x15, 0x1E
_THROUGH_GTID = 4
_MARIADB_GTID = 4
"""The capability without which MariaDB refuses to send its GTID events."""
_MAX_POSITION = 0xFFFFFFFF


@dataclass(slots=True)
class BinlogStream:
    """An open stream of events."""

    connection: pymysql.Connection[Any]
    packets: Packets

    def close(self) -> None:
        # The server sends without end: there is nobody to say goodbye to.
        self.connection._force_close()


def open_stream(
    address: ServerAddress, facts: ServerFacts, start: BinlogPosition, server_id: int, heartbeat_seconds: float = 30
) -> BinlogStream:
    """Ask for all events from a position on. `server_id` must be one that no other replica of the server has."""
    connection = connect(address)
    try:
        with named_errors(address, "asking for the binlog"):
            _prepare(connection, facts, server_id, heartbeat_seconds)
            if by_gtid(facts, start):
                _dump_by_gtid(connection, facts, start, server_id)
            else:
                _dump(connection, start.file or binlog_files(connection)[0], start.pos, server_id)
    except BaseException:
        connection._force_close()
        raise
    return BinlogStream(connection, Packets(connection))


def by_gtid(facts: ServerFacts, start: BinlogPosition) -> bool:
    """A file is known to one server only: where it is another's, or not given, the set of transactions counts."""
    other = start.server_id and facts.server_id and start.server_id != facts.server_id
    return bool(start.gtids) and (not start.file or bool(other))


def _prepare(connection: pymysql.Connection[Any], facts: ServerFacts, server_id: int, heartbeat: float) -> None:
    nanoseconds = int(heartbeat * 1_000_000_000)
    for name in ("master", "source"):
        rows(connection, f"SET @{name}_heartbeat_period = {nanoseconds}")
        # We can take checksums: they are as the file has them.
        rows(connection, f"SET @{name}_binlog_checksum = @@GLOBAL.binlog_checksum")
    if facts.mariadb:
        rows(connection, f"SET @mariadb_slave_capability = {_MARIADB_GTID}")
    connection._execute_command(
        _COM_REGISTER_SLAVE, struct.pack("<I", server_id) + b"\x07rowkind" + bytes(2) + struct.pack("<HII", 0, 0, 0)
    )
    connection._read_ok_packet()


def _dump(connection: pymysql.Connection[Any], file: str, pos: int, server_id: int) -> None:
    if pos > _MAX_POSITION:
        raise RowkindError("MYSQL_POSITION_TOO_FAR", file=file, pos=pos)
    body = struct.pack("<IHI", max(pos, FIRST_EVENT), 0, server_id) + file.encode()
    connection._execute_command(_COM_BINLOG_DUMP, body)


def _dump_by_gtid(
    connection: pymysql.Connection[Any], facts: ServerFacts, start: BinlogPosition, server_id: int
) -> None:
    if facts.mariadb:
        rows(connection, "SET @slave_connect_state = %s, @slave_gtid_strict_mode = 0", start.gtids)
        _dump(connection, "", FIRST_EVENT, server_id)
        return
    known = MySqlGtids.parse(start.gtids).encoded()
    body = struct.pack("<HIIQI", _THROUGH_GTID, server_id, 0, FIRST_EVENT, len(known)) + known
    connection._execute_command(_COM_BINLOG_DUMP_GTID, body)
