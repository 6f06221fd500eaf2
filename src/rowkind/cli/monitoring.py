"""`rowkind metrics`: what monitoring systems need and comes with the package."""

from __future__ import annotations

from importlib import resources
from typing import Annotated

import typer

File = Annotated[
    typer.FileTextWrite, typer.Argument(help="The file to write; - for standard output.", encoding="utf-8")
]

app = typer.Typer(help="Alert rules and a dashboard for the metrics of `rowkind run --metrics`.", no_args_is_help=True)


@app.command()
def alerts(file: File) -> None:
    """Write alert rules for Prometheus."""
    _write("alerts.yml", file)


@app.command()
def dashboard(file: File) -> None:
    """Write a dashboard for Grafana, to be imported there."""
    _write("grafana-dashboard.json", file)


def _write(resource: str, file: typer.FileTextWrite) -> None:
    file.write(resources.files("rowkind.metrics").joinpath(resource).read_text("utf-8"))
    file.flush()
