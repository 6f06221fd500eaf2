"""What demos share: servers of their own, a folder that is removed, and a clean end whatever happens."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

    from rowkind.runtime.driver.batch_runner import Row
    from rowkind.runtime.driver.session import Session


class Server(Protocol):
    """What a demo starts beside Kafka and Spark."""

    def stop(self) -> None: ...


def perform(screen: Console, servers: str, play: Callable[[Path], None]) -> None:
    """Play a demo to its end, or until Ctrl-C or SIGTERM; nothing of it is left behind. `servers` names them."""
    started = time.monotonic()
    try:
        with _interruptible(), _own_temporary_folder() as folder:
            play(folder)
    except KeyboardInterrupt:
        screen.print(f"\nInterrupted; {servers} are stopped, nothing is left behind.")
        raise SystemExit(130) from None
    screen.print(f"\nDone in {time.monotonic() - started:.0f} s; {servers} are stopped, nothing is left behind.")


@contextmanager
def kafka_and_spark(
    screen: Console, folder: Path, rows: list[Row], *more: Callable[[], Server], named: str = "Apache Kafka and Spark"
) -> Iterator[tuple[str, Session, list[Any]]]:
    """Both, and `more` servers, started side by side and stopped at the end, whatever happens.

    Gives Kafka's address, a session on Spark that puts the rows of SELECTs into `rows`, and the other servers.
    """
    from rowkind.broker import Broker
    from rowkind.broker.broker import classpath

    classpath()  # the first time this downloads, with a progress bar
    starts: Sequence[Callable[[], Any]] = (Broker.start, *more)
    with timed(screen, f"Starting {named}"), ThreadPoolExecutor(len(starts)) as beside, ExitStack() as started:
        servers = [beside.submit(start) for start in starts]
        for server in servers:
            started.callback(_stop, server)
        session = _session(folder, rows)
        started.callback(session.stop)
        _catch_signals()  # again: Spark has set a handler of its own
        broker, *others = (server.result() for server in servers)
        running = started.pop_all()
    with running:
        yield broker.bootstrap, session, others


def _stop(server: Future[Any]) -> None:
    server.result().stop()


def _session(folder: Path, rows: list[Row]) -> Session:
    from rowkind.runtime.driver.session import Session
    from rowkind.runtime.driver.spark import start_spark

    spark = start_spark(conf={"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder / "warehouse")})
    return Session(spark, owned=True, notify=lambda _: None, show=lambda _, shown: rows.extend(shown))


@contextmanager
def timed(screen: Console, what: str) -> Iterator[None]:
    screen.print(f"{what} …", end=" ")
    started = time.monotonic()
    yield
    screen.print(f"{time.monotonic() - started:.1f} s")


def read_back(rows: list[Row], *titles: str) -> Table:
    """What a SELECT has shown."""
    table = Table("op", *titles)
    for kind, values in sorted(rows, key=lambda row: str(row[1])):
        table.add_row(kind, *map(str, values))
    return table


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
