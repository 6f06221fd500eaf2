"""A single-node Apache Kafka in KRaft mode, started from locked jars."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from rowkind.broker.class_archive import reading
from rowkind.broker.data_lock import locked, wait_until_free
from rowkind.broker.download import fetch
from rowkind.broker.guard import guard
from rowkind.broker.java import require_java
from rowkind.broker.process import ServerProcess, spawn, wait_until
from rowkind.broker.settings import CLIENT_LISTENER, HOST, free_port, port_is_free, properties_text, server_properties
from rowkind.errors import RowkindError

HERE = Path(__file__).parent
LOCK = HERE / "jars.lock"
LOGGING = f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}"
JVM = (LOGGING, "-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
STARTED = "Kafka Server started"
START_SECONDS = 120
FREE_SECONDS = 5
PORT_ATTEMPTS = 3


def classpath() -> str:
    """Kafka's jars, fetched when they are not in the cache yet."""
    # without links: the archive of classes is for the paths that it was made with
    return os.pathsep.join(str(path.resolve()) for path in fetch(LOCK, "Apache Kafka"))


@dataclass(frozen=True, slots=True)
class Layout:
    """What a broker is started with, so that it can be started again the same way."""

    data: Path
    temporary: bool
    ports: dict[str, int] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)
    jvm: tuple[str, ...] = ()
    owner: int | None = None

    @property
    def log(self) -> Path:
        return self.data / "broker.log"


class Broker:
    """A running broker.

    >>> with Broker.start() as broker:  # doctest: +SKIP
    ...     print(broker.bootstrap)
    127.0.0.1:41235
    """

    def __init__(self, layout: Layout, process: ServerProcess) -> None:
        self._layout = layout
        self._process = process

    @classmethod
    def start(
        cls,
        port: int | None = None,
        data: Path | None = None,
        config: Mapping[str, str] | None = None,
        listeners: Sequence[str] = (),
        jvm: Sequence[str] = (),
        owner: int | None = None,
        detached: bool = False,
    ) -> Self:
        """Start a broker and wait until it serves.

        Without a port (or with 0) a free one is taken; without a data folder a temporary one, removed by `stop()`.
        `config` sets any Kafka server property. `listeners` adds further ones by protocol name (`SSL`, `SASL_SSL`, …),
        each on a free port that `address(name)` tells. `jvm` adds Java flags: the defaults start fast and stay small,
        a long benchmark may want `-XX:TieredStopAtLevel=4` and more heap. The broker ends with its owner, by default
        this process, even when that is killed; a detached one runs until it is stopped.
        """
        require_java()
        if port and not port_is_free(port):
            raise RowkindError("BROKER_PORT_IN_USE", port=port)
        folder = Path(data).absolute() if data else Path(tempfile.mkdtemp(prefix="rowkind-broker-"))
        folder.mkdir(parents=True, exist_ok=True)
        keeper = None if detached else owner or os.getpid()
        layout = Layout(folder, data is None, config=dict(config or {}), jvm=tuple(jvm), owner=keeper)
        for attempt in range(PORT_ATTEMPTS):
            names = [name for name in listeners if name != CLIENT_LISTENER]
            ports = {CLIENT_LISTENER: port or free_port(), **{name: free_port() for name in names}}
            layout = replace(layout, ports=ports)
            try:
                return cls(layout, _launch(layout))
            except RowkindError as error:
                # Between choosing a free port and binding it, somebody else may have taken it.
                if error.condition != "BROKER_PORT_IN_USE" or attempt + 1 == PORT_ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    @property
    def bootstrap(self) -> str:
        """The address to give to clients."""
        return self.address(CLIENT_LISTENER)

    def address(self, listener: str) -> str:
        """The address of one listener."""
        return f"{HOST}:{self._layout.ports[listener]}"

    @property
    def port(self) -> int:
        return self._layout.ports[CLIENT_LISTENER]

    @property
    def data(self) -> Path:
        return self._layout.data

    @property
    def temporary(self) -> bool:
        """Whether `stop()` removes the data."""
        return self._layout.temporary

    @property
    def log(self) -> Path:
        return self._layout.log

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.alive()

    def stop(self, keep: bool = False) -> None:
        """Shut down cleanly; a temporary data folder is removed, unless it is to be kept for `restart()`."""
        self._process.stop()
        self._free()
        if self.temporary and not keep:
            shutil.rmtree(self.data, ignore_errors=True)

    def kill(self) -> None:
        """End the broker without any shutdown, as a crash would; its data stays for `restart()`."""
        self._process.kill()
        self._free()

    def _free(self) -> None:
        wait_until_free(self.data, FREE_SECONDS)

    def restart(self) -> None:
        """Start again on the same port and data; a broker that still runs is stopped first."""
        self._process.stop()
        self._free()
        self._process = _launch(self._layout)

    def save(self, path: Path) -> None:
        """Write down which process this is, for another process to `load()`."""
        record = {"layout": asdict(self._layout), "process": asdict(self._process)}
        written = path.with_name(f"{path.name}.{os.getpid()}")
        written.write_text(json.dumps(record, default=str))
        written.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The broker that was saved there, running or not; nothing when there is no sound record."""
        try:
            record = json.loads(path.read_text())
            layout = Layout(**{**record["layout"], "data": Path(record["layout"]["data"])})
            return cls(layout, ServerProcess(**record["process"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _launch(layout: Layout) -> ServerProcess:
    """Start the server on its folder, which nobody else may use meanwhile, and wait until it serves."""
    with locked(layout.data) as lock:
        start = layout.log.stat().st_size if layout.log.exists() else 0
        process = _spawn(layout, lock)
    if layout.owner is not None:
        guard(process, layout.owner, layout.data if layout.temporary else None)
    try:
        wait_until(lambda: STARTED in _tail(layout.log, start) or not process.alive(), START_SECONDS)
    except BaseException:
        process.kill()
        raise
    if not process.alive() or STARTED not in _tail(layout.log, start):
        process.kill()
        raise _failure(layout, _tail(layout.log, start))
    return process


def _spawn(layout: Layout, lock: int) -> ServerProcess:
    """Write the settings, format the storage when it is new, start the server with the lock on its folder."""
    java = require_java()
    env = {"CLASSPATH": classpath()}
    properties = layout.data / "server.properties"
    ports = {**layout.ports, "CONTROLLER": free_port()}
    properties.write_text(properties_text(server_properties(ports, layout.data, layout.config)))
    properties.chmod(0o600)  # it may hold passwords
    if not (layout.data / "kafka" / "meta.properties").exists():
        _format(java, env, properties, layout.log, lock)
    mark = f"-Drowkind.broker={uuid4().hex}"
    command = [str(java), mark, *JVM, *reading(), *layout.jvm, "kafka.Kafka", str(properties)]
    return spawn(command, env, layout.log, mark, inherited=[lock])


def _format(java: Path, env: Mapping[str, str], properties: Path, log: Path, lock: int) -> None:
    tool = ["kafka.tools.StorageTool", "format", "--config", str(properties), "--cluster-id", _cluster_id()]
    done = subprocess.run(
        [str(java), *JVM, *reading(), *tool],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        pass_fds=[lock],
    )
    if done.returncode:
        log.write_text(done.stdout + done.stderr)
        raise RowkindError("BROKER_FAILED", reason=_reason(done.stdout + done.stderr), log=log)


def _cluster_id() -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(uuid4().bytes).decode().rstrip("=").replace("-", "A", 1)


def _failure(layout: Layout, log: str) -> RowkindError:
    if "Address already in use" in log:
        return RowkindError("BROKER_PORT_IN_USE", port=layout.ports[CLIENT_LISTENER])
    if "Failed to acquire lock on file" in log:
        return RowkindError("BROKER_DATA_IN_USE", data=layout.data)
    return RowkindError("BROKER_FAILED", reason=_reason(log), log=layout.log)


def _tail(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode("utf-8", "replace")


def _reason(log: str) -> str:
    """The line that explains a failure: the first exception, else the last thing said."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith("\tat ")]
    return next((line for line in lines if "Exception: " in line), lines[-1] if lines else "it said nothing")
