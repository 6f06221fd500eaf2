"""Transactions that do not count in the end, and logs that are damaged: crashes, rollbacks, XA, wrong checksums."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.reader import BinlogReader
from rowkind.connectors.mysql.walker import Undone, Walker
from rowkind.errors import RowkindError
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.following import Follower
from tests.connectors.mysql.reading import READING, SERVER_ID, end, history, raw_events, schema_of
from tests.servers.databases import killed_and_restarted

TABLE = "CREATE TABLE t (id int primary key, v int)"
MAGIC = 4


def logged(file: Path) -> list[bytes]:
    """The events of a file as they lie in it."""
    data, at, found = file.read_bytes(), MAGIC, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at + 9)
        found.append(data[at : at + length])
        at += length
    return found


def moved(event: bytes, end: int) -> bytes:
    """The same event where it ends at another place."""
    body = event[:13] + struct.pack("<I", end) + event[17:-4]
    return body + struct.pack("<I", zlib.crc32(body))


def append_half(file: Path) -> None:
    """A transaction once more, without its end: so far a server had come when it was killed."""
    written = logged(file)
    last = max(i for i, event in enumerate(written) if event[4] == events.XID)
    first = max(i for i, event in enumerate(written[:last]) if event[4] in (events.GTID, events.MARIADB_GTID))
    with file.open("ab") as out:
        for event in written[first:last]:
            out.write(moved(event, file.stat().st_size + len(event)))
            out.flush()


@pytest.mark.parametrize("more", [True, False])
def test_a_transaction_that_a_crash_has_cut_off(db: Database, tmp_path: Path, more: bool) -> None:
    db.run(TABLE, "INSERT INTO t VALUES (1, 1)")
    follower = Follower(db, tmp_path)
    follower.until_equal("t")
    db.run("INSERT INTO t VALUES (2, 2)", "DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (3, 3)")
    db.run("UPDATE t SET v = 30 WHERE id = 3")
    file = db.server.data / end(db).file
    with killed_and_restarted(db.server):
        append_half(file)
    db.reconnect()
    if more:
        db.run("INSERT INTO t VALUES (4, 4)")
    follower.until_equal("t")
    assert follower.position is not None
    assert follower.position["log"]["file"] > file.name


def test_a_rolled_back_transaction_in_the_log(mysql: Database) -> None:
    """One that is in the log and ends in ROLLBACK is named by its place, to be left out at the second look."""
    mysql.run(TABLE)
    start = end(mysql)
    mysql.run("INSERT INTO t VALUES (1, 1)")
    reader = BinlogReader(mysql.address, mysql.facts, start, SERVER_ID, history(mysql, schema_of(mysql, "t")), READING)
    undone = set()
    for expected in (1, 0):
        walker = Walker(start, reader, undone)
        try:
            for event in map(_rolled_back, raw_events(mysql, start, end(mysql))):
                walker.event(bytearray(event), 0, len(event))
        except Undone as transaction:
            assert expected
            undone.add(transaction.place)
        assert walker.gathered.__bool__() is bool(expected)
    assert undone == {(start.file, start.pos)}
    reader.close()


def _rolled_back(event: bytes) -> bytes:
    if event[4] != events.XID:
        return event
    body = struct.pack("<IIBHH", 1, 0, 0, 0, 0) + b"\0ROLLBACK"
    return event[:4] + bytes([events.QUERY]) + event[5:9] + struct.pack("<I", 19 + len(body)) + event[13:19] + body


def test_xa_transactions(db: Database, tmp_path: Path) -> None:
    """In one phase they are as others are; what is prepared now and decided on later ends the job by name."""
    db.run(TABLE)
    follower = Follower(db, tmp_path)
    follower.step()
    db.run("XA START 'a'", "INSERT INTO t VALUES (1, 1)", "XA END 'a'", "XA COMMIT 'a' ONE PHASE")
    db.run("XA START 'b'", "INSERT INTO t VALUES (2, 2)", "XA END 'b'", "XA ROLLBACK 'b'")
    follower.until_equal("t")
    db.run(f"CREATE DATABASE {db.name}_other", f"CREATE TABLE {db.name}_other.x (id int primary key)")
    for number, outcome in enumerate(("COMMIT", "ROLLBACK")):
        db.run(f"XA START 'c{number}'", f"INSERT INTO {db.name}_other.x VALUES ({number})", f"XA END 'c{number}'")
        db.run(f"XA PREPARE 'c{number}'", f"XA {outcome} 'c{number}'")
    db.run(f"DROP DATABASE {db.name}_other", "INSERT INTO t VALUES (3, 3)")
    follower.until_equal("t")
    db.run("XA START 'd'", "INSERT INTO t VALUES (4, 4)", "XA END 'd'", "XA PREPARE 'd'")
    try:
        with pytest.raises(RowkindError) as error:
            follower.until(lambda: False)
        assert error.value.condition == "MYSQL_XA_TRANSACTION"
        assert f"{db.name}.t" in str(error.value)
        assert error.value.hint
    finally:
        db.run("XA ROLLBACK 'd'")


def test_a_wrong_checksum_ends_by_name(db: Database) -> None:
    db.run(TABLE)
    start = end(db)
    db.run("INSERT INTO t VALUES (1, 1)")
    reader = BinlogReader(db.address, db.facts, start, SERVER_ID, history(db, schema_of(db, "t")), READING)
    first, *_, last = logged(db.server.data / start.file)
    # a flag that the file is in use is not part of the checksum
    closed = bytearray(first)
    closed[17] &= 0xFE
    for place in range(4, len(last)):
        walker = Walker(start, reader)
        walker.event(closed, 0, len(closed))
        event = bytearray(last)
        event[place] ^= 1
        with pytest.raises(RowkindError) as error:
            walker.event(event, 0, len(event))
        assert error.value.condition == "MYSQL_CHECKSUM"
        assert f"{start.file}:{start.pos}" in str(error.value)
    reader.close()
