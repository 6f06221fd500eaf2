"""The one broker of this user, which `rowkind broker start` leaves running."""

from __future__ import annotations

from pathlib import Path

from rowkind.broker.broker import Broker
from rowkind.broker.cache import cache_dir, exclusive
from rowkind.broker.java import require_java
from rowkind.errors import RowkindError

DEFAULT_PORT = 9092


def start_local(port: int | None = None, data: Path | None = None) -> tuple[Broker, bool]:
    """The running broker, and whether this call has started it. One that runs otherwise than asked for is an error."""
    require_java()
    with exclusive(_folder() / "lock"):
        running = running_local()
        if running is not None:
            _same_as_asked(running, port, data)
            return running, False
        _clear_record()
        broker = Broker.start(DEFAULT_PORT if port is None else port, data, detached=True)
        broker.save(_record())
        return broker, True


def running_local() -> Broker | None:
    """The broker that runs now, if any; a record left by a crash does not count."""
    broker = Broker.load(_record())
    return broker if broker is not None and broker.alive() else None


def stop_local() -> Broker | None:
    """Stop the broker; returns the one that was stopped."""
    with exclusive(_folder() / "lock"):
        running = running_local()
        _clear_record()
        return running


def _same_as_asked(running: Broker, port: int | None, data: Path | None) -> None:
    other_port = bool(port) and port != running.port
    other_data = data is not None and data.resolve() != running.data.resolve()
    if other_port or other_data:
        asked = [f"port {port}"] * other_port + [f"data in {data}"] * other_data
        raise RowkindError(
            "BROKER_RUNS_ELSEWHERE", bootstrap=running.bootstrap, data=running.data, asked=", ".join(asked)
        )


def _clear_record() -> None:
    """Stop what is on record; this also removes the temporary data that a crashed broker has left."""
    if broker := Broker.load(_record()):
        broker.stop()
    _record().unlink(missing_ok=True)


def _folder() -> Path:
    return cache_dir("broker")


def _record() -> Path:
    return _folder() / "running.json"
