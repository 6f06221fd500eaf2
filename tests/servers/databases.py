"""The database servers of a test run: each of its workers has its own, since tests look at positions of the log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rowkind.broker.cache import exclusive
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor

WORKER, RUN_FOLDER = "PYTEST_XDIST_WORKER", "ROWKIND_TEST_RUN"


def database(flavor: Flavor, folder: Path, owner: int) -> DatabaseServer:
    """This worker's MariaDB or MySQL: the first that asks starts it."""
    record = _record(flavor, folder)
    with exclusive(record.with_suffix(".lock")):
        running = DatabaseServer.load(record)
        if running is None:
            running = DatabaseServer.start(flavor, owner=owner)
            running.save(record)
        return running


@contextmanager
def killed_and_restarted(server: DatabaseServer) -> Iterator[None]:
    """The run's server is gone meanwhile, as after a crash; others find it again afterwards."""
    server.kill()
    try:
        yield
    finally:
        server.restart()
        server.save(_record(server.flavor, Path(os.environ[RUN_FOLDER])))


def _record(flavor: Flavor, folder: Path) -> Path:
    return folder / f"{flavor}-{os.environ.get(WORKER, 'only')}.database.json"


def stop_databases(folder: Path) -> None:
    for record in folder.glob("*.database.json"):
        if running := DatabaseServer.load(record):
            running.stop()
