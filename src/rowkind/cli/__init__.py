"""The `rowkind` command. Each sub-command is a file here; what it needs is imported when it runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rowkind.cli import broker, demo, demo_ingest, help, ingest, monitoring, run, topic, warm_up
from rowkind.cli.shell import command as shell
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError
from rowkind.version import version

app = typer.Typer(
    name="rowkind",
    help="Changelog tables on Kafka, for Spark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(broker.app, name="broker")
app.add_typer(topic.app, name="topic")
app.add_typer(monitoring.app, name="metrics")
app.command()(run.run)
app.command()(run.explain)
app.command()(shell.sql)
app.command()(ingest.ingest)
app.command()(demo.demo)
app.command()(demo_ingest.demo_ingest)
app.command()(warm_up.warm_up)
app.command()(help.help)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(version())
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Changelog tables on Kafka, for Spark."""


def main() -> None:
    """Run the command line; a named error is one short text on stderr and exit code 1."""
    try:
        app()
    except RowkindError as error:
        say(error, sys.stderr)
        sys.exit(1)
