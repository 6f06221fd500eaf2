"""A job's folder: what it remembers, and whom it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.plan import nodes as n
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_plan import JobPlan, job_plan
from tests.runtime.tables import APPEND, table


def plan(source: str = "a", sink: str = "b", partitions: int = 2) -> JobPlan:
    scan = n.Scan(table("id INT", {**APPEND, "topic": source}))
    return job_plan([n.Sink(scan, table("id INT", {**APPEND, "topic": sink}, Side.SINK), 0)], partitions)


def test_a_fresh_folder_takes_the_job_and_knows_it_again(tmp_path: Path) -> None:
    first, notes = Checkpoint(f"{tmp_path}/c").open(plan())
    assert not notes
    assert Checkpoint(f"{tmp_path}/c/").open(plan(partitions=7)) == (first, [])
    assert first.partitions == 2


def test_another_sink_is_the_same_job(tmp_path: Path) -> None:
    first, _ = Checkpoint(str(tmp_path)).open(plan())
    again, _ = Checkpoint(str(tmp_path)).open(plan(sink="c"))
    assert again.id == first.id


def test_another_source_is_another_job(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path)).open(plan())
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan(source="other"))
    assert failed.value.condition == "CHECKPOINT_OF_ANOTHER_JOB"


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"id": "1"}', "\x00"])
def test_a_damaged_record_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "job.json").write_text(content)
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan())
    assert failed.value.condition == "CHECKPOINT_DAMAGED"
    assert failed.value.params["file"] == "job.json"


def test_a_checkpoint_of_another_format_is_refused(tmp_path: Path) -> None:
    Checkpoint(str(tmp_path)).open(plan())
    record = json.loads((tmp_path / "job.json").read_text())
    (tmp_path / "job.json").write_text(json.dumps({**record, "version": 1}))
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan())
    assert failed.value.condition == "CHECKPOINT_OTHER_VERSION"


def test_a_missing_entry_of_a_batch_is_named(tmp_path: Path) -> None:
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).entry(3)
    assert failed.value.condition == "CHECKPOINT_FILE_MISSING"


def test_an_entry_that_is_there_stands(tmp_path: Path) -> None:
    checkpoint = Checkpoint(str(tmp_path))
    assert checkpoint.standing().pending is None
    assert checkpoint.begin(0, {"number": 0}) == {"number": 0}
    assert checkpoint.standing().pending == {"number": 0}
    assert checkpoint.begin(0, {"number": 0, "of": "another run"}) == {"number": 0}
    assert [path.name for path in (tmp_path / "batches").iterdir()] == ["0"]


def test_without_its_manifests_a_job_does_not_begin_again(tmp_path: Path) -> None:
    checkpoint = Checkpoint(str(tmp_path))
    checkpoint.open(plan())
    for version in range(3):
        checkpoint.begin(version, {"number": version})
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan())
    assert failed.value.condition == "CHECKPOINT_FILE_MISSING"
    assert failed.value.params["file"] == "manifests/1"


@pytest.mark.parametrize("file", ["job.json", "batches/2"])
def test_a_missing_file_is_named_and_the_job_goes_on_when_it_is_back(tmp_path: Path, file: str) -> None:
    checkpoint = Checkpoint(str(tmp_path))
    record, _ = checkpoint.open(plan())
    for version in range(3):
        checkpoint.begin(version, {"number": version})
        checkpoint.finish(version, {"version": version})
    (tmp_path / file).rename(tmp_path / "away")
    with pytest.raises(RowkindError) as failed:
        Checkpoint(str(tmp_path)).open(plan())
    assert failed.value.condition == "CHECKPOINT_FILE_MISSING"
    assert failed.value.params["file"] == file
    (tmp_path / "away").rename(tmp_path / file)
    assert Checkpoint(str(tmp_path)).open(plan()) == (record, [])


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    checkpoint = Checkpoint(str(tmp_path))
    checkpoint.finish(4, {"version": 4})
    (tmp_path / "manifests" / "4").write_bytes(b'{"vers')
    with pytest.raises(RowkindError) as failed:
        checkpoint.manifest(4)
    assert failed.value.condition == "CHECKPOINT_DAMAGED"
    assert failed.value.params["file"] == "manifests/4"


def test_manifests_tell_what_is_done(tmp_path: Path) -> None:
    checkpoint = Checkpoint(str(tmp_path))
    assert checkpoint.last() is None
    for version in range(105):
        checkpoint.finish(version, {"version": version})
    assert checkpoint.last() == 104
    assert checkpoint.manifest(104) == {"version": 104}
    with pytest.raises(RowkindError):
        checkpoint.manifest(3)  # long past
