"""The source as a job drives it, batch by batch, without Spark: where it starts, tables that come or change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rowkind.connectors.contract import Pace, Position, SourceContext
from rowkind.connectors.mysql.connection import ServerAddress, connect
from rowkind.connectors.mysql.gathering import Lanes
from rowkind.connectors.mysql.positions import current_end
from rowkind.connectors.mysql.schemas import TableId
from rowkind.connectors.mysql.source import LOG, MysqlSettings, MysqlSource, Startup
from rowkind.connectors.mysql.staged import staged_sections
from rowkind.connectors.mysql.start_mode import StartMode
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.reading import SERVER_ID


@dataclass(frozen=True)
class In:
    """Captures a database."""

    database: str

    def __call__(self, table: TableId) -> bool:
        return table.database == self.database


@dataclass
class Driven:
    """What a job would have written, by table and id."""

    db: Database
    folder: Path
    rows: dict[str, dict[int, Any]] = field(default_factory=dict)
    messages: int = 0
    ddl: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def source(self, mode: StartMode = StartMode.INITIAL, **more: Any) -> MysqlSource:
        startup = Startup(mode, more.pop("position", None), more.pop("millis", 0))
        settings = MysqlSettings(
            self.db.address, SERVER_ID, In(self.db.name), startup=startup, chunk_size=20, sync=False, **more
        )
        here = SourceContext(str(self.folder), lambda function, given: [function(each) for each in given])
        return MysqlSource(settings, here, lambda schemas: Lanes(parts=2))

    def run(self, source: MysqlSource, position: Position | None = None, batches: int = 1000) -> Position:
        """Until there is nothing new."""
        at = source.start() if position is None else position
        while batches and (offer := source.offer(at)).splits[LOG].rows:
            share = source.share(offer, Pace(2**62, source.limits.bytes, 1, 1), True)
            self._apply(share.tasks)
            at, batches = share.until, batches - 1
            self.ddl += [change["kind"] for change in at["ddl"]]
        self.notes += source.take_notes()
        return at

    def _apply(self, tasks: Sequence[Any]) -> None:
        for task in tasks:
            changed = {(t, row["id"]) for file in task["minus"] for t, row in self._staged(file)}
            for table, row in self._staged(task["file"]):
                if task["minus"] and (table, row["id"]) in changed:
                    continue
                self.messages += 1
                kept = self.rows.setdefault(table.partition(".")[2], {})
                kept.pop(row["id"], None)
                if RowKind(row[KIND_COLUMN]).adds:
                    kept[row["id"]] = row["v"]

    def _staged(self, file: str) -> list[tuple[str, dict[str, Any]]]:
        return [(table, row) for table, rows in staged_sections(str(self.folder), file) for row in rows.to_pylist()]


@pytest.fixture
def driven(mariadb: Database, tmp_path: Path) -> Driven:
    mariadb.run("CREATE TABLE t (id int primary key, v int)", "INSERT INTO t VALUES (1, 10), (2, 20)")
    return Driven(mariadb, tmp_path)


def test_latest_reads_what_comes_from_now_on(driven: Driven) -> None:
    source = driven.source(StartMode.LATEST)
    at = source.start()
    driven.db.run("INSERT INTO t VALUES (3, 30)", "DELETE FROM t WHERE id = 1")
    driven.run(source, at)
    assert driven.rows == {"t": {3: 30}}
    assert driven.messages == 2


def test_specific_reads_from_there_and_copies_nothing(driven: Driven) -> None:
    here = current_end(driven.db.connection, driven.db.facts, with_gtids=False)
    driven.db.run("INSERT INTO t VALUES (3, 30)")
    driven.run(driven.source(StartMode.SPECIFIC, position=here))
    assert driven.rows == {"t": {3: 30}}


def test_a_time_leaves_out_what_was_before(driven: Driven) -> None:
    hour = 3600
    now = int(time.time())
    driven.db.run(f"SET timestamp = {now - 2 * hour}", "INSERT INTO t VALUES (3, 30)", "SET timestamp = DEFAULT")
    driven.db.run("INSERT INTO t VALUES (4, 40)")
    driven.run(driven.source(StartMode.TIMESTAMP, millis=(now - hour) * 1000))
    assert driven.rows == {"t": {1: 10, 2: 20, 4: 40}}


def test_a_snapshot_has_an_end(driven: Driven) -> None:
    source = driven.source(StartMode.SNAPSHOT)
    at = driven.run(source)
    driven.db.run("INSERT INTO t VALUES (3, 30)")
    assert not source.offer(at).splits[LOG].open
    assert driven.rows == {"t": {1: 10, 2: 20}}


def test_tables_that_match_at_a_restart(driven: Driven) -> None:
    """Y34: copied when the job is told to, otherwise left out with a note."""
    at = driven.run(driven.source())
    driven.db.run("CREATE TABLE u (id int primary key, v int)", "INSERT INTO u VALUES (7, 70)")
    left = driven.run(driven.source(), at)
    assert "u" not in driven.rows
    assert any(f"{driven.db.name}.u" in note for note in driven.notes)
    driven.run(driven.source(takes_new_tables=True), left)
    assert driven.rows["u"] == {7: 70}


def test_tables_that_are_created_meanwhile(driven: Driven) -> None:
    """Y34: their changes are read, by the log alone."""
    source = driven.source(takes_created_tables=True)
    at = driven.run(source)
    driven.db.run("CREATE TABLE u (id int primary key, v int)", "INSERT INTO u VALUES (7, 70)")
    driven.run(source, at)
    assert driven.rows["u"] == {7: 70}
    assert "create" in driven.ddl


def test_a_table_that_is_altered_while_it_is_copied(driven: Driven) -> None:
    """Y30: chunks of a batch with a DDL are read again, with the columns of after it."""
    driven.db.run("CREATE TABLE b (id int primary key, v int)", "INSERT INTO b SELECT seq, seq FROM seq_1_to_2000")
    source = driven.source()
    at = driven.run(source, batches=0)
    driven.db.run("ALTER TABLE b ADD COLUMN extra int FIRST", "UPDATE b SET v = -1 WHERE id = 1999")
    driven.run(source, at)
    assert driven.rows["b"] == {id: id for id in range(1, 2001)} | {1999: -1}
    assert "alter" in driven.ddl


def test_truncate_and_drop_are_told_and_write_nothing(driven: Driven) -> None:
    """Y31."""
    source = driven.source()
    at = driven.run(source)
    before = driven.messages
    driven.db.run("TRUNCATE t", "DROP TABLE t")
    driven.run(source, at)
    assert driven.ddl == ["truncate", "drop"]
    assert driven.messages == before


def test_tables_to_be_copied_are_counted(driven: Driven) -> None:
    driven.db.run("CREATE TABLE b (id int primary key, v int)", "INSERT INTO b SELECT seq, seq FROM seq_1_to_2000")
    driven.db.run("ANALYZE TABLE b", "ANALYZE TABLE t")
    source = driven.source()
    at = source.start()
    large, small = source.copying(at)
    assert (large.table.table, large.chunks, small.chunks_about) == ("b", 0, 1)
    assert 80 <= large.chunks_about <= 120
    assert source.copying(driven.run(source, at)) == []


def test_a_connection_is_tried_again(mariadb: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from rowkind.connectors.mysql import connection as subject

    tried: list[float] = []
    monkeypatch.setattr(subject.time, "sleep", tried.append)
    with pytest.raises(RowkindError) as refused:
        connect(ServerAddress("127.0.0.1", 1, tries=3))
    assert refused.value.condition == "MYSQL_UNREACHABLE"
    assert tried == [subject.TRIES_APART_SECONDS] * 2
    connect(mariadb.address).close()
