"""State of another checkpoint, or in another folder, is never taken for this one's, nor nothing for an empty state."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.state.belonging import mark
from rowkind.state.retention import sweep
from rowkind.state.store import StateStore

SCHEMA = pa.schema([("v", pa.int64())])


def store(root: Path, version: int, checkpoint: str) -> StateStore:
    base = version - 1 if version else None
    return StateStore(str(root), "op", 0, version, base=base, checkpoint=checkpoint)


def written(root: Path, versions: int, checkpoint: str) -> None:
    mark(str(root), checkpoint)
    for version in range(versions):
        opened = store(root, version, checkpoint)
        opened.table("t", SCHEMA, ["k"]).write(pa.table({"k": [version], "v": [version]}))
        opened.commit()


def refused(root: Path, version: int, checkpoint: str) -> str:
    with pytest.raises(RowkindError) as failed:
        store(root, version, checkpoint)
    return failed.value.condition


def test_a_base_that_is_not_there_is_never_empty_state(tmp_path: Path) -> None:
    written(tmp_path, 2, "one")
    assert refused(tmp_path, 3, "one") == "STATE_FILE_MISSING"
    shutil.rmtree(tmp_path / "op")
    assert refused(tmp_path, 2, "one") == "STATE_FILE_MISSING"


def test_state_that_an_earlier_job_left_is_not_this_ones(tmp_path: Path) -> None:
    """As on a machine whose folder nobody emptied when the job began anew elsewhere."""
    written(tmp_path, 2, "earlier")
    mark(str(tmp_path), "this")
    assert refused(tmp_path, 2, "this") == "STATE_OF_ANOTHER_CHECKPOINT"
    with pytest.raises(RowkindError) as failed:
        sweep(str(tmp_path), {"op": 1}, 3, "this")
    assert failed.value.condition == "STATE_OF_ANOTHER_CHECKPOINT"


@pytest.mark.parametrize("left", [None, "earlier"])
def test_a_folder_that_is_not_the_drivers_is_refused_before_anything_is_written(
    tmp_path: Path, left: str | None
) -> None:
    if left is not None:
        mark(str(tmp_path), left)
    assert refused(tmp_path, 0, "this") == "CHECKPOINT_NOT_SHARED"
    assert not (tmp_path / "op").exists()
    mark(str(tmp_path), "this")
    written(tmp_path, 1, "this")


def test_a_copy_of_a_checkpoint_is_that_checkpoint(tmp_path: Path) -> None:
    written(tmp_path / "here", 2, "one")
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    found = store(tmp_path / "there", 2, "one").table("t", SCHEMA, ["k"]).lookup(pa.table({"k": [0, 1]}))
    assert found.entries.column("v").to_pylist() == [0, 1]
