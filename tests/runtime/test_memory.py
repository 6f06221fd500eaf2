"""A worker gives back what a task has left behind."""

from __future__ import annotations

import pyarrow as pa
import pytest

from rowkind.runtime.memory import KEEPS, KEPT, give_back_memory, kept_by_workers, resident


def test_workers_keep_more_where_java_has_more() -> None:
    assert [int(kept_by_workers(heap * 1024**2)) // 1024**2 for heap in (256, 640, 2048)] == [128, 128, 409]


@pytest.mark.parametrize("keeps", [None, 20 * KEPT])
def test_what_was_freed_goes_back_to_the_system(keeps: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if keeps is not None:
        monkeypatch.setenv(KEEPS, str(keeps))
    held = [pa.allocate_buffer(1024 * 1024) for _ in range(3 * KEPT // 1024**2)]
    for buffer in held:
        memoryview(buffer).cast("B")[::4096] = bytes(256)
    full = resident()
    del buffer
    held.clear()
    give_back_memory()
    assert (full - resident() > 2 * KEPT) is (keeps is None)
    monkeypatch.delenv(KEEPS, raising=False)
    give_back_memory()
