"""`rowkind broker`: a local Apache Kafka to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rowkind.broker import Broker

DEFAULT_PORT = 9092  # stated here too: the help must not import the broker

app = typer.Typer(help="A local Apache Kafka to try things on.", no_args_is_help=True)


@app.command()
def start(
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", show_default=str(DEFAULT_PORT))
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder that keeps the data between runs.")] = None,
) -> None:
    """Start the broker, unless it runs already. Without --data it forgets everything when it stops."""
    from rowkind.broker.local import start_local

    broker, started = start_local(port, data)
    _describe(broker, "Kafka is running" if started else "Kafka was already running")


@app.command()
def stop() -> None:
    """Stop the broker."""
    from rowkind.broker.local import stop_local

    broker = stop_local()
    if broker is None:
        print("No broker is running.")
    elif broker.temporary:
        print(f"Stopped the broker at {broker.bootstrap}; its data is gone.")
    else:
        print(f"Stopped the broker at {broker.bootstrap}; its data stays in {broker.data}.")


@app.command()
def status() -> None:
    """Say whether the broker runs, and where; exit code 3 when it does not."""
    from rowkind.broker.local import running_local

    broker = running_local()
    if broker is None:
        print("No broker is running.")
        raise typer.Exit(3)
    _describe(broker, "Kafka is running")


def _describe(broker: Broker, state: str) -> None:
    print(f"{state} at {broker.bootstrap}")
    print(f"  data  {broker.data}{' (removed at stop)' if broker.temporary else ''}")
    print(f"  log   {broker.log}")
    print(f"  pid   {broker.pid}")
