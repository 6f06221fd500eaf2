"""Places in the binlog between two transactions: how they compare, and where the server's log begins and ends."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pymysql

from rowkind.connectors.mysql.connection import READ_SECONDS, named, rows
from rowkind.connectors.mysql.gtids import MariaGtids, MySqlGtids, gtid_set
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.connectors.mysql.facts import ServerFacts

_SYNTAX = 1064
_QUIET_ATTEMPTS = 50
_QUIET_SECONDS = 0.002
_SETTLE_SECONDS = 0.1
FIRST_EVENT = 4
"""A binlog file starts with a magic number of four bytes."""


@dataclass(frozen=True, slots=True)
class BinlogPosition:
    """A border between transactions. An empty file is the earliest there is.

    >>> BinlogPosition("bin.999999", 4) < BinlogPosition("bin.1000000", 4)
    True
    """

    file: str
    pos: int = FIRST_EVENT
    gtids: str = ""
    """What has been executed up to here, in the server's form; empty when the server has no GTIDs."""
    timestamp: int = 0
    """Seconds since 1970 of the last event, 0 when unknown."""
    server_id: int = 0
    """Whose file it is, 0 when unknown."""

    def place(self) -> tuple[int, str, int]:
        """Orders the positions of one server: numbers in file names grow a digit at times."""
        return (len(self.file), self.file, self.pos)

    def compare(self, other: BinlogPosition) -> int:
        """-1, 0 or 1. With GTIDs on both sides they decide, then files of one server, then timestamps."""
        if self.gtids and other.gtids:
            return self._compare_gtids(other)
        if self.gtids or other.gtids:
            # the one without is the older
            return 1 if self.gtids else -1
        if not self.same_server(other):
            return (self.timestamp > other.timestamp) - (self.timestamp < other.timestamp)
        return (self.place() > other.place()) - (self.place() < other.place())

    def same_server(self, other: BinlogPosition) -> bool:
        """Whether files and positions can be compared; where a server is not known it is taken for the same."""
        return not self.server_id or not other.server_id or self.server_id == other.server_id

    def _compare_gtids(self, other: BinlogPosition) -> int:
        mine, others = gtid_set(self.gtids), gtid_set(other.gtids)
        if mine.contains(others):
            return 0 if others.contains(mine) else 1
        return -1

    def __lt__(self, other: BinlogPosition) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: BinlogPosition) -> bool:
        return self.compare(other) <= 0

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file, "pos": self.pos, "gtids": self.gtids,
            "timestamp": self.timestamp, "server_id": self.server_id,
        }  # fmt: skip

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        return cls(**record)

    def __str__(self) -> str:
        return f"{self.file}:{self.pos}" + (f" ({self.gtids})" if self.gtids else "")


EARLIEST = BinlogPosition("", 0)


def current_end(connection: pymysql.Connection[Any], facts: ServerFacts, with_gtids: bool = True) -> BinlogPosition:
    """The end of the binlog now. MariaDB searches its file for the GTIDs: leave them away where they are not needed."""
    file, pos, gtids = binlog_status(connection)
    if facts.mariadb and with_gtids:
        gtids = rows(connection, "SELECT BINLOG_GTID_POS(%s, %s)", file, pos)[0][0] or ""
    elif facts.gtid and with_gtids:
        file, pos, gtids = _quiet_status(connection)
    return BinlogPosition(file, pos, gtids if with_gtids else "", server_id=facts.server_id)


def _quiet_status(connection: pymysql.Connection[Any]) -> tuple[str, int, str]:
    """MySQL writes a transaction to the file before it counts it as executed: both agree when nothing happens.

    On a server that never rests the position has no GTIDs; a reader learns them at the next file.
    """
    for _ in range(_QUIET_ATTEMPTS):
        before = binlog_status(connection)
        owned = rows(connection, "SELECT @@GLOBAL.gtid_owned")[0][0]
        after = binlog_status(connection)
        if not owned and before == after:
            return after
        time.sleep(_QUIET_SECONDS)
    return after[0], after[1], ""


def settle(connection: pymysql.Connection[Any], facts: ServerFacts) -> None:
    """Wait until what is in the binlog now is also visible to a SELECT: it becomes so a little later.

    On MySQL a transaction owns its GTID in between. Without GTIDs, and on MariaDB, nothing tells, and a pause must do.
    """
    if facts.mariadb or not facts.gtid:
        time.sleep(_SETTLE_SECONDS)
        return
    waited_for: set[str] | None = None
    deadline = time.monotonic() + READ_SECONDS
    while True:
        owned = set(re.findall(r"\d+#\d+", rows(connection, "SELECT @@GLOBAL.gtid_owned")[0][0] or ""))
        waited_for = owned if waited_for is None else waited_for & owned
        if not waited_for or time.monotonic() > deadline:
            return
        time.sleep(_QUIET_SECONDS)


def binlog_status(connection: pymysql.Connection[Any]) -> tuple[str, int, str]:
    """File, position and, on MySQL, executed GTIDs. MySQL 8.4 has only the new statement, older ones only the old."""
    for statement in ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"):
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                found = cursor.fetchone()
        except pymysql.MySQLError as error:
            if error.args and error.args[0] == _SYNTAX:
                continue
            raise named(error, "the server", statement) from error
        if not found:
            raise RowkindError("MYSQL_BINLOG_OFF")
        return found[0], int(found[1]), str(found[4] or "").replace("\n", "") if len(found) > 4 else ""
    raise RowkindError("MYSQL_BINLOG_OFF")


def binlog_files(connection: pymysql.Connection[Any]) -> list[str]:
    """The files that are there, oldest first."""
    return [str(row[0]) for row in rows(connection, "SHOW BINARY LOGS")]


def earliest(connection: pymysql.Connection[Any], facts: ServerFacts) -> BinlogPosition:
    """The first event that is still on the server."""
    return BinlogPosition(binlog_files(connection)[0], server_id=facts.server_id)


def check_available(connection: pymysql.Connection[Any], facts: ServerFacts, position: BinlogPosition) -> None:
    """Refuse to start where the server has purged what comes next, or never had what was read: no silent jump."""
    files = binlog_files(connection)
    there = position.file in files and position.same_server(BinlogPosition("", server_id=facts.server_id))
    if position.gtids:
        executed, purged = _executed_and_purged(connection, facts, files[0])
        done = gtid_set(position.gtids)
        if not executed.contains(done):
            raise RowkindError("MYSQL_LOG_RESET", position=position, end=executed)
        if not there and not done.contains(purged):
            raise RowkindError("MYSQL_GTID_PURGED", missing=_missing(done, purged), oldest=files[0])
    elif not there:
        raise RowkindError("MYSQL_POSITION_PURGED", file=position.file, oldest=files[0])
    end = current_end(connection, facts, with_gtids=False)
    if there and end.place() < position.place():
        raise RowkindError("MYSQL_LOG_RESET", position=position, end=end)


def _executed_and_purged(
    connection: pymysql.Connection[Any], facts: ServerFacts, oldest: str
) -> tuple[MySqlGtids | MariaGtids, MySqlGtids | MariaGtids]:
    """What the server has executed, and what of it is no longer in its files."""
    if facts.mariadb:
        purged, executed = rows(
            connection, "SELECT BINLOG_GTID_POS(%s, %s), @@GLOBAL.gtid_binlog_pos", oldest, FIRST_EVENT
        )[0]
        return MariaGtids.parse(executed or ""), MariaGtids.parse(purged or "")
    executed, purged = rows(connection, "SELECT @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged")[0]
    return MySqlGtids.parse(executed or ""), MySqlGtids.parse(purged or "")


def _missing(done: MySqlGtids | MariaGtids, purged: MySqlGtids | MariaGtids) -> MySqlGtids | MariaGtids:
    if isinstance(done, MySqlGtids) and isinstance(purged, MySqlGtids):
        return done.missing(purged)
    return purged
