"""Chunks: cut by every kind of key, and read while others write."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rowkind.connectors.contract import Pace, SourceContext
from rowkind.connectors.mysql.chunk_reading import chunk_rows
from rowkind.connectors.mysql.chunks import Chunk, ChunkSplitter
from rowkind.connectors.mysql.connection import connect
from rowkind.connectors.mysql.gathering import Lanes
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schemas import TableId, TableSchema
from rowkind.connectors.mysql.source import LOG, MysqlSettings, MysqlSource
from rowkind.connectors.mysql.staged import staged_sections
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from tests.connectors.mysql.conftest import Database
from tests.connectors.mysql.reading import READING, SERVER_ID, end, schema_of, snapshot

RANDOM = random.Random(16)
KEYS: dict[str, list[Any]] = {
    "int": [RANDOM.randrange(-3500, 3500) for _ in range(60)],
    "bigint unsigned": [18446744073709551600 + RANDOM.randrange(15) for _ in range(60)],
    "decimal(10,2)": [f"'{RANDOM.randrange(-999, 999) / 7:.2f}'" for _ in range(60)],
    "varchar(20)": [repr(a + b) for a in ("a", "A", "b", "B ", "ä", "Z", "é", "_") for b in ("", "x", "X", " ")],
    "varchar(20) collate utf8mb4_bin": [repr(a + b) for a in ("a", "A", "b", "ä", "Z") for b in ("", "x", "\t", " ")],
    "char(9) character set latin1": [repr(a) for a in ("a", "A", "b", "ä", "Ö", "o", "z", "ss", "ß")] * 4,
    "varbinary(10)": [f"x'{RANDOM.randrange(65536):04x}'" for _ in range(60)],
    "binary(4)": [f"x'{RANDOM.randrange(65536):04x}'" for _ in range(60)],
    "datetime(3)": [f"'2020-01-{RANDOM.randrange(28) + 1:02} 10:00:00.{RANDOM.randrange(9)}'" for _ in range(60)],
    "timestamp(3)": [f"'2020-01-{RANDOM.randrange(28) + 1:02} 10:00:00.{RANDOM.randrange(9)}'" for _ in range(60)],
    "date": [f"'2020-01-{RANDOM.randrange(28) + 1:02}'" for _ in range(60)],
    "time": [f"'{RANDOM.randrange(-800, 800)}:00:00'" for _ in range(60)],
    "enum('x','a','m','b')": [repr(RANDOM.choice("xamb")) for _ in range(60)],
    "set('p','q','r')": [repr(RANDOM.choice(["p", "q", "p,r", "", "q,r"])) for _ in range(60)],
    "float": [RANDOM.randrange(-500, 500) / 3 for _ in range(60)],
    "year": [2000 + RANDOM.randrange(40) for _ in range(60)],
    "bit(12)": [RANDOM.randrange(4096) for _ in range(60)],
    "tinyint(1)": [RANDOM.randrange(2) for _ in range(20)],
}


def all_chunks(db: Database, schema: TableSchema, **how: Any) -> list[Chunk]:
    """Each bound by a splitter of its own that goes on from the state of the one before."""
    found, state = [], None
    while True:
        splitter = ChunkSplitter(schema, state=state, **how)
        chunk = splitter.next(db.connection)
        if chunk is None:
            return found
        found.append(Chunk.from_json(json.loads(json.dumps(chunk.to_json()))))
        state = json.loads(json.dumps(splitter.state))


def test_every_kind_of_key(db: Database) -> None:
    for number, (type, values) in enumerate(KEYS.items()):
        db.run(f"CREATE TABLE k{number} (k {type} NOT NULL, j int NOT NULL, PRIMARY KEY (k, j))")
        db.run(f"INSERT INTO k{number} VALUES " + ", ".join(f"({value}, {j})" for j, value in enumerate(values)))
        schema = schema_of(db, f"k{number}")
        chunks = all_chunks(db, schema, size=7)
        seen: list[int] = []
        for chunk in chunks:
            seen += snapshot(db, schema, chunk.where(schema)).column("j").to_pylist()
        assert sorted(seen) == list(range(len(values))), type
        assert len(chunks) > 1, type


def test_even_chunks(mariadb: Database) -> None:
    mariadb.run("CREATE TABLE t (id int primary key)", "INSERT INTO t SELECT seq FROM seq_0_to_100", "ANALYZE TABLE t")
    bounds = [(chunk.low, chunk.high) for chunk in all_chunks(mariadb, schema_of(mariadb, "t"), size=25)]
    assert bounds == [(None, "25"), ("25", "50"), ("50", "75"), ("75", "100"), ("100", None)]


def test_small_tables_are_one_chunk(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v int)", "CREATE TABLE n (v int)")
    schema = schema_of(db, "t")
    for statement in ("DO 1", "INSERT INTO t VALUES (7, 1)", "INSERT INTO t VALUES (8, 1), (9, 1)"):
        db.run(statement)
        assert [(chunk.low, chunk.high) for chunk in all_chunks(db, schema)] == [(None, None)]
    with pytest.raises(RowkindError) as error:
        ChunkSplitter(schema_of(db, "n"))
    assert error.value.condition == "MYSQL_TABLE_WITHOUT_KEY"


def test_a_chosen_key_may_be_null(db: Database) -> None:
    db.run(
        "CREATE TABLE t (id int primary key, v int)",
        "INSERT INTO t VALUES (1, NULL), (2, 5), (3, NULL), (4, 9), (5, 7)",
    )
    schema = schema_of(db, "t")
    chunks = all_chunks(db, schema, key_column="v", size=2)
    ids = [snapshot(db, schema, chunk.where(schema)).column("id").to_pylist() for chunk in chunks]
    assert sorted(i for each in ids for i in each) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
def test_a_table_is_copied_exactly_while_others_write(
    db: Database, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch by batch as a job reads it: chunks without the keys that the log has, and the log."""
    monkeypatch.setattr("rowkind.connectors.mysql.source.CHUNKS_AT_ONCE", 3)
    db.run(f"CREATE TABLE t (id int primary key, v int) ENGINE={engine}")
    db.run("INSERT INTO t VALUES " + ",".join(f"({i}, 0)" for i in range(0, 400, 2)))
    settings = MysqlSettings(db.address, SERVER_ID, In(db.name), chunk_size=20, sync=False)
    here = SourceContext(str(tmp_path), lambda function, arguments: [function(argument) for argument in arguments])
    source = MysqlSource(settings, here, lambda schemas: Lanes(parts=2))
    state, stop = dict[int, Any](), threading.Event()
    position = source.start()
    writer = threading.Thread(target=_write, args=(db, stop))
    writer.start()
    batches = 0
    try:
        while True:
            offer = source.offer(position)
            if not offer.splits[LOG].rows and stop.is_set():
                break
            share = source.share(offer, Pace(2**62, source.limits.bytes, 1, 1), True)
            _apply(str(tmp_path), share.tasks, state)
            position, batches = share.until, batches + 1
            if not position["todo"] and not stop.is_set():
                stop.set()
                writer.join()
    finally:
        stop.set()
        writer.join()
        source.close()
    assert batches > 3
    assert state == {row["id"]: row["v"] for row in snapshot(db, schema_of(db, "t")).to_pylist()}


@dataclass(frozen=True)
class In:
    """Captures a database."""

    database: str

    def __call__(self, table: TableId) -> bool:
        return table.database == self.database


def _apply(folder: str, tasks: Sequence[Any], state: dict[int, Any]) -> None:
    """The rows of a batch, as its messages would change a topic."""
    for task in tasks:
        changed = {row["id"] for file in task["minus"] for row in _staged(folder, file)}
        for row in _staged(folder, task["file"]):
            if task["minus"] and row["id"] in changed:
                continue
            if RowKind(row[KIND_COLUMN]).adds:
                state[row["id"]] = row["v"]
            else:
                state.pop(row["id"], None)


def _staged(folder: str, file: str) -> list[dict[str, Any]]:
    return [row for _, rows in staged_sections(folder, file) for row in rows.to_pylist()]


def _write(db: Database, stop: threading.Event) -> None:
    connection = connect(db.address)
    rng = random.Random(5)
    with connection.cursor() as cursor:
        while not stop.is_set():
            for _ in range(20):
                i = rng.randrange(400)
                cursor.execute(f"REPLACE INTO {db.name}.t VALUES ({i}, {rng.randrange(10**6)})")
                cursor.execute(f"DELETE FROM {db.name}.t WHERE id = {rng.randrange(400)}")
                cursor.execute(
                    f"UPDATE IGNORE {db.name}.t SET id = {rng.randrange(400)} WHERE id = {rng.randrange(400)}"
                )
    connection.close()


def test_a_changed_schema_is_named(db: Database) -> None:
    db.run("CREATE TABLE t (id int primary key, v int)")
    schema = schema_of(db, "t")
    db.run("ALTER TABLE t ADD w int")
    with pytest.raises(RowkindError) as error:
        list(chunk_rows(db.address, db.facts, schema, all_chunks(db, schema), end(db), READING, Counts()))
    assert error.value.condition == "MYSQL_SCHEMA_CHANGED"
