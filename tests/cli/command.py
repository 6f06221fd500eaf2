"""The `rowkind` command as a process of its own, as a user starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rowkind.broker.process import wait_until
from tests.faults import processes as running

SECONDS = 900
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}
"""Java does not live long enough here for its second compiler to pay: it would take half of the machine."""


@dataclass
class Command:
    """A command under way. Its output goes to files, so that it never waits for a reader."""

    process: subprocess.Popen[bytes]
    folder: Path
    signals: list[int] = field(default_factory=list)

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text()

    def wait(self) -> int:
        return self.process.wait(SECONDS)

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition; a command that ends before it fails the test."""

        def holds() -> bool:
            if condition():
                return True
            assert self.process.poll() is None, f"it ended: {self.err}"
            return False

        assert wait_until(holds, SECONDS), f"it did not happen: {self.err}"

    def kill_java(self) -> None:
        """kill -9 of the JVM alone, which is a child of the command."""
        children = [p for p in running.processes(self.process.pid) if p.parent == self.process.pid]
        running.kill(p.pid for p in children if p.command.partition(" ")[0].endswith("/java"))

    def signal(self, number: int) -> None:
        """To the whole group, as a terminal does."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """kill -9 of all that is left of it, also when the command itself is dead already."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)


@contextmanager
def started(
    folder: Path, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[Command]:
    """Start `rowkind ARGUMENTS` in a process group of its own; nothing of it is left afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", "from rowkind.cli import main; main()", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env={**os.environ, **SHORT_LIVED, **(env or {})},
            start_new_session=True,
        )
    try:
        yield Command(process, folder)
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of the command and of the JVM that it started; Python workers end with the JVM."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(SECONDS)


def run(folder: Path, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Command:
    """Start a command and wait for its end."""
    with started(folder, *arguments, cwd=cwd, env=env) as command:
        command.wait()
        return command
