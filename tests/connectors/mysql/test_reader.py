"""The binlog: borders, positions, rotation, GTIDs, huge packets, pieces of a transaction, compressed events."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa
import pytest

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.changes import TableChanges
from rowkind.connectors.mysql.positions import BinlogPosition, check_available, earliest
from rowkind.connectors.mysql.reader import BinlogReader
from rowkind.connectors.mysql.start_times import position_at
from rowkind.connectors.mysql.walker import Walker
from rowkind.errors import RowkindError
from rowkind.kinds import RowKind
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.reading import (
    READING,
    SERVER_ID,
    changes,
    end,
    history,
    images,
    pieces,
    raw_events,
    schema_of,
    snapshot,
)

WRITTEN = (RowKind.INSERT, RowKind.UPDATE_AFTER)


def test_kinds_order_and_places(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v int)", "CREATE TABLE u (id int primary key)")
    start = end(db)
    db.run("INSERT INTO t VALUES (1, 1), (2, 2)", "UPDATE t SET v = v + 10", "INSERT INTO u VALUES (7)")
    db.run("DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (3, 3)")
    found = [part for part in changes(db, start, schema_of(db, "t"), schema_of(db, "u")) if part.schema.id.table == "t"]
    rows = [
        (RowKind(kind).symbol, *row.values())
        for part in found
        for kind, row in zip(part.kinds.to_pylist(), part.rows.to_pylist(), strict=True)
    ]
    assert rows == [
        ("+I", 1, 1), ("+I", 2, 2), ("-U", 1, 1), ("+U", 1, 11),
        ("-U", 2, 2), ("+U", 2, 12), ("-D", 1, 11), ("+I", 3, 3),
    ]  # fmt: skip
    order = [number for part in found for number in part.sequence.to_pylist()]
    assert order == sorted(set(order))
    places = [place for part in found for place in part.pos.to_pylist()]
    assert places == sorted(places)
    assert start.pos < places[0]
    assert places[-1] < end(db).pos


def test_stop_and_go_on_at_a_border(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key)")
    schema, start = schema_of(db, "t"), end(db)
    db.run("INSERT INTO t VALUES (1)")
    middle = end(db)
    db.run("INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)")
    last = end(db)
    reader = BinlogReader(db.address, db.facts, start, SERVER_ID, history(db, schema), READING)
    ids = []
    for until in (middle, last):
        while True:
            piece = reader.poll(until=until)
            ids.append([i for part in piece.parts for i in part.rows.column("id").to_pylist()])
            if piece.reached:
                break
        assert piece.position.place() == until.place()
        assert piece.position.gtids == until.gtids
    reader.close()
    assert [each for each in ids if each] in ([[1], [2, 3]], [[1], [2], [3]])
    assert [piece.position.place() for piece in pieces(db, last, last, history(db, schema))] == [last.place()]


def test_a_large_transaction_comes_in_pieces(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v varchar(200))")
    schema, start = schema_of(db, "t"), end(db)
    db.run("BEGIN")
    for first in range(0, 3000, 300):
        db.run("INSERT INTO t VALUES " + ",".join(f"({i}, repeat('x', 200))" for i in range(first, first + 300)))
    db.run("COMMIT")
    last = end(db)
    found = pieces(db, start, last, history(db, schema), max_bytes=64 << 10)
    assert sum(not piece.at_border for piece in found) > 2
    assert {piece.position.place() for piece in found if not piece.at_border} == {start.place()}
    assert found[-1].at_border
    ids = [i for piece in found for part in piece.parts for i in part.rows.column("id").to_pylist()]
    assert ids == list(range(3000))


def test_rotation_and_earliest(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key)")
    schema, start = schema_of(db, "t"), end(db)
    for i in range(3):
        db.run(f"INSERT INTO t VALUES ({i})", "FLUSH BINARY LOGS")
    last = end(db)
    assert last.file > start.file
    found = pieces(db, start, last, history(db, schema))
    parts = [part for piece in found for part in piece.parts]
    assert images(parts, *WRITTEN).column("id").to_pylist() == [0, 1, 2]
    assert parts[0].file == start.file
    assert len({part.file for part in parts}) == 3
    assert found[-1].position.place() == last.place()
    assert found[-1].position.gtids == last.gtids
    first = earliest(db.connection, db.facts)
    assert first.place() < start.place()
    from_first = pieces(db, first, last, history(db, schema))
    assert from_first[-1].position.gtids == last.gtids


def test_start_by_gtid(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key)", "INSERT INTO t VALUES (1)")
    schema, start = schema_of(db, "t"), end(db)
    db.run("INSERT INTO t VALUES (2)", "FLUSH BINARY LOGS", "INSERT INTO t VALUES (3)")
    by_gtid = BinlogPosition("", 0, start.gtids)
    found = pieces(db, by_gtid, end(db), history(db, schema))
    parts = [part for piece in found for part in piece.parts]
    assert images(parts, *WRITTEN).column("id").to_pylist() == [2, 3]
    assert found[-1].position.gtids == end(db).gtids


def test_packets_beyond_16_megabytes(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v longblob, w int)")
    schema, start = schema_of(db, "t"), end(db)
    sizes = [1, (1 << 24) - 40, 17 << 20, 34 << 20, 3]
    for i, size in enumerate(sizes):
        db.run(f"INSERT INTO t VALUES ({i}, repeat('x', {size}), {i})")
    expected = [(i, size, i) for i, size in enumerate(sizes)]
    for table in (snapshot(db, schema), images(changes(db, start, schema), RowKind.INSERT)):
        lengths = pa.compute.binary_length(table.column("v")).to_pylist()
        assert (
            list(zip(table.column("id").to_pylist(), lengths, table.column("w").to_pylist(), strict=True)) == expected
        )


def test_purged_logs_are_named(db: Database) -> None:
    start = end(db)
    with pytest.raises(RowkindError) as error:
        check_available(db.connection, db.facts, BinlogPosition("binlog.000000"))
    assert error.value.condition == "MYSQL_POSITION_PURGED"
    check_available(db.connection, db.facts, start)


def test_compressed_events_of_mariadb(mariadb: Database) -> None:
    mariadb.run("CREATE TABLE t (id int primary key, v varchar(500))")
    schema, start = schema_of(mariadb, "t"), end(mariadb)
    mariadb.run("SET GLOBAL log_bin_compress = ON", "SET GLOBAL log_bin_compress_min_len = 300")
    try:
        mariadb.run(
            "INSERT INTO t VALUES (1, 'a')",
            "INSERT INTO t VALUES (2, repeat('b', 500))",
            "INSERT INTO t VALUES (3, 'c')",
        )
        mariadb.run("UPDATE t SET v = concat(v, '!') WHERE id < 3 AND id <> 2", "DELETE FROM t WHERE id = 2")
    finally:
        mariadb.run("SET GLOBAL log_bin_compress = OFF")
    (part,) = changes(mariadb, start, schema)
    assert isinstance(part, TableChanges)
    assert part.rows.column("id").to_pylist() == [1, 2, 3, 1, 1, 2]
    assert part.rows.column("v").to_pylist() == ["a", "b" * 500, "c", "a", "a!", "b" * 500]


def test_compressed_transactions_of_mysql(mysql: Database) -> None:
    """The server here is too old to compress: its own events are compressed and read again."""
    mysql.run("CREATE TABLE t (id int primary key, v varchar(50))")
    schema, start = schema_of(mysql, "t"), end(mysql)
    mysql.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')", "UPDATE t SET v = 'c' WHERE id = 2")
    raw = list(raw_events(mysql, start, end(mysql)))
    reader = BinlogReader(mysql.address, mysql.facts, start, SERVER_ID, history(mysql, schema), READING)
    walker = Walker(start, reader)
    found = []
    for transaction in _transactions(raw):
        gtid, *inner = transaction
        walker.event(bytearray(gtid), 0, len(gtid))
        event = _compressed(inner)
        assert walker.event(bytearray(event), 0, len(event))
        found += walker.gathered.decode(bytearray(64), walker.file)
    reader.close()
    assert images(found, RowKind.INSERT).to_pylist() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    assert images(found, RowKind.UPDATE_AFTER).to_pylist() == [{"id": 2, "v": "c"}]
    assert walker.position().gtids == end(mysql).gtids


def _transactions(raw: list[bytes]) -> Iterator[list[bytes]]:
    inside: list[bytes] = []
    for event in raw:
        inside.append(event)
        if event[4] == events.XID:
            yield inside
            inside = []


def _compressed(inner: list[bytes]) -> bytes:
    """As MySQL 8.0.20 writes them: fields of the payload, then zstd."""
    data = b"".join(inner)
    packed = pa.Codec("zstd").compress(data, asbytes=True)
    fields = b"".join(
        bytes([field, 9, 254]) + struct.pack("<Q", value) for field, value in ((2, 0), (3, len(data)), (1, len(packed)))
    )
    body = fields + b"\0" + packed
    header = inner[-1][:4] + bytes([events.TRANSACTION_PAYLOAD]) + inner[-1][5:9]
    return header + struct.pack("<I", 19 + len(body)) + inner[-1][13:19] + body


def test_an_unknown_event_ends_by_name(mysql: Database) -> None:
    start = end(mysql)
    reader = BinlogReader(mysql.address, mysql.facts, start, SERVER_ID, history(mysql), READING)
    event = struct.pack("<IBIIIH", 1, 99, 1, 19, 500, 0)
    with pytest.raises(RowkindError) as error:
        Walker(start, reader).event(bytearray(event), 0, len(event))
    reader.close()
    assert error.value.condition == "MYSQL_UNKNOWN_EVENT"


def test_incomplete_rows_and_statements_end_by_name(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v int)")
    schema = schema_of(db, "t")
    for setting, statement, condition in (
        ("binlog_row_image = MINIMAL", "UPDATE t SET v = 2", "MYSQL_ROWS_INCOMPLETE"),
        ("binlog_format = STATEMENT", "INSERT INTO t VALUES (9, 9)", "MYSQL_STATEMENT_LOGGED"),
    ):
        db.run("REPLACE INTO t VALUES (1, 1)")
        start = end(db)
        db.run(f"SET SESSION {setting}", statement, "SET SESSION binlog_row_image = FULL, binlog_format = ROW")
        with pytest.raises(RowkindError) as error:
            changes(db, start, schema)
        assert error.value.condition == condition


def test_a_wrong_schema_is_named(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v int)")
    old, start = schema_of(db, "t"), end(db)
    db.run("INSERT INTO t VALUES (1, 2)")
    wrong = old.with_columns(old.columns[:1])
    with pytest.raises(RowkindError) as error:
        changes(db, start, wrong)
    assert error.value.condition == "MYSQL_SCHEMA_MISMATCH"


def test_the_same_server_id_ends_the_older_reader_by_name(db: Database) -> None:
    start = end(db)
    older = BinlogReader(db.address, db.facts, start, SERVER_ID, history(db), READING)
    older.poll(until=start)
    newer = BinlogReader(db.address, db.facts, start, SERVER_ID, history(db), READING)
    with pytest.raises(RowkindError) as error:
        _poll_until_it_ends(older)
    assert error.value.condition in ("MYSQL_SERVER_ID_IN_USE", "MYSQL_UNREACHABLE")
    older.close()
    newer.close()


def _poll_until_it_ends(reader: BinlogReader) -> None:
    for _ in range(60):
        reader.poll(seconds=1.0)


def test_a_time_gives_the_file_it_lies_in(mariadb: Database) -> None:
    here = end(mariadb)
    assert position_at(mariadb.address, mariadb.facts, 0.0, SERVER_ID).place() <= here.place()
    assert position_at(mariadb.address, mariadb.facts, 1e12, SERVER_ID).place() >= here.place()
