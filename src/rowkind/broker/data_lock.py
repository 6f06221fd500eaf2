"""A data folder belongs to one broker: a lock on the folder itself, held by every process that was given it.

The lock is taken before anything in the folder is touched, and nothing is written for it. The broker's Java inherits
it, so it ends with the broker and not with the command that has started it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rowkind.broker.process import wait_until
from rowkind.errors import RowkindError


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Lock a folder or refuse it by name; yields the file descriptor that a process has to inherit to keep the lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if not _lock(descriptor):
            raise RowkindError("BROKER_DATA_IN_USE", data=folder)
        yield descriptor
    finally:
        os.close(descriptor)


def wait_until_free(folder: Path, seconds: float) -> bool:
    """Wait for the end of a process that is being ended: its command line is gone a moment before its files are."""
    return wait_until(lambda: _is_free(folder), seconds)


def _is_free(folder: Path) -> bool:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        return _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
