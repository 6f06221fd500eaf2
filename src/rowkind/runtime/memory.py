"""Memory of a Python worker: what a task no longer needs goes back to the system.

Arrow and the C library keep what is freed, each for itself and for each thread: after messages of some megabytes that
is several times what a task holds at once.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pyarrow as pa

KEEPS = "ROWKIND_WORKER_KEEPS"
"""The variable that tells workers how many bytes to keep."""
KEPT = 128 * 1024 * 1024
"""A worker that has more beside what Arrow uses gives back what is free. The next task asks for it again, which takes
30 ms for 300 MB: a small machine must pay that, and others need not.
"""
HEAPS = 5
"""With a larger Java heap a worker keeps more: this part of it."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_statm = Path("/proc/self/statm")
_libc = ctypes.CDLL(None)


def kept_by_workers(heap: int) -> str:
    """For the environment of workers, on the driver."""
    return str(max(KEPT, heap // HEAPS))


def give_back_memory() -> None:
    """At the end of a task."""
    pool = pa.default_memory_pool()
    if resident() - pool.bytes_allocated() > int(os.environ.get(KEEPS, KEPT)):
        pool.release_unused()
        if hasattr(_libc, "malloc_trim"):
            _libc.malloc_trim(0)


def resident() -> int:
    """Memory that is not files'."""
    try:
        _, resident, shared, *_ = map(int, _statm.read_text().split())
    except OSError:
        return 0
    return (resident - shared) * _PAGE
