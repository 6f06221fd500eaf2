"""The database servers of a test run: each of its workers has its own, since tests look at positions of the log."""

from __future__ import annotations

import os
from pathlib import Path

from rowkind.broker.cache import exclusive
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor

WORKER = "PYTEST_XDIST_WORKER"


def database(flavor: Flavor, folder: Path, owner: int) -> DatabaseServer:
    """This worker's MariaDB or MySQL: the first that asks starts it."""
    name = f"{flavor}-{os.environ.get(WORKER, 'only')}.database"
    record = folder / f"{name}.json"
    with exclusive(folder / f"{name}.lock"):
        running = DatabaseServer.load(record)
        if running is None:
            running = DatabaseServer.start(flavor, owner=owner)
            running.save(record)
        return running


def stop_databases(folder: Path) -> None:
    for record in folder.glob("*.database.json"):
        if running := DatabaseServer.load(record):
            running.stop()
