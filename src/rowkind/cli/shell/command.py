"""The command `rowkind sql`."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from rowkind.cli.layouts import Format, OutputFormat
from rowkind.cli.run import Conf, Master, Settings, Variables, pairs, read_script
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.cli.shell.client import Client
    from rowkind.runtime.driver.session import Session

T = TypeVar("T")
Init = Annotated[
    Path | None,
    typer.Option("--init", "-i", metavar="FILE", help="A script to run first, such as tables.", exists=True),
]


def sql(
    script: Annotated[
        str | None, typer.Argument(metavar="[-]", help="`-` reads statements from standard input.")
    ] = None,
    init: Init = None,
    execute: Annotated[str | None, typer.Option("--execute", "-e", metavar="SQL", help="Run this, then end.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Run this script, then end.", exists=True)
    ] = None,
    checkpoint: Annotated[str | None, typer.Option(metavar="DIR", help="Folder for progress and state.")] = None,
    var: Variables = None,
    set: Settings = None,
    master: Master = None,
    conf: Conf = None,
    format: Format = OutputFormat.TABLE,
) -> None:
    """A shell for SQL: queries that show their rows as they change, jobs in the background."""
    given = pairs(var), pairs(set), pairs(conf)
    text = (
        execute if execute is not None else read_script(file) if file else sys.stdin.read() if script == "-" else None
    )
    starting: Future[Session] = Future()
    made: list[Client] = []
    in_background(starting, lambda: _session(made, checkpoint, master, given[1], given[2]))
    if text is None and sys.stdin.isatty():
        code = _interactive(made, starting, init, given[0], format)
    else:
        client = _client(made, starting, given[0], format)
        code = _batch(client, init, sys.stdin.read() if text is None else text, str(file) if file else None)
    _end(starting)
    sys.stdout.flush()
    os._exit(code) if not starting.done() else sys.exit(code)


def in_background(future: Future[T], work: Callable[[], T]) -> None:
    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="rowkind start", daemon=True).start()


def _session(
    made: list[Client], checkpoint: str | None, master: str | None, settings: dict[str, str], conf: dict[str, str]
) -> Session:
    from rowkind.runtime.driver.spark import start_spark

    spark = start_spark(master, conf)
    from rowkind.runtime.driver.session import Session

    session = Session(
        spark,
        checkpoint,
        notify=lambda text: made[0].console.notice(text),
        show=lambda titles, rows: made[0].show(titles, rows),
        announce=lambda fields: made[0].announce(fields),
        as_text=True,
        owned=True,
    )
    for key, value in settings.items():
        session.set(key, value)
    return session


def _client(made: list[Client], starting: Future[Session], variables: dict[str, str], format: OutputFormat) -> Client:
    from rowkind.cli.console import Console
    from rowkind.cli.shell.client import Client

    console = Console(err=sys.stdout if sys.stdout.isatty() else None, format=format)
    made.append(Client(starting, console, format, variables))
    return made[0]


def _batch(client: Client, init: Path | None, text: str, file: str | None) -> int:
    """Statements one after the other; then until all jobs have ended."""
    try:
        if init:
            client.run(read_script(init), str(init))
        if client.run(text, file) and client.starting.done():
            for job in client.session.jobs:
                job.wait()
    except RowkindError as error:
        say(error, sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _interactive(
    made: list[Client], starting: Future[Session], init: Path | None, variables: dict[str, str], format: OutputFormat
) -> int:
    """The prompt first: what a statement needs is imported while it waits for one."""
    from rowkind.cli.shell.prompt import prompt_session

    client: Future[Client] = Future()
    in_background(client, lambda: _client(made, starting, variables, format))
    session = prompt_session(lambda: _names(starting), lambda: _options(starting))
    if init:
        _attempt(client.result(), read_script(init), str(init))
    print("rowkind: \\h for help, \\q to leave. Spark starts in the background.")
    while True:
        try:
            text = session.prompt()
            if text.strip() and not _attempt(client.result(), text):
                return 0
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0


def _attempt(client: Client, text: str, file: str | None = None) -> bool:
    try:
        return client.run(text, file)
    except RowkindError as error:
        say(error, sys.stdout)
        return True


def _names(starting: Future[Session]) -> list[str]:
    if not starting.done() or starting.exception() is not None:
        return []
    from rowkind.plan.expressions.functions.all import FUNCTIONS

    catalog = starting.result().catalog
    columns = {
        c.name for name in catalog.names() for c in getattr(catalog.find(name), "columns", ()) if hasattr(c, "name")
    }
    return [*FUNCTIONS, *catalog.names(), *columns]


def _options(starting: Future[Session]) -> dict[str, tuple[str, ...]]:
    """Options of tables and of the session, with the values of those that have a list of them."""
    if not starting.done():
        return {}
    from rowkind.connectors.registry import connector_named
    from rowkind.connectors.registry import names as connectors
    from rowkind.formats.registry import names as formats
    from rowkind.options.session_options import SESSION

    options = [*(o for name in connectors() for o in connector_named(name, "").options.all), *SESSION]
    known = {o.name: _values(o.kind) for o in options}
    encodings = dict.fromkeys(("format", "key.format", "value.format"), tuple(formats()))
    return known | encodings | {"connector": tuple(connectors())}


def _values(kind: str) -> tuple[str, ...]:
    return ("true", "false") if kind == "boolean" else ()


def _end(starting: Future[Session]) -> None:
    if starting.done() and starting.exception() is None:
        starting.result().stop()
