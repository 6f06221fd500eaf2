"""A MariaDB or MySQL of one's own, with a binlog: started from an empty data folder, removed when stopped."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from rowkind.broker.guard import guard
from rowkind.broker.process import ServerProcess, spawn, wait_until
from rowkind.broker.settings import HOST, free_port
from rowkind.demo_servers.database_programs import Flavor, Programs, programs
from rowkind.errors import RowkindError

START_SECONDS = 120
PORT_ATTEMPTS = 3
SETTINGS = {
    "server-id": "1",
    "log-bin": "binlog",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "innodb-buffer-pool-size": "64M",
    "innodb-flush-log-at-trx-commit": "2",
    "innodb-log-file-size": "32M",
    "sync-binlog": "0",
    "character-set-server": "utf8mb4",
    "max-allowed-packet": "128M",
}
OF_FLAVOR = {
    Flavor.MARIADB: {"gtid-strict-mode": "1"},
    Flavor.MYSQL: {"gtid-mode": "ON", "enforce-gtid-consistency": "ON", "mysqlx": "0"},
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a server is started with, so that it can be started again the same way."""

    flavor: Flavor
    data: Path
    port: int
    owner: int | None
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.data / "server.log"


class DatabaseServer:
    """A running server; its user `root` has no password.

    >>> with DatabaseServer.start(Flavor.MARIADB) as server:  # doctest: +SKIP
    ...     print(server.port)
    41235
    """

    host = HOST
    user = "root"
    password = ""

    def __init__(self, layout: Layout, process: ServerProcess) -> None:
        self._layout = layout
        self._process = process

    @classmethod
    def start(cls, flavor: Flavor, settings: Mapping[str, str] | None = None, owner: int | None = None) -> Self:
        """Start a server in a temporary folder and wait until it serves; `settings` are options of its command line.

        It ends with its owner, by default this process, even when that is killed.
        """
        program = programs(flavor)
        folder = Path(tempfile.mkdtemp(prefix=f"rowkind-{flavor}-"))
        try:
            program.initialise(folder / "data", _created(folder / "data").with_name("initialise.log"))
            for attempt in range(PORT_ATTEMPTS):
                layout = Layout(flavor, folder, free_port(), owner or os.getpid(), dict(settings or {}))
                # Between choosing a free port and binding it, somebody else may have taken it.
                if process := _launch(program, layout, last=attempt + 1 == PORT_ATTEMPTS):
                    return cls(layout, process)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        raise AssertionError("unreachable")

    @property
    def flavor(self) -> Flavor:
        return self._layout.flavor

    @property
    def port(self) -> int:
        return self._layout.port

    @property
    def data(self) -> Path:
        """The folder of its tables and its binlog."""
        return self._layout.data / "data"

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.alive()

    def stop(self) -> None:
        """Shut down and remove its data."""
        self._process.stop()
        shutil.rmtree(self._layout.data, ignore_errors=True)

    def kill(self) -> None:
        """End it as a crash would; its data stays for `restart()`."""
        self._process.kill()

    def restart(self) -> None:
        """Start again on the same port and data; a server that still runs is shut down first."""
        self._process.stop()
        process = _launch(programs(self.flavor), self._layout, last=True)
        assert process
        self._process = process

    def save(self, path: Path) -> None:
        """Write down which process this is, for another process to `load()`."""
        record = {"layout": asdict(self._layout), "process": asdict(self._process)}
        path.write_text(json.dumps(record, default=str))

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The server that was saved there, or nothing when none was or it no longer runs."""
        if not path.exists():
            return None
        record = json.loads(path.read_text())
        layout = record["layout"]
        place = {"flavor": Flavor(layout["flavor"]), "data": Path(layout["data"])}
        server = cls(Layout(**{**layout, **place}), ServerProcess(**record["process"]))
        return server if server.alive() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _created(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _launch(program: Programs, layout: Layout, last: bool) -> ServerProcess | None:
    """Start the daemon; None when it ended at once and another port is to be tried."""
    places = {
        "port": str(layout.port),
        "bind-address": HOST,
        "socket": str(layout.data / "socket"),
        "pid-file": str(layout.data / "pid"),
    }
    given = {**SETTINGS, **OF_FLAVOR[layout.flavor], **layout.settings, **places}
    flags = [f"--{name}={value}" for name, value in given.items()]
    mark = f"--pid-file={layout.data / 'pid'}"
    command = [*program.command(layout.data / "data"), *flags]
    process = spawn(command, program.environment, layout.log, mark)
    if layout.owner is not None:
        guard(process, layout.owner, layout.data)
    wait_until(lambda: _serves(layout.port) or not process.alive(), START_SECONDS)
    if process.alive() and _serves(layout.port):
        return process
    process.kill()
    text = layout.log.read_text("utf-8", "replace")
    if not last and "port" in text.lower() and "in use" in text.lower():
        return None
    raise RowkindError("SERVER_DID_NOT_START", server=layout.flavor, log=text[-2000:])


def _serves(port: int) -> bool:
    import pymysql

    try:
        pymysql.connect(host=HOST, port=port, user="root", connect_timeout=5).close()
    except pymysql.MySQLError:
        return False
    return True
