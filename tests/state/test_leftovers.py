"""What a long-lived job must let go of: mapped files that were removed, drafts of dead processes, local copies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from rowkind.state import files, open_runs, sorted_run
from rowkind.state.store import StateStore

SCHEMA = pa.schema([("k", pa.int64())])


def write(root: str, version: int, **more: Any) -> None:
    opened = StateStore(root, "op", 0, version, base=version - 1 if version else None, oldest=version - 1, **more)
    table = opened.table("t", SCHEMA, ["k"])
    table.lookup(pa.table({"k": [version]}))
    table.write(pa.table({"k": [version]}, SCHEMA))
    opened.commit()


def removed_but_mapped(root: Path) -> list[str]:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return [line for line in lines if str(root) in line and line.endswith("(deleted)")]


def test_runs_that_were_removed_are_not_mapped_any_more(tmp_path: Path) -> None:
    for version in range(12):
        write(str(tmp_path), version)
    StateStore(str(tmp_path), "op", 0, 12, base=11)
    assert removed_but_mapped(tmp_path) == []
    assert len([1 for path, _ in sorted_run._verified if path.startswith(str(tmp_path))]) < 12


def test_nor_are_those_that_another_process_removed(tmp_path: Path) -> None:
    for version in range(3):
        write(str(tmp_path), version)
    beside = "from tests.state.test_leftovers import write; import sys\nfor v in range(3, 12): write(sys.argv[1], v)"
    subprocess.run([sys.executable, "-c", beside, str(tmp_path)], check=True)
    assert removed_but_mapped(tmp_path)
    StateStore(str(tmp_path), "op", 0, 12, base=11)
    assert removed_but_mapped(tmp_path) == []


def test_partitions_that_another_worker_has_now_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, elsewhere = str(tmp_path / "here"), str(tmp_path / "elsewhere")
    for version in range(2):
        write(here, version)
        write(elsewhere, version)
    mapped = [line for line in Path("/proc/self/maps").read_text().splitlines() if elsewhere in line]
    monkeypatch.setattr(open_runs, "IDLE_SECONDS", 0.0)
    StateStore(here, "op", 0, 2, base=1)
    assert mapped
    assert elsewhere not in Path("/proc/self/maps").read_text()


def test_drafts_of_processes_that_died_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "op" / "0"
    folder.mkdir(parents=True)
    dead, alive = folder / "t.0-0.arrow.abc.tmp", folder / "t.0-1.arrow.def.tmp"
    dead.touch()
    alive.touch()
    os.utime(dead, (1, 1))
    for version in range(3):
        write(str(tmp_path), version)
    assert not dead.exists()
    assert alive.exists()


def test_local_copies_of_what_is_not_needed_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine removed the files: their copies here have no one else to remove them."""
    remote, cache = tmp_path / "remote", tmp_path / "cache"
    monkeypatch.setattr(files, "_resolve", lambda uri: (pafs.SubTreeFileSystem("/", pafs.LocalFileSystem()), uri))
    monkeypatch.setattr(files, "_looked", -files.ABANDONED_SECONDS)
    (cache / "of-a-job-that-ended").mkdir(parents=True)
    os.utime(cache / "of-a-job-that-ended", (1, 1))
    for version in range(3):
        write(str(remote), version, cache=str(cache))
    for version in range(3, 12):
        write(str(remote), version, cache=str(tmp_path / "other-machine"))
    StateStore(str(remote), "op", 0, 12, base=11, cache=str(cache)).table("t", SCHEMA, ["k"])
    [folder] = os.listdir(cache)
    there = {p.name for p in (remote / "op" / "0").iterdir()}
    assert set(os.listdir(cache / folder)) <= there
    assert os.listdir(cache / folder)
