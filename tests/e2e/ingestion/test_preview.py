"""`--check`: what a job will do, and everything that is in its way, without reading a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowkind.demo_servers.database_programs import Flavor
from rowkind.errors import RowkindError
from rowkind.ingest.preview import preview
from tests.conftest import run_owner
from tests.connectors.mysql.conftest import Database, opened
from tests.ingest.jobs import job
from tests.servers.databases import database

pytestmark = pytest.mark.database


@pytest.fixture
def db(run_folder: Path) -> Iterator[Database]:
    yield from opened(database(Flavor.MARIADB, run_folder, run_owner()))


def checked(db: Database, user: str = "root", password: str = "", **more: Any) -> tuple[list[str], list[str]]:
    place = {"hostname": db.server.host, "port": str(db.server.port), "username": user, "password": password}
    source = {**place, "tables": rf"{db.name}.\.*", **more.pop("source", {})}
    problems: list[RowkindError] = []
    lines = list(preview(job(source=source, **more), problems))
    return lines, [problem.condition for problem in problems]


def test_tables_their_keys_chunks_and_topics(db: Database) -> None:
    db.run(f"CREATE TABLE {db.name}.a (id INT, part INT, PRIMARY KEY (part, id))")
    db.run(f"CREATE TABLE {db.name}.b (id INT PRIMARY KEY)")
    db.run(f"INSERT INTO {db.name}.b SELECT seq FROM seq_1_to_1000", f"ANALYZE TABLE {db.name}.b")
    route = [{"source-table": rf"{db.name}.(\.*)", "sink-table": "all-$1"}]
    lines, problems = checked(db, source={"scan.incremental.snapshot.chunk.size": "100"}, route=route)
    assert problems == []
    assert lines[0].startswith("server: MariaDB ")
    assert lines[1:] == [
        "tables: 2",
        f"  {db.name}.a: key (part, id), about 1 chunks -> all-a",
        f"  {db.name}.b: key (id), about 10 chunks -> all-b",
    ]


def test_no_chunks_where_nothing_is_copied(db: Database) -> None:
    db.run(f"CREATE TABLE {db.name}.a (id INT PRIMARY KEY)")
    lines, _ = checked(db, source={"scan.startup.mode": "latest-offset"})
    assert lines[-1] == f"  {db.name}.a: key (id) -> {db.name}.a"


def test_every_problem_is_named(db: Database) -> None:
    """Of the server, of the user and of tables, all at once; the tables that are right are still listed."""
    db.run(f"CREATE TABLE {db.name}.a (id INT PRIMARY KEY)", f"CREATE TABLE {db.name}.log (line TEXT)")
    db.run("CREATE OR REPLACE USER 'poor'@'%' IDENTIFIED BY 'x'", f"GRANT SELECT ON {db.name}.* TO 'poor'@'%'")
    try:
        db.run("SET GLOBAL binlog_format = 'MIXED'", "SET GLOBAL binlog_row_image = 'MINIMAL'")
        lines, problems = checked(db, "poor", "x")
    finally:
        db.run("SET GLOBAL binlog_format = 'ROW'", "SET GLOBAL binlog_row_image = 'FULL'", "DROP USER 'poor'@'%'")
    assert problems == ["MYSQL_BINLOG_FORMAT", "MYSQL_ROW_IMAGE", "MYSQL_MISSING_GRANTS", "INGEST_TABLE_WITHOUT_KEY"]
    assert lines[-1] == f"  {db.name}.a: key (id), about 1 chunks -> {db.name}.a"


def test_a_position_that_is_gone(db: Database) -> None:
    db.run(f"CREATE TABLE {db.name}.a (id INT PRIMARY KEY)")
    start = {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset.file": "binlog.000000"}
    _, problems = checked(db, source={**start, "scan.startup.specific-offset.pos": "4"})
    assert problems == ["MYSQL_POSITION_PURGED"]


def test_a_server_in_another_time_zone(db: Database) -> None:
    db.run(f"CREATE TABLE {db.name}.a (id INT PRIMARY KEY)", "SET GLOBAL time_zone = '+05:30'")
    try:
        lines, _ = checked(db)
    finally:
        db.run("SET GLOBAL time_zone = 'SYSTEM'")
    assert lines[1].startswith("The server's time zone is +5.5 hours from 'server-time-zone: UTC'.")
