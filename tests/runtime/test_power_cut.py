"""What a checkpoint has after a power cut at any moment: all that it said it had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.state.store import StateStore
from tests.faults.power import cut, recording
from tests.runtime.test_checkpoint import plan

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64())])
BATCHES, PARTITIONS = 6, 2


def rows(version: int) -> pa.Table:
    """A batch changes some keys and adds one."""
    keys = range(version, 2 * version + 1)
    return pa.table({"k": list(keys), "v": [version] * len(keys)}, SCHEMA)


def run(folder: Path, sync: bool, look: Callable[[str, int], None]) -> None:
    """Batches of a job by hand, in the order of the commit protocol; `look` comes after each step."""
    checkpoint = Checkpoint(str(folder), sync)
    checkpoint.open(plan())
    checkpoint.claim()
    for version in range(BATCHES):
        checkpoint.begin(version, {"number": version, "id": f"entry {version}", "plan": ""})
        look("begun", version)
        checkpoint.sink_tasks(version, {"t.1": 2})
        look("counted", version)
        for partition in range(PARTITIONS):
            base = version - 1 if version else None
            oldest = max(0, version - 2)
            store = StateStore(checkpoint.state, "op", partition, version, base=base, oldest=oldest, sync=sync)
            table = store.table("t", SCHEMA, ["k"])
            table.write(rows(version))
            store.commit()
        checkpoint.finish(version, {"version": version, "operators": {"op": version}})
        look("done", version)


def state(folder: Path, version: int, partition: int) -> dict[int, int]:
    root = str(folder / "state")
    store = StateStore(root, "op", partition, version + 1, base=version, sync=False)
    found = store.table("t", SCHEMA, ["k"]).lookup(pa.table({"k": range(3 * BATCHES)})).entries
    return dict(zip(found["k"].to_pylist(), found["v"].to_pylist(), strict=True))


def expected(version: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for batch in range(version + 1):
        found.update(dict.fromkeys(rows(batch)["k"].to_pylist(), batch))
    return found


def test_after_a_power_cut_a_checkpoint_has_what_it_said(tmp_path: Path) -> None:
    folder, record = tmp_path / "job" / "checkpoint", tmp_path / "record"
    (tmp_path / "job").mkdir()

    def look(step: str, version: int) -> None:
        after = tmp_path / f"{step}-{version}"
        cut(folder, record, after)
        found = Checkpoint(str(after))
        assert found.open(plan())[0].id == Checkpoint(str(folder)).open(plan())[0].id
        standing = found.standing()
        if step == "done":
            assert (standing.last, standing.pending) == (version, None)
            assert standing.entry["id"] == f"entry {version}"
            assert [state(after, version, p) for p in range(PARTITIONS)] == [expected(version)] * PARTITIONS
        else:
            assert standing.pending is not None
            assert standing.pending["id"] == f"entry {version}"
            assert step == "begun" or found.sink_tasks(version, {}) == {"t.1": 2}

    with recording(record):
        run(folder, True, look)


def test_without_sync_nothing_is_promised(tmp_path: Path) -> None:
    folder, record = tmp_path / "job" / "checkpoint", tmp_path / "record"
    (tmp_path / "job").mkdir()
    with recording(record):
        run(folder, False, lambda step, version: None)
    assert not (record / "syncs").exists()


@pytest.mark.parametrize("killed", ["manifest", "state"])
def test_what_a_killed_run_left_unsynced_is_made_up_for(tmp_path: Path, killed: str) -> None:
    """Killed between a file's name and the sync of its folder: the next run relies on it, and must sync it."""
    folder, record = tmp_path / "job" / "checkpoint", tmp_path / "record"
    (tmp_path / "job").mkdir()
    with recording(record):
        run(folder, True, lambda step, version: None)
        late = folder / ("manifests" if killed == "manifest" else "state/op/0") / "late"
        late.write_bytes(b"renamed just now")
        Checkpoint(str(folder)).claim()
    cut(folder, record, tmp_path / "after")
    assert (tmp_path / "after" / late.relative_to(folder)).exists()
