"""A worker gives back what a task has left behind."""

from __future__ import annotations

import pyarrow as pa

from rowkind.runtime.memory import KEPT, give_back_memory, resident


def test_what_was_freed_goes_back_to_the_system() -> None:
    held = [pa.allocate_buffer(1024 * 1024) for _ in range(3 * KEPT // 1024**2)]
    for buffer in held:
        memoryview(buffer).cast("B")[::4096] = bytes(256)
    full = resident()
    del buffer
    held.clear()
    give_back_memory()
    assert full - resident() > 2 * KEPT
