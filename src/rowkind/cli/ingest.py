"""`rowkind ingest`: a YAML job that copies tables of a database into topics."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rowkind.cli.run import Master, Variables, pairs
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    from rowkind.ingest.description import IngestionJob

File = Annotated[Path, typer.Argument(help="A job file in YAML.", exists=True, dir_okay=False)]


def ingest(
    file: File,
    check: Annotated[
        bool, typer.Option("--check", help="Validate the job and show it, without reading a row.")
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
    metrics: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Where to serve metrics.")] = None,
) -> None:
    """Copy tables of a database into topics: first all rows, then every change."""
    job = loaded(file, var, secrets, checkpoint)
    for note in job.notes:
        say(note, sys.stderr)
    if not check:
        raise RowkindError("INGEST_CANNOT_RUN_YET", file=str(file))
    for line in shown(job):
        say(line, sys.stdout)


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
