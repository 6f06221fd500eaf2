"""`rowkind demo-ingest`: tables of a MariaDB of its own into topics, which change before your eyes as the tables do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from rowkind.cli.latest import LatestByKey
from rowkind.cli.stage import kafka_and_spark, perform, read_back, timed

if TYPE_CHECKING:
    from rowkind.demo_servers.database import DatabaseServer
    from rowkind.ingest.description import IngestionJob
    from rowkind.runtime.driver.batch_runner import Row
    from rowkind.runtime.driver.ingest.running import RunningIngestion
    from rowkind.runtime.driver.session import Session

FILE = "shop.yaml"
TABLES = ("customers", "orders")
SHOP = """\
CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(20), city VARCHAR(20));
CREATE TABLE orders (id INT PRIMARY KEY, customer INT, item VARCHAR(20), price DECIMAL(8, 2), state VARCHAR(10));
INSERT INTO customers VALUES (1, 'Ada', 'Turin'), (2, 'Bo', 'Oslo');
INSERT INTO orders VALUES (1, 1, 'bolt', 2.50, 'new'), (2, 2, 'nut', 1.20, 'new'), (3, 1, 'nut', 1.20, 'new');
"""
READ_BACK = """\
CREATE TABLE orders (
    id INT, customer INT, item STRING, price DECIMAL(8, 2), state STRING, PRIMARY KEY (id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'shop-orders', 'properties.bootstrap.servers' = '${brokers}',
    'key.format' = 'json', 'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset'
);
SELECT customer, COUNT(*), SUM(price) FROM orders GROUP BY customer;"""


def waves() -> Iterator[tuple[str, str]]:
    """What happens in the shop, after its tables were copied."""
    yield (
        "An order is paid, one is cancelled, and there is a new one.",
        "UPDATE orders SET state = 'paid' WHERE id = 1;\n"
        "DELETE FROM orders WHERE id = 2;\n"
        "INSERT INTO orders VALUES (4, 2, 'bolt', 2.40, 'new');",
    )
    yield (
        "A customer gets another number: the old key goes, the new one comes.",
        "UPDATE customers SET id = 7 WHERE id = 2;\nUPDATE orders SET customer = 7 WHERE customer = 2;",
    )
    yield (
        "The table gets a column, and values have it from then on.",
        "ALTER TABLE customers ADD COLUMN points INT AFTER name;\nUPDATE customers SET points = 10 WHERE id = 1;",
    )


def demo_ingest() -> None:
    """Start MariaDB and Kafka, copy a small shop into topics, show them change as its tables do, clean up.

    Nothing has to run before, and nothing is left behind.
    """
    from rowkind.broker import require_java

    require_java()
    screen = Console(highlight=False)
    text = resources.files("rowkind.examples").joinpath(FILE).read_text("utf-8")
    _, _, job = text.partition("source:")
    screen.print(f"[bold]The job[/] (examples/{FILE})\n")
    screen.print(Syntax(f"source:{job.rstrip()}", "yaml", theme="ansi_light", background_color="default"))
    screen.print()
    perform(screen, "MariaDB, Kafka and Spark", lambda folder: _play(screen, text, folder))


def _play(screen: Console, text: str, folder: Path) -> None:
    from rowkind.demo_servers.database import DatabaseServer
    from rowkind.demo_servers.database_programs import Flavor, programs

    with timed(screen, "Looking for MariaDB, fetching it the first time"):
        programs(Flavor.MARIADB)
    rows: list[Row] = []
    named = "MariaDB, Apache Kafka and Spark"
    with kafka_and_spark(screen, folder, rows, _mariadb, named=named) as (bootstrap, session, (server,)):
        assert isinstance(server, DatabaseServer)
        shop = _Shop(server)
        shop.run(SHOP)
        with timed(screen, "Starting the job"):
            job = _started(session, _job(text, server, bootstrap, folder))
        screen.print("\nBelow are topics as a plain Kafka consumer sees them: the latest value of each key.")
        _show(screen, shop, job, bootstrap)
        job.stop()
        job.wait()
        screen.print(f"\n[bold]A topic as a table of SQL[/]\n{READ_BACK}")
        session.sql(READ_BACK, {"brokers": bootstrap}).job.wait()  # type: ignore[union-attr]
        screen.print(read_back(rows, "customer", "orders", "spent"))
        screen.print("\nStopping …")


def _mariadb() -> DatabaseServer:
    from rowkind.demo_servers.database import DatabaseServer
    from rowkind.demo_servers.database_programs import Flavor

    return DatabaseServer.start(Flavor.MARIADB)


def _job(text: str, server: DatabaseServer, bootstrap: str, folder: Path) -> IngestionJob:
    from rowkind.ingest.loading import parse_job
    from rowkind.ingest.variables import Variables

    values = {
        "mysql.hostname": server.host,
        "mysql.port": str(server.port),
        "mysql.username": server.user,
        "mysql.password": server.password,
        "mysql.source.table": r"shop.(\.*)",
        "upsert.kafka.topic": "shop-$1",
        "upsert.kafka.bootstraps.server": bootstrap,
    }
    return parse_job(text, FILE, Variables(values), str(folder / "checkpoint"))


def _started(session: Session, job: IngestionJob) -> RunningIngestion:
    from rowkind.runtime.driver.ingest.running import RunningIngestion

    return RunningIngestion(session.spark, job, notify=lambda _: None).start()


class _Shop:
    """The database, as somebody who works with it sees it."""

    def __init__(self, server: DatabaseServer) -> None:
        self._server = server
        self._database = "mysql"
        self.run("CREATE DATABASE shop")
        self._database = "shop"

    def run(self, statements: str) -> None:
        for statement in statements.split(";"):
            if statement.strip():
                self._answer(statement)

    def rows(self, table: str) -> dict[Any, dict[str, Any]]:
        """By key, as `LatestByKey` has them."""
        return {row["id"]: row for row in self._answer(f"SELECT * FROM {table}")}

    def _answer(self, statement: str) -> list[dict[str, Any]]:
        import pymysql
        from pymysql.cursors import DictCursor

        server = self._server
        connection = pymysql.connect(
            host=server.host, port=server.port, user=server.user, autocommit=True, cursorclass=DictCursor
        )
        with closing(connection), connection.cursor() as cursor:
            cursor.execute(f"USE {self._database}")
            cursor.execute(statement)
            return list(cursor.fetchall())


def _show(screen: Console, shop: _Shop, job: RunningIngestion, bootstrap: str) -> None:
    with ExitStack() as stack:
        topics = {table: stack.enter_context(LatestByKey(bootstrap, f"shop-{table}")) for table in TABLES}
        screen.print("\n[bold]What was in the tables before the job began.[/]")
        _show_changes(screen, shop, job, topics)
        for title, statements in waves():
            screen.print(f"\n[bold]{title}[/]\n")
            screen.print(Syntax(statements, "sql", theme="ansi_light", background_color="default"))
            shop.run(statements)
            _show_changes(screen, shop, job, topics)


def _show_changes(screen: Console, shop: _Shop, job: RunningIngestion, topics: Mapping[str, LatestByKey]) -> None:
    """The topics that change, when they are as their tables."""
    before = {table: dict(topic.rows) for table, topic in topics.items()}
    started = time.monotonic()
    for table, topic in topics.items():
        wanted = shop.rows(table)
        while not _same(topic.rows, wanted):
            topic.read()
            job.wait(0)
    for table, topic in topics.items():
        if topic.rows != before[table]:
            screen.print(_changes(f"shop-{table}", before[table], topic.rows))
    screen.print(f"After {time.monotonic() - started:.1f} s.", style="dim")


def _same(topic: Mapping[Any, dict[str, Any]], table: Mapping[Any, dict[str, Any]]) -> bool:
    """A value that was written before its table got a column does not have it."""
    return topic.keys() == table.keys() and all(
        all(_plain(row[column]) == topic[key].get(column) for column in row) for key, row in table.items()
    )


def _plain(value: Any) -> Any:
    """As json has it."""
    return value if value is None or isinstance(value, int | str) else float(value)


def _changes(topic: str, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Table:
    columns = list(dict.fromkeys(column for row in after.values() for column in row))
    table = Table(*columns, "", title=f"topic {topic}", title_justify="left")
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        note = "gone" if new is None else "new" if old is None else "" if old == new else "changed"
        style = "red" if new is None else "bold green" if note else "dim"
        row = new or old or {}
        table.add_row(*(_cell(row, column) for column in columns), note, style=style)
    return table


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
