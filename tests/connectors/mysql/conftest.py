"""Both servers, and a database of one's own on each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from rowkind.connectors.mysql.connection import ServerAddress, connect
from rowkind.connectors.mysql.facts import ServerFacts, server_facts
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor
from tests.conftest import run_owner
from tests.servers.databases import database


@dataclass
class Database:
    """A database of one test on a shared server."""

    server: DatabaseServer
    address: ServerAddress
    name: str
    connection: Any
    facts: ServerFacts
    opened: list[Any] = field(default_factory=list)

    @property
    def mariadb(self) -> bool:
        return self.facts.mariadb

    def run(self, *statements: str) -> None:
        for statement in statements:
            with self.connection.cursor() as cursor:
                cursor.execute(statement)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def reconnect(self) -> None:
        """After a restart of the server."""
        self.connection = connect(self.address)
        self.run(f"USE {self.name}")

    def connect(self) -> Any:
        """One more connection, closed after the test."""
        self.opened.append(connect(self.address))
        return self.opened[-1]


def address_of(server: DatabaseServer) -> ServerAddress:
    return ServerAddress(server.host, server.port, server.user, server.password)


def opened(server: DatabaseServer) -> Iterator[Database]:
    connection = connect(address_of(server))
    name = f"t_{uuid4().hex[:12]}"
    base = Database(server, address_of(server), name, connection, server_facts(connection))
    base.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4", f"USE {name}")
    yield base
    base.run(f"DROP DATABASE IF EXISTS {name}")
    for each in (base.connection, *base.opened):
        if each.open:
            each.close()


@pytest.fixture(params=list(Flavor))
def db(request: pytest.FixtureRequest, run_folder: Path) -> Iterator[Database]:
    """A database on each of the two servers in turn."""
    yield from opened(database(request.param, run_folder, run_owner()))


@pytest.fixture
def mariadb(run_folder: Path) -> Iterator[Database]:
    yield from opened(database(Flavor.MARIADB, run_folder, run_owner()))


@pytest.fixture
def mysql(run_folder: Path) -> Iterator[Database]:
    yield from opened(database(Flavor.MYSQL, run_folder, run_owner()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if {"db", "mariadb", "mysql", "own_server"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("database")
