"""The `rowkind` command. Each sub-command is a file here; what it needs is imported when it runs."""

from __future__ import annotations

import sys

import typer

from rowkind.cli import broker, demo, ingest, run, warm_up
from rowkind.cli.terminal import say
from rowkind.errors import RowkindError

app = typer.Typer(
    name="rowkind",
    help="Changelog tables on Kafka, for Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(broker.app, name="broker")
app.command()(run.run)
app.command()(run.explain)
app.command()(ingest.ingest)
app.command()(demo.demo)
app.command()(warm_up.warm_up)


def main() -> None:
    """Run the command line; a named error is one short text on stderr and exit code 1."""
    try:
        app()
    except RowkindError as error:
        say(error, sys.stderr)
        sys.exit(1)
