"""A server in a process of its own: found again by its mark, so that a recycled process id is never taken for it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.02
LONGEST_POLL_SECONDS = 0.25

# Own children are kept here: a dropped Popen could not be reaped.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running server; `mark` is a word on its command line that no other process has."""

    pid: int
    mark: str

    def alive(self) -> bool:
        """Whether the process still runs, and is the one that was started."""
        child = _children.get(self.pid)
        if child is not None:
            return child.poll() is None
        return self.mark in _command_line(self.pid)

    def stop(self, seconds: float = 30) -> None:
        """Ask it to end and wait; one that does not answer is killed."""
        self._signal(signal.SIGTERM)
        if not wait_until(lambda: not self.alive(), seconds):
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._signal(signal.SIGKILL)
        wait_until(lambda: not self.alive(), seconds=30)

    def _signal(self, number: signal.Signals) -> None:
        if self.alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def spawn(
    command: Sequence[str], env: Mapping[str, str], log: Path, mark: str, inherited: Sequence[int] = ()
) -> ServerProcess:
    """Start a server in a session of its own, so that it outlives this process and its Ctrl-C; output goes to `log`.

    It inherits the given file descriptors.
    """
    with log.open("ab") as out:
        child = subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            pass_fds=inherited,
        )
    _children[child.pid] = child
    return ServerProcess(child.pid, mark)


def running(pid: int) -> bool:
    """Whether a process exists and is more than a zombie."""
    return bool(_command_line(pid))


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll a condition until it holds or the time is over; says whether it held.

    A condition that takes long to look at is looked at less often: what it waits for needs the machine, too.
    """
    deadline = time.monotonic() + seconds
    asked = time.monotonic()
    while not condition():
        now = time.monotonic()
        if now > deadline:
            return False
        time.sleep(min(max(POLL_SECONDS, now - asked), LONGEST_POLL_SECONDS))
        asked = time.monotonic()
    return True


def _command_line(pid: int) -> str:
    """The command line of a process, empty when it is gone or a zombie."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
        except OSError:
            return ""
    listing = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listing.stdout
