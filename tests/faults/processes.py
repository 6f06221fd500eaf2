"""Processes of a job, found by the session that they are in, and killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    command: str


def processes(session: int) -> list[Process]:
    """Everything that a command which leads a session has started, and what that has started."""
    return [p for p in _all() if p.session == session]


def _all() -> list[Process]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        found.append(Process(int(folder.name), int(fields[1]), int(fields[3]), command))
    return found


def workers(session: int) -> list[int]:
    """The Python workers of a job's tasks: forked by Spark's daemon, with its command line."""
    all_ = processes(session)
    daemons = {p.pid for p in all_ if "-m rowkind.runtime.worker.daemon" in p.command}
    return [p.pid for p in all_ if p.parent in daemons]


def kill(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    """kill -9, or another signal, of those that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def held(pids: Sequence[int]) -> Iterator[None]:
    """They stand still meanwhile."""
    kill(pids, signal.SIGSTOP)
    try:
        yield
    finally:
        kill(pids, signal.SIGCONT)


def children(pid: int) -> Iterator[int]:
    """All processes below one."""
    for found in _all():
        if found.parent == pid:
            yield found.pid
            yield from children(found.pid)


def memory(pid: int) -> float:
    """Resident memory that is not files', in MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon")), 0.0)


def share_of_memory(pid: int) -> float:
    """Memory that is not files', in MB; what a process shares with others counts in part for each."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:"))) / 1024


def open_files(pids: list[int]) -> int:
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue
    return count
