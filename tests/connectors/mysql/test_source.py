"""The source on the driver: what it follows when tables, logs and servers change, and the errors that it ends with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowkind.broker.process import wait_until
from rowkind.broker.settings import free_port
from rowkind.connectors.mysql.positions import BinlogPosition, binlog_files
from rowkind.connectors.mysql.source import Startup
from rowkind.connectors.mysql.start_mode import StartMode
from rowkind.errors import RowkindError
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.following import Follower
from tests.connectors.mysql.reading import end
from tests.servers.databases import killed_and_restarted

TABLE = "CREATE TABLE t (id int primary key, v int)"


def purge(db: Database) -> None:
    """Remove all files but the last; the server keeps those that a replica still reads."""
    last = end(db).file

    def alone() -> bool:
        db.run(f"PURGE BINARY LOGS TO '{last}'")
        return binlog_files(db.connection) == [last]

    with db.connection.cursor() as cursor:
        cursor.execute("SHOW PROCESSLIST")
        dumps = [row[0] for row in cursor.fetchall() if str(row[4]).startswith("Binlog Dump")]
    for number in dumps:
        db.run(f"KILL {number}")
    assert wait_until(alone, 30)


def condition(follower: Follower) -> RowkindError:
    with pytest.raises(RowkindError) as error:
        follower.until(lambda: False)
    return error.value


def test_a_dropped_table_that_is_made_again_is_followed(db: Database, tmp_path: Path) -> None:
    """Also with other columns, and when the job rests meanwhile; while it was being copied and afterwards."""
    db.run(TABLE, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
    follower = Follower(db, tmp_path, {"chunk_size": 1})
    follower.step()
    db.run("DROP TABLE t", "CREATE TABLE t (id int primary key, w varchar(9))", "INSERT INTO t VALUES (7, 'seven')")
    follower.until(lambda: (7,) in follower.state.get("t", {}))
    assert follower.state["t"][7,] == {"id": 7, "w": "seven"}
    db.run("RENAME TABLE t TO elsewhere", TABLE)
    follower.restart()
    db.run("INSERT INTO t VALUES (8, 8)")
    follower.until(lambda: (8,) in follower.state["t"])


def test_new_tables_are_copied_when_the_job_is_started_again(db: Database, tmp_path: Path) -> None:
    db.run(TABLE, "INSERT INTO t VALUES (1, 1)")
    follower = Follower(db, tmp_path, {"takes_new_tables": True})
    follower.until_equal("t")
    db.run("CREATE TABLE u (id int primary key)", "INSERT INTO u VALUES (1), (2)")
    follower.restart()
    assert [ddl["to"] for ddl in follower.step().until["ddl"]] == [f"{db.name}.u"]
    db.run("INSERT INTO u VALUES (3)", "UPDATE t SET v = 9")
    follower.until_equal("t", "u")


def test_new_tables_are_left_out_with_a_note(db: Database, tmp_path: Path) -> None:
    db.run(TABLE)
    follower = Follower(db, tmp_path)
    follower.step()
    db.run("CREATE TABLE u (id int primary key)", "INSERT INTO u VALUES (1)", "INSERT INTO t VALUES (1, 1)")
    follower.restart()
    follower.until_equal("t")
    assert "u" not in follower.state
    assert [f"{db.name}.u" in note for note in follower.notes] == [True]


def test_the_position_moves_while_captured_tables_rest(db: Database, tmp_path: Path) -> None:
    db.run(TABLE)
    follower = Follower(db, tmp_path)
    follower.step()
    other = f"{db.name}_other"
    db.run(f"CREATE DATABASE {other}", f"CREATE TABLE {other}.x (id int primary key)")
    try:
        for number in range(3):
            db.run(f"INSERT INTO {other}.x VALUES ({number})", "FLUSH BINARY LOGS")
            share = follower.step()
            assert share.tasks == []
            assert BinlogPosition.from_json(share.until["log"]).place() == end(db).place()
        purge(db)
        db.run("INSERT INTO t VALUES (1, 1)")
        follower.restart()
        follower.until_equal("t")
    finally:
        db.run(f"DROP DATABASE {other}")


def test_files_that_were_read_may_be_purged(db: Database, tmp_path: Path) -> None:
    """The place is in a file that is gone, but the transactions after it are there."""
    db.run(TABLE, "INSERT INTO t VALUES (1, 1)")
    follower = Follower(db, tmp_path)
    follower.until_equal("t")
    db.run("FLUSH BINARY LOGS")
    purge(db)
    db.run("INSERT INTO t VALUES (2, 2)")
    follower.restart()
    follower.until_equal("t")


def test_a_purged_log_ends_the_job_by_name(db: Database, tmp_path: Path) -> None:
    db.run(TABLE)
    follower = Follower(db, tmp_path)
    follower.step()
    running = Follower(db, tmp_path / "running")
    running.step()
    db.run("INSERT INTO t VALUES (1, 1)", "FLUSH BINARY LOGS", "INSERT INTO t VALUES (2, 2)", "FLUSH BINARY LOGS")
    purge(db)
    follower.restart()
    for each in (follower, running):
        error = condition(each)
        assert error.condition == "MYSQL_GTID_PURGED"
        assert end(db).file in str(error)
        assert "scan.startup.mode: initial" in (error.hint or "")


def test_places_that_are_not_there_end_the_job_by_name(db: Database, tmp_path: Path) -> None:
    db.run(TABLE)
    for place, name in (
        (BinlogPosition("binlog.000000"), "MYSQL_POSITION_PURGED"),
        (replace(end(db), pos=1 << 30, gtids=""), "MYSQL_LOG_RESET"),
        (replace(end(db), pos=end(db).pos - 3, gtids=""), "MYSQL_LOG_REFUSED"),
    ):
        follower = Follower(db, tmp_path, {"startup": Startup(StartMode.SPECIFIC, place)})
        assert condition(follower).condition == name


def test_a_log_that_was_reset_ends_the_job_by_name(db: Database, tmp_path: Path) -> None:
    db.run(TABLE)
    follower = Follower(db, tmp_path)
    follower.step()
    running = Follower(db, tmp_path / "running")
    running.step()
    db.run("RESET MASTER", "INSERT INTO t VALUES (1, 1)")
    follower.restart()
    assert condition(follower).condition == "MYSQL_LOG_RESET"
    assert condition(running).condition == "MYSQL_LOG_RESET"


def test_a_server_that_was_killed_is_connected_to_again(db: Database, tmp_path: Path) -> None:
    db.run(TABLE, "INSERT INTO t VALUES (1, 1)")
    follower = Follower(db, tmp_path)
    follower.until_equal("t")
    with killed_and_restarted(db.server):
        with pytest.raises(RowkindError) as error:
            follower.step()
        assert error.value.condition == "MYSQL_UNREACHABLE"
        assert error.value.retryable
    db.reconnect()
    db.run("INSERT INTO t VALUES (2, 2)")
    follower.until_equal("t")


def test_another_server_goes_on_by_transactions(db: Database, tmp_path: Path) -> None:
    """The id of the server is another one, as after a fail-over: its files and positions mean nothing."""
    db.run(TABLE, "INSERT INTO t VALUES (1, 1)")
    follower = Follower(db, tmp_path)
    follower.until_equal("t")
    assert follower.position is not None
    log = {**follower.position["log"], "server_id": 77, "file": "other.000900", "pos": 900}
    follower.position = {**follower.position, "log": log}
    follower.restart()
    db.run("INSERT INTO t VALUES (2, 2)")
    follower.until_equal("t")
    assert follower.position["log"]["server_id"] == db.facts.server_id
    follower.position = {**follower.position, "log": {**log, "gtids": ""}}
    follower.restart()
    assert condition(follower).condition == "MYSQL_POSITION_PURGED"


def test_logins_and_hosts_that_are_wrong(db: Database, tmp_path: Path) -> None:
    db.run(TABLE)
    for wrong, name in (
        ({"user": "nobody", "password": "swordfish"}, "MYSQL_LOGIN"),
        ({"port": free_port()}, "MYSQL_UNREACHABLE"),
        ({"host": "no.such.host.invalid"}, "MYSQL_UNREACHABLE"),
    ):
        error = condition(Follower(db, tmp_path, {"address": replace(db.address, **wrong)}))
        assert error.condition == name
        assert str(wrong.get("port", wrong.get("host", db.address.port))) in str(error)
        assert error.hint
        assert "swordfish" not in str(error)


@pytest.fixture
def reader(db: Database) -> Iterator[str]:
    user = f"r{db.name[-8:]}"
    db.run(f"CREATE USER '{user}'@'%'", f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{user}'@'%'")
    yield user
    db.run(f"DROP USER '{user}'@'%'")


def test_a_table_that_may_not_be_read(db: Database, tmp_path: Path, reader: str) -> None:
    """It is listed, since the user may do something else with it."""
    db.run(TABLE, f"GRANT INSERT ON {db.name}.t TO '{reader}'@'%'")
    follower = Follower(db, tmp_path, {"address": replace(db.address, user=reader)})
    error = condition(follower)
    assert error.condition == "MYSQL_PRIVILEGE_MISSING"
    assert "GRANT SELECT" in (error.hint or "")
    none = Follower(db, tmp_path, {"address": replace(db.address, user=reader)})
    db.run(f"REVOKE INSERT ON {db.name}.t FROM '{reader}'@'%'")
    assert condition(none).condition == "MYSQL_NO_TABLES"


def test_a_statement_that_cannot_be_followed(db: Database, tmp_path: Path) -> None:
    """About another table it is of no interest. About a captured one it is the end, with the place and the text."""
    other = f"{db.name}_other"
    db.run(TABLE, f"CREATE DATABASE {other}", f"CREATE TABLE {other}.x (id int primary key)")
    follower = Follower(db, tmp_path, {"takes_created_tables": True})
    follower.step()
    db.run(f"CREATE TABLE {other}.y LIKE {other}.x", "INSERT INTO t VALUES (2, 2)")
    follower.until_equal("t")
    db.run(f"CREATE TABLE u LIKE {other}.x", f"DROP DATABASE {other}")
    error = condition(follower)
    assert error.condition == "MYSQL_DDL_UNPARSED"
    assert "CREATE TABLE u LIKE" in str(error)
    assert end(db).file in str(error)
