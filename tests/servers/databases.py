"""The database servers that all workers of one test run share."""

from __future__ import annotations

from pathlib import Path

from rowkind.broker.cache import exclusive
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor


def database(flavor: Flavor, folder: Path, owner: int) -> DatabaseServer:
    """The run's MariaDB or MySQL: the first that asks starts it."""
    record = folder / f"{flavor}.json"
    with exclusive(folder / f"{flavor}.lock"):
        running = DatabaseServer.load(record)
        if running is None:
            running = DatabaseServer.start(flavor, owner=owner)
            running.save(record)
        return running


def stop_databases(folder: Path) -> None:
    for flavor in Flavor:
        if running := DatabaseServer.load(folder / f"{flavor}.json"):
            running.stop()
