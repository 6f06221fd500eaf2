"""`rowkind demo`: the first example on a Kafka and a Spark of its own, with its result changing before your eyes."""

from __future__ import annotations

import json
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from rowkind.cli.latest import LatestByKey

if TYPE_CHECKING:
    from rowkind.runtime.driver.batch_runner import Row
    from rowkind.runtime.driver.job import Job
    from rowkind.runtime.driver.session import Session

SOURCE, SINK = "pageviews", "pageviews_per_region"
Views = list[tuple[int, str]]
"""Who looked from where: the user and the region."""

READ_BACK = f"""\
SELECT user_region, pv, uv
FROM {SINK} /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */;"""


def waves() -> Iterator[tuple[str, Views]]:
    """What happens on the site, in four steps."""
    yield "Five page views.", [(1, "north"), (2, "north"), (3, "south"), (4, "south"), (5, "west")]
    yield "Users 1 and 3 look again: more views, no new visitor.", [(1, "north"), (3, "south"), (3, "south")]
    yield "Two views from a new region.", [(6, "east"), (7, "east")]
    chance = random.Random(7)
    many = [(chance.randrange(1000), chance.choice(["north", "south", "west"])) for _ in range(10_000)]
    yield "Ten thousand more, from 1,000 users in three regions.", many


def demo() -> None:
    """Start a local Kafka, run the first example on local Spark, show the result changing, clean up.

    Nothing has to run before, and nothing is left behind.
    """
    from rowkind.broker import require_java

    require_java()
    screen = Console(highlight=False)
    script = resources.files("rowkind.examples").joinpath("pageviews.sql").read_text("utf-8")
    screen.print("[bold]The script[/] (examples/pageviews.sql)\n")
    screen.print(Syntax(script.strip(), "sql", theme="ansi_light", background_color="default"))
    screen.print()
    started = time.monotonic()
    try:
        with _interruptible(), _own_temporary_folder() as folder:
            _play(screen, script, folder)
    except KeyboardInterrupt:
        screen.print("\nInterrupted; Kafka and Spark are stopped, nothing is left behind.")
        raise SystemExit(130) from None
    screen.print(f"\nDone in {time.monotonic() - started:.0f} s; Kafka and Spark are stopped, nothing is left behind.")


def _play(screen: Console, script: str, folder: Path) -> None:
    rows: list[Row] = []
    with _kafka_and_spark(screen, folder, rows) as (bootstrap, session):
        _create_source(bootstrap)
        with _timed(screen, "Starting the job"):
            job: Job = session.sql(script, {"brokers": bootstrap})  # type: ignore[assignment]
        screen.print(f"\nBelow is topic {SINK} as a plain Kafka consumer sees it:\nthe latest value of each key.")
        with LatestByKey(bootstrap, SINK) as latest:
            _show_waves(screen, bootstrap, job, latest)
        job.stop()
        job.wait()
        screen.print(f"\n[bold]The topic as a table again[/]\n{READ_BACK}")
        session.sql(READ_BACK).job.wait()  # type: ignore[union-attr]
        screen.print(_read_back(rows))
        screen.print("\nStopping …")


@contextmanager
def _kafka_and_spark(screen: Console, folder: Path, rows: list[Row]) -> Iterator[tuple[str, Session]]:
    """Both started side by side, both stopped at the end, whatever happens."""
    from rowkind.broker import Broker
    from rowkind.broker.broker import classpath

    classpath()  # the first time this downloads, with a progress bar
    with _timed(screen, "Starting Apache Kafka and Spark"), ThreadPoolExecutor(1) as beside, ExitStack() as started:
        kafka = beside.submit(Broker.start)
        started.callback(lambda: kafka.result().stop())
        session = _session(folder, rows)
        started.callback(session.stop)
        _catch_signals()  # again: Spark has set a handler of its own
        bootstrap = kafka.result().bootstrap
        running = started.pop_all()
    with running:
        yield bootstrap, session


def _session(folder: Path, rows: list[Row]) -> Session:
    from rowkind.runtime.driver.session import Session
    from rowkind.runtime.driver.spark import start_spark

    spark = start_spark(conf={"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder / "warehouse")})
    return Session(spark, owned=True, notify=lambda _: None, show=lambda _, shown: rows.extend(shown))


def _show_waves(screen: Console, bootstrap: str, job: Job, latest: LatestByKey) -> None:
    views = 0
    for title, wave in waves():
        before = dict(latest.rows)
        views += len(wave)
        screen.print(f"\n[bold]{title}[/]")
        _feed(bootstrap, wave)
        _until(latest, job, views)
        screen.print(_changes(before, latest.rows))
    screen.print(f"\n{views:,} page views made {latest.messages} messages for {len(latest.rows)} keys.")


def _read_back(rows: list[Row]) -> Table:
    table = Table("op", "user_region", "pv", "uv")
    for kind, values in sorted(rows, key=lambda row: str(row[1])):
        table.add_row(kind, *map(str, values))
    return table


def _until(latest: LatestByKey, job: Job, views: int) -> None:
    """Until the result accounts for every view; a job that fails meanwhile says why."""
    while sum(row["pv"] for row in latest.rows.values()) < views:
        latest.read()
        job.wait(0)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Table:
    table = Table("user_region", "pv", "uv", "")
    for region, row in sorted(after.items()):
        old = before.get(region)
        note = "new" if old is None else "" if old == row else f"was {old['pv']}, {old['uv']}"
        table.add_row(region, str(row["pv"]), str(row["uv"]), note, style="bold green" if note else "dim")
    return table


def _create_source(bootstrap: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic(SOURCE, num_partitions=2, replication_factor=1)]).values():
        created.result(60)


def _feed(bootstrap: str, views: Views) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    for user, region in views:
        view = {"user_id": user, "page_id": user % 17, "viewtime": "2026-01-01 12:00:00.000", "user_region": region}
        producer.produce(SOURCE, json.dumps(view))
    producer.flush(60)


@contextmanager
def _timed(screen: Console, what: str) -> Iterator[None]:
    screen.print(f"{what} …", end=" ")
    started = time.monotonic()
    yield
    screen.print(f"{time.monotonic() - started:.1f} s")


@contextmanager
def _own_temporary_folder() -> Iterator[Path]:
    """Everything that goes to the temporary folder meanwhile is removed together."""
    outer = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="rowkind-demo-", ignore_cleanup_errors=True) as folder:
        tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = outer


def _catch_signals() -> None:
    def interrupt(*_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # cleaning up is not interrupted again
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the demo by way of its clean-up."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    _catch_signals()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
