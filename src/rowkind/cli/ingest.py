"""`rowkind ingest`: a YAML job that copies tables of a database into topics."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rowkind.cli.metrics import LogFile, LogSeconds, Serve, Watched, published
from rowkind.cli.run import Conf, Master, Variables, pairs, report
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.cli.console import Console
    from rowkind.ingest.description import IngestionJob

SHOWN = 20
"""Keys of a topic that differ."""

File = Annotated[Path, typer.Argument(help="A job file in YAML.", exists=True, dir_okay=False)]


def ingest(
    file: File,
    check: Annotated[
        bool,
        typer.Option("--check", help="Validate the job, look at the server, list tables and topics; no row is read."),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare each topic with its tables, and name the keys that differ.")
    ] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder for progress, to resume from; without it every run starts fresh."),
    ] = None,
    var: Variables = None,
    secrets: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Secrets as lines 'name: value', for ${secret_values.name}.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    master: Master = None,
    conf: Conf = None,
    metrics: Serve = None,
    metrics_log: LogSeconds = None,
    metrics_log_file: LogFile = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the whole stack of an error.")] = False,
) -> None:
    """Copy tables of a database into topics: first all rows, then every change.

    The job runs until Ctrl-C, which lets the batch under way finish.
    """
    from rowkind.cli.console import Console

    job = loaded(file, var, secrets, checkpoint)
    console = Console()
    for note in job.notes:
        console.notice(note)
    if check:
        sys.exit(_check(job))
    if verify:
        sys.exit(_verify(job, master, pairs(conf), console, verbose))
    with published(metrics, metrics_log, metrics_log_file, console.notice) as watched:
        code = _run(job, master, pairs(conf), console, watched, verbose)
    sys.exit(code)


def _check(job: IngestionJob) -> int:
    """Show what the job would do, and what is in its way."""
    from rowkind.ingest.preview import preview

    problems: list[RowkindError] = []
    for line in chain(shown(job), preview(job, problems)):
        say(line, sys.stdout)
    for problem in problems:
        say(problem, sys.stderr)
    return 1 if problems else 0


def _verify(job: IngestionJob, master: str | None, conf: dict[str, str], console: Console, verbose: bool) -> int:
    """Show what was found of each topic; the exit code says whether any differs."""
    from rowkind.runtime.driver.spark import start_spark

    spark = start_spark(master, conf)
    from rowkind.runtime.driver.ingest.verifying import Verifier

    code = 0
    try:
        for found in Verifier(spark, job, console.notice).topics():
            console.shown(list(verified_lines(found.topic, found.tables, found.rows, found.differences)))
            code = 1 if found.differences else code
        return code
    except RowkindError as error:
        report(error, error.__cause__ or error, verbose)
        return 2
    finally:
        with contextlib.suppress(Exception):  # Spark is gone already
            spark.stop()


def verified_lines(topic: str, tables: Sequence[str], rows: int, differences: Sequence[object]) -> Iterator[str]:
    """What was found of a topic."""
    named = ", ".join(tables)
    if not differences:
        yield f"topic {topic}: {rows:,} keys, as in {named}"
        return
    yield f"topic {topic}: {rows:,} keys, and {len(differences):,} differ from {named}"
    yield from (f"  {difference}" for difference in differences[:SHOWN])
    if len(differences) > SHOWN:
        yield f"  and {len(differences) - SHOWN:,} more"


def _run(
    job: IngestionJob, master: str | None, conf: dict[str, str], console: Console, watched: Watched, verbose: bool
) -> int:
    """Until the job has ended, or is told to by a signal; the exit code of the command."""
    from rowkind.runtime.driver.spark import start_spark
    from rowkind.runtime.driver.speculation import without_speculation

    settings, notes = without_speculation(conf)
    for note in notes:
        console.notice(note)
    spark = start_spark(master, settings)
    from rowkind.runtime.driver.ingest.running import RunningIngestion
    from rowkind.runtime.driver.job import wait_for

    stop = threading.Event()
    # After Spark has started, which sets handlers of its own: the batch under way is finished first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        running = RunningIngestion(spark, job, console.notice, show=console.shown).start()
        watched.jobs = [running]
        with console.progress([running]):
            wait_for([running], stop)
        if running.error is not None:
            report(running.error, running.cause, verbose)
        return 0 if running.error is None else 1
    except RowkindError as error:
        report(error, error.__cause__ or error, verbose)
        return 1
    finally:
        with contextlib.suppress(Exception):  # Spark is gone already
            spark.stop()


def loaded(file: Path, var: list[str] | None, secrets: Path | None, checkpoint: str | None) -> IngestionJob:
    """The validated job of a file."""
    from rowkind.ingest.loading import load_job
    from rowkind.ingest.variables import ENVIRONMENT, Variables, read_secrets

    environment = {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT)}
    variables = Variables(pairs(var), read_secrets(secrets) if secrets else {}, environment)
    return load_job(file, variables, checkpoint)


def shown(job: IngestionJob) -> list[str]:
    """The job in lines, secrets crossed out."""
    described = job.to_json()
    lines = [f"job {job.name}"]
    for section in ("source", "sink", "pipeline"):
        lines += [f"{section}:", *(f"  {key}: {value}" for key, value in described[section].items())]
    for section in ("route", "transform"):
        for rule in described[section]:
            lines += [f"{section}:", *(f"  {key}: {value}" for key, value in rule.items())]
    return lines
