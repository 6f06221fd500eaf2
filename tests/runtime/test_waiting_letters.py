"""Dead letters that wait in the checkpoint: on a full disk, and of a batch that is planned anew."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.connectors.kafka.dead_letters import letters
from rowkind.connectors.kafka.messages import Diverted
from rowkind.errors import RowkindError
from rowkind.runtime.dead_letters import DeadLetters
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.resuming import Standing


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """The system refuses to make files larger, as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def letter(size: int) -> pa.RecordBatch:
    return letters([Diverted(b"key", b"v" * size, [])])


@pytest.mark.parametrize("sizes", [[1_000_000], [10, 1_000_000], [10] * 1000], ids=["first", "second", "many"])
def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path: Path, sizes: list[int]) -> None:
    waiting = DeadLetters(str(tmp_path / "dead-letters"), 3)

    def put() -> None:
        with waiting.of_task(0, 0) as aside:
            for size in sizes:
                aside(letter(size))

    with pytest.raises(RowkindError) as failed, no_room(100_000):
        put()
    assert failed.value.condition == "CHECKPOINT_NOT_WRITTEN"
    assert "dead-letters/3-0-0.arrow" in str(failed.value)
    assert list((tmp_path / "dead-letters").iterdir()) == []
    put()
    assert [file.name for file in (tmp_path / "dead-letters").iterdir()] == ["3-0-0.arrow"]


def test_a_batch_that_is_planned_anew_does_not_send_those_of_before(tmp_path: Path) -> None:
    """It may be cut into fewer tasks: the files of the others would be sent with it, and again where they belong."""
    checkpoint = Checkpoint(str(tmp_path), sync=False)
    with DeadLetters(checkpoint.letters, 0).of_task(0, 1) as aside:
        aside(letter(10))
    checkpoint.rewind(Standing())
    assert list((tmp_path / "dead-letters").iterdir()) == []
