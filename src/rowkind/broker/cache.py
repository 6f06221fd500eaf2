"""Where rowkind keeps what it has fetched: `ROWKIND_CACHE`, else the XDG cache folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir(*parts: str) -> Path:
    """A folder in the cache, created when missing."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rowkind")
    folder = Path(os.environ.get("ROWKIND_CACHE") or default, *parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file, waiting for whichever process has it; the lock dies with its process."""
    import fcntl

    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
