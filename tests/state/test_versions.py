"""Versions, leftovers, removal, damage, TTL, and a checkpoint that is not on a local disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from rowkind.errors import RowkindError
from rowkind.state import compaction, files, sorted_run, store
from rowkind.state.retention import sweep
from rowkind.state.store import StateStore

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])


def write(root: Path, version: int, rows: dict[int, str | None], base: int | None = -1, **more: Any) -> None:
    """Put rows; None deletes. By default on the version before."""
    base = (version - 1 if version else None) if base == -1 else base
    opened = StateStore(str(root), "op", 0, version, base=base, **more)
    table = opened.table("t", SCHEMA, ["k"])
    table.write(
        pa.table({"k": [k for k, v in rows.items() if v], "v": [v for v in rows.values() if v]}, SCHEMA),
        pa.table({"k": pa.array([k for k, v in rows.items() if not v], pa.int64())}),
    )
    opened.commit()


def read(root: Path, base: int, keys: range = range(100), clock_ms: int = 0, ttl_ms: int = 0) -> dict[int, str]:
    table = StateStore(str(root), "op", 0, base + 1, base=base, clock_ms=clock_ms).table("t", SCHEMA, ["k"], (), ttl_ms)
    found = table.lookup(pa.table({"k": list(keys)}))
    return {row["k"]: row["v"] for row in found.entries.to_pylist()}


def new_process() -> None:
    store._open.clear()
    sorted_run._verified.clear()


@pytest.fixture(autouse=True)
def fresh_process() -> None:
    """As in a new worker: nothing mapped, nothing known."""
    new_process()


def file(root: Path, name: str) -> Path:
    """The one file whose name starts so."""
    (found,) = (root / "op" / "0").glob(f"{name}*")
    return found


def test_leftovers_of_an_unfinished_batch_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, 0, {1: "a"})
    write(tmp_path, 1, {1: "unfinished", 2: "unfinished"})
    assert read(tmp_path, 0) == {1: "a"}
    write(tmp_path, 1, {3: "c"})
    assert read(tmp_path, 1) == {1: "a", 3: "c"}


def test_another_history_does_not_take_up_old_compactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "INLINE_ROWS", 0)
    for version in range(4):
        write(tmp_path, version, {version: "old"})
    write(tmp_path, 4, {4: "old"})
    compaction.wait_for_background()
    assert file(tmp_path, "t.0-3").exists()
    compaction._merges.clear()
    for version in range(2, 4):
        write(tmp_path, version, {version: "new"})
    write(tmp_path, 4, {5: "new"})
    assert read(tmp_path, 4) == {0: "old", 1: "old", 2: "new", 3: "new", 5: "new"}


def test_a_background_merge_is_taken_up_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "INLINE_ROWS", 0)
    for version in range(5):
        write(tmp_path, version, {version: "x", 9: str(version)})
    compaction.wait_for_background()
    compaction._merges.clear()
    write(tmp_path, 5, {})
    for name in ("t.0-0", "t.1-1"):
        file(tmp_path, name).unlink()
    new_process()
    assert read(tmp_path, 5) == {0: "x", 1: "x", 2: "x", 3: "x", 4: "x", 9: "4"}


def test_old_versions_are_removed_and_kept_ones_stay_readable(tmp_path: Path) -> None:
    expected = {}
    for version in range(40):
        write(tmp_path, version, {version % 7: str(version), 50 + version % 3: None}, oldest=max(0, version - 2))
        expected[version % 7] = str(version)
        for kept in range(max(0, version - 2), version + 1):
            read(tmp_path, kept)
    new_process()
    assert read(tmp_path, 39) == expected
    names = os.listdir(tmp_path / "op" / "0")
    assert sorted(n for n in names if n.endswith(".json")) == ["37.json", "38.json", "39.json"]
    assert len(names) < 20
    assert not [n for n in names if n.endswith(".tmp")]


def test_an_operator_may_pause(tmp_path: Path) -> None:
    write(tmp_path, 0, {1: "a"})
    write(tmp_path, 7, {2: "b"}, base=0, oldest=5)
    assert read(tmp_path, 0) == {1: "a"}
    assert read(tmp_path, 7) == {1: "a", 2: "b"}


def test_sweep_removes_what_nobody_names(tmp_path: Path) -> None:
    for version in range(3):
        write(tmp_path, version, {version: "x"})
    (tmp_path / "op" / "0" / "t.0-1.arrow.123.tmp").write_bytes(b"half")
    (tmp_path / "gone" / "0").mkdir(parents=True)
    (tmp_path / "gone" / "0" / "5.json").write_bytes(b"of an operator that the job no longer has")
    assert sweep(str(tmp_path), {"op": 1}, keep=0) == 5
    assert not os.listdir(tmp_path / "gone" / "0")
    names = [file(tmp_path, name).name for name in ("t.0-0", "t.1-1")]
    assert sorted(os.listdir(tmp_path / "op" / "0")) == ["1.json", *names]
    assert read(tmp_path, 1) == {0: "x", 1: "x"}


def test_sweep_keeps_versions_back_to_where_state_must_stay_readable(tmp_path: Path) -> None:
    for version in range(4):
        write(tmp_path, version, {version: "x"})
    write(tmp_path, 4, {4: "never committed"})
    assert sweep(str(tmp_path), {"op": 3}, keep=1) > 0
    assert read(tmp_path, 3) == dict.fromkeys(range(4), "x")
    assert read(tmp_path, 2) == dict.fromkeys(range(3), "x")
    assert not (tmp_path / "op" / "0" / "4.json").exists()
    assert sweep(str(tmp_path), {"op": 3}, keep=1) == 0
    file(tmp_path, "t.3-3").unlink()
    with pytest.raises(RowkindError) as error:
        sweep(str(tmp_path), {"op": 3}, keep=1)
    assert error.value.condition == "STATE_FILE_MISSING"


@pytest.mark.parametrize("name", ["1.json", "t.0-0"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    write(tmp_path, 0, {1: "a"})
    write(tmp_path, 1, {1: "b"})
    gone = file(tmp_path, name)
    gone.unlink()
    new_process()
    with pytest.raises(RowkindError) as error:
        read(tmp_path, 1)
    assert error.value.condition == "STATE_FILE_MISSING"
    assert error.value.params["path"] == str(gone)
    assert error.value.params["version"] == 2


@pytest.mark.parametrize("name", ["1.json", "t.0-0"])
@pytest.mark.parametrize("damage", ["cut", "empty", "flip"])
def test_damaged_file(tmp_path: Path, name: str, damage: str) -> None:
    write(tmp_path, 0, {1: "a" * 1000})
    write(tmp_path, 1, {1: "b"})
    path = file(tmp_path, name)
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 0xFF
    path.write_bytes(b"" if damage == "empty" else bytes(content[:-7] if damage == "cut" else content))
    new_process()
    with pytest.raises(RowkindError) as error:
        read(tmp_path, 1)
    assert error.value.condition == "STATE_FILE_DAMAGED"


def test_another_definition_is_refused(tmp_path: Path) -> None:
    write(tmp_path, 0, {1: "a"})
    opened = StateStore(str(tmp_path), "op", 0, 1, base=0)
    with pytest.raises(RowkindError) as error:
        opened.table("t", pa.schema([("k", pa.int64()), ("v", pa.int64())]), ["k"])
    assert error.value.condition == "STATE_TABLE_DIFFERS"


def test_ttl(tmp_path: Path) -> None:
    def put(version: int, rows: dict[int, str], clock_ms: int) -> None:
        base = version - 1 if version else None
        opened = StateStore(str(tmp_path), "op", 0, version, base=base, clock_ms=clock_ms)
        table = opened.table("t", SCHEMA, ["k"], ttl_ms=100)
        table.write(pa.table({"k": list(rows), "v": list(rows.values())}, SCHEMA))
        opened.commit()

    put(0, {1: "a", 2: "b"}, 1000)
    put(1, {2: "c"}, 1050)
    assert read(tmp_path, 1, clock_ms=1099, ttl_ms=100) == {1: "a", 2: "c"}
    assert read(tmp_path, 1, clock_ms=1100, ttl_ms=100) == {2: "c"}
    assert read(tmp_path, 1, clock_ms=1150, ttl_ms=100) == {}
    for version in range(2, 9):
        put(version, {version: "x"}, 2000)
    opened = StateStore(str(tmp_path), "op", 0, 9, base=8, clock_ms=2000)
    rows = sum(part.rows for part in opened._base.tables["t"])
    assert rows == 7, "expired entries vanish when runs are merged"


def test_checkpoint_elsewhere_is_copied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote, cache = tmp_path / "remote", tmp_path / "cache"
    monkeypatch.setattr(files, "_resolve", lambda uri: (pafs.SubTreeFileSystem("/", pafs.LocalFileSystem()), uri))
    for version in range(12):
        base = version - 1 if version else None
        opened = StateStore(str(remote), "op", 0, version, base=base, oldest=version - 1, cache=str(cache))
        table = opened.table("t", SCHEMA, ["k"])
        found = table.lookup(pa.table({"k": list(range(20))}))
        assert found.entries.column("v").to_pylist() == ["x"] * version
        table.write(pa.table({"k": [version], "v": ["x"]}, SCHEMA))
        opened.commit()
        new_process()
    copies = [name for _, _, names in os.walk(cache) for name in names]
    assert copies
    assert len(copies) < 12
    # a stale copy of a file that was written again is replaced
    [folder] = os.listdir(cache)
    newest = next(n for n in os.listdir(remote / "op" / "0") if n.startswith("t.11-11."))
    (cache / folder / newest).write_bytes(b"stale")
    opened = StateStore(str(remote), "op", 0, 12, base=11, cache=str(cache))
    found = opened.table("t", SCHEMA, ["k"]).lookup(pa.table({"k": [11]}))
    assert found.entries.num_rows == 1
