"""`rowkind run` and `rowkind explain`: a SQL script on Spark."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rowkind.cli.layouts import Format, OutputFormat
from rowkind.cli.metrics import LogFile, LogSeconds, Serve, published
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.cli.console import Console
    from rowkind.runtime.driver.resuming import Resuming
    from rowkind.runtime.driver.session import Session

File = Annotated[Path, typer.Argument(help="A script of Flink SQL statements.", exists=True, dir_okay=False)]
Init = Annotated[
    Path | None,
    typer.Option(
        "--init", "-i", metavar="FILE", help="A script to run first, such as tables.", exists=True, dir_okay=False
    ),
]
Variables = Annotated[list[str] | None, typer.Option("--var", metavar="NAME=VALUE", help="Value of ${NAME}.")]
Secrets = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Secrets as lines 'name: value', for ${secret_values.name}.", exists=True, dir_okay=False
    ),
]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="As SET 'KEY' = 'VALUE'.")]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Spark master; a local Spark of its own otherwise.")]
Conf = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark.")]


def run(
    file: File,
    init: Init = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder for progress and state, to resume from; without it every run starts fresh."
        ),
    ] = None,
    var: Variables = None,
    secrets: Secrets = None,
    set: Settings = None,
    master: Master = None,
    conf: Conf = None,
    rewind: Annotated[
        bool,
        typer.Option(
            "--rewind",
            help="Go on from a checkpoint that is older than its sinks: what they got since is written again.",
        ),
    ] = False,
    drain: Annotated[
        bool, typer.Option("--drain", help="Only finish the batch that was under way when the job ended.")
    ] = False,
    metrics: Serve = None,
    metrics_log: LogSeconds = None,
    metrics_log_file: LogFile = None,
    format: Format = OutputFormat.TABLE,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the whole stack of an error.")] = False,
) -> None:
    """Run a SQL script: each INSERT or statement set is one streaming job.

    Jobs run side by side until they end, or until Ctrl-C, which lets the batch under way finish.
    """
    from rowkind.cli.console import Console
    from rowkind.runtime.driver.resuming import Resuming

    resuming = Resuming(rewind, drain)
    resuming.check(checkpoint)
    scripts = checked([part for part in (init, file) if part], var, set, secrets)
    if not any(text.strip() for _, text in scripts):
        return
    console = Console(format=format)
    with published(metrics, metrics_log, metrics_log_file, console.notice) as watched:
        session = _session(checkpoint, set, master, conf, console, resuming)
        watched.jobs = session.jobs
        code = _run(session, scripts, console, verbose)
    sys.exit(code)


def _run(session: Session, scripts: list[tuple[Path, str]], console: Console, verbose: bool) -> int:
    """Until all jobs have ended, or are told to by a signal; the exit code of the command."""
    stop = threading.Event()

    def finish(*_: object) -> None:
        stop.set()
        session.stop_jobs()

    # After Spark has started, which sets handlers of its own: the batch under way is finished first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, finish)
    try:
        play(session, scripts, console, stop)
        failed = [job for job in session.jobs if job.error is not None]
        for job in failed:
            report(job.error, job.cause, verbose)
        return 1 if failed else 0
    except RowkindError as error:
        report(error, error.__cause__ or error, verbose)
        return 1
    finally:
        session.stop()


def play(session: Session, scripts: list[tuple[Path, str]], console: Console, stop: threading.Event) -> None:
    """Run checked scripts one after the other, and wait until all their jobs have ended."""
    from rowkind.runtime.driver.job import wait_for
    from rowkind.runtime.driver.session import Selection

    with console.progress(session.jobs):
        for answer in (answer for file, text in scripts for answer in session.execute(text, file=str(file))):
            console.answer(answer)
            if isinstance(answer, Selection):
                wait_for([answer.job], stop)
                console.selected(answer)
            if stop.is_set():
                break
        wait_for(session.jobs, stop)


def explain(
    file: File, init: Init = None, var: Variables = None, secrets: Secrets = None, set: Settings = None
) -> None:
    """Show the plan of every query in a script, without running any."""
    from rowkind.cli.console import Console
    from rowkind.sql import parse_script
    from rowkind.sql import statements as s

    scripts = checked([part for part in (init, file) if part], var, set, secrets)
    console = Console()
    session = _session(None, set, None, None, console)
    try:
        for part, text in scripts:
            for statement in parse_script(text, str(part)):
                if isinstance(statement, (s.Select, s.Insert, s.StatementSet)):
                    statement = s.Explain(statement.text, statement.line, statement.column, statement)
                console.answer(session.run_statement(statement, text, str(part)))
    finally:
        session.stop()


def checked(
    files: Sequence[Path], variables: list[str] | None, settings: list[str] | None, secrets: Path | None = None
) -> list[tuple[Path, str]]:
    """Scripts with their variables filled in. What is wrong with them or the arguments is told before Spark starts."""
    from rowkind.catalog.catalog import Catalog
    from rowkind.cli.script_variables import ScriptVariables, secrets_of
    from rowkind.options.session_values import SessionOptions
    from rowkind.runtime.driver.checking import Check, WithoutSpark
    from rowkind.sql import parse_script, substitute

    known = ScriptVariables(pairs(variables), secrets_of(secrets))
    options = SessionOptions()
    for key, value in pairs(settings).items():
        options, _ = options.set(key, value)
    check = Check(Catalog(), options, WithoutSpark())
    found = []
    for file in files:
        text = substitute(read_script(file), known, str(file))
        statements = parse_script(text, str(file))
        check.run(statements, text, str(file))
        found.append((file, text if statements else ""))
    return found


def read_script(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RowkindError("SCRIPT_NOT_UTF8", file=str(file), line=line) from None


def _session(
    checkpoint: str | None,
    settings: list[str] | None,
    master: str | None,
    conf: list[str] | None,
    console: object,
    resuming: Resuming | None = None,
) -> Session:
    from rowkind.runtime.driver.spark import start_spark
    from rowkind.runtime.driver.speculation import without_speculation

    spark_settings, notes = without_speculation(pairs(conf))
    for note in notes:
        console.notice(note)  # type: ignore[attr-defined]
    # Java starts meanwhile; what is imported here only waits for a thread to be done with it.
    threading.Thread(target=import_module, args=("rowkind.runtime.driver.session",), daemon=True).start()
    spark = start_spark(master, spark_settings)
    from rowkind.runtime.driver.session import Session

    session = Session(
        spark,
        checkpoint,
        notify=console.notice,  # type: ignore[attr-defined]
        show=console.rows,  # type: ignore[attr-defined]
        as_text=True,
        announce=console.announce,  # type: ignore[attr-defined]
        owned=True,
        rewind=resuming is not None and resuming.rewind,
        drain=resuming is not None and resuming.drain,
    )
    for key, value in pairs(settings).items():
        session.set(key, value)
    return session


def pairs(given: list[str] | None) -> dict[str, str]:
    """`NAME=VALUE` arguments as a mapping."""
    found = {}
    for text in given or []:
        name, sign, value = text.partition("=")
        if not sign:
            raise RowkindError("ARGUMENT_NOT_A_PAIR", argument=text)
        found[name] = value
    return found


def report(error: BaseException | None, cause: BaseException | None, verbose: bool) -> None:
    if verbose and cause is not None:
        say("".join(traceback.format_exception(cause)).rstrip("\n"), sys.stderr)
        if java := getattr(cause, "_stackTrace", None):
            say(java, sys.stderr)
    say(error, sys.stderr)
