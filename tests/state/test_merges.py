"""Files of several attempts and several workers side by side: each has a name that says what is in it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.state import compaction, sorted_run, store
from rowkind.state.files import Folder
from rowkind.state.listing import read_listing
from rowkind.state.sorted_run import Place, RunInfo, open_run
from rowkind.state.store import StateStore

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
TTL = 100


def new_process() -> None:
    store._open.clear()
    sorted_run._verified.clear()
    compaction._merges.clear()


def opened(root: Path, version: int, clock_ms: int) -> StateStore:
    return StateStore(str(root), "op", 0, version, base=version - 1 if version else None, clock_ms=clock_ms)


def put(root: Path, version: int, rows: dict[int, str], clock_ms: int, ttl_ms: int = TTL) -> None:
    made = opened(root, version, clock_ms)
    made.table("t", SCHEMA, ["k"], ttl_ms=ttl_ms).write(pa.table({"k": list(rows), "v": list(rows.values())}, SCHEMA))
    made.commit()


def read(root: Path, version: int, clock_ms: int, ttl_ms: int = TTL) -> dict[int, str]:
    new_process()
    keys = pa.table({"k": list(range(50))})
    found = opened(root, version + 1, clock_ms).table("t", SCHEMA, ["k"], ttl_ms=ttl_ms).lookup(keys)
    return dict(zip(found.entries.column("k").to_pylist(), found.entries.column("v").to_pylist(), strict=True))


def merge(root: Path, version: int, clock_ms: int, ttl_ms: int = TTL) -> RunInfo:
    """What a worker makes of the first four runs of a version, in a batch of the given clock."""
    new_process()
    made = opened(root, version, clock_ms)
    table = made.table("t", SCHEMA, ["k"], ttl_ms=ttl_ms)
    runs = made._base.tables["t"]
    (result, *_) = compaction.maintain(made._folder, table, runs, [made._run(info) for info in runs])
    return result


def test_two_workers_that_merge_the_same_runs_at_different_times_do_not_spoil_each_others_file(tmp_path: Path) -> None:
    """The slower one is from a batch of before; by the clock of the later one more entries have expired."""
    for version in range(4):
        put(tmp_path, version, {version: "x"}, 1000 + 30 * version)
    later = merge(tmp_path, 4, clock_ms=1180)
    sooner = merge(tmp_path, 4, clock_ms=1120)
    folder, place = Folder(f"{tmp_path}/op/0"), Place("op", 0, 4)
    new_process()
    for made in (later, sooner):
        assert open_run(folder, made, place).rows == made.rows
    assert later == sooner, "what a merge leaves out follows from what goes in"


def test_a_merge_that_keeps_entries_longer_is_another_file(tmp_path: Path) -> None:
    for version in range(4):
        put(tmp_path, version, {version: "x"}, 1000 + 60 * version)
    short, long = merge(tmp_path, 4, 1200), merge(tmp_path, 4, 1200, ttl_ms=1000)
    assert short.name != long.name
    assert (short.rows, long.rows) == (2, 4)


def test_what_has_expired_is_gone_from_a_merge_and_reads_are_exact(tmp_path: Path) -> None:
    for version in range(8):
        put(tmp_path, version, {version: str(version)}, 1000 + 30 * version)
    last = 1000 + 30 * 7
    assert read(tmp_path, 7, last) == {v: str(v) for v in range(8) if 1000 + 30 * v > last - TTL}
    assert read(tmp_path, 7, last + TTL) == {}
    listing = read_listing(Folder(f"{tmp_path}/op/0"), 7, Place("op", 0, 7))
    assert sum(info.rows for info in listing.tables["t"]) < 8


def test_an_attempt_that_writes_something_else_and_dies_leaves_the_version_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of an exchange come in any order, and a sum of doubles shows it: a repeated task may write other bytes."""
    put(tmp_path, 0, {1: "a"}, 1000)
    put(tmp_path, 1, {1: "b"}, 1010)

    def dies(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patched:
        patched.setattr(store, "write_listing", dies)
        with pytest.raises(InterruptedError):
            put(tmp_path, 1, {1: "other"}, 1010)
    assert read(tmp_path, 1, 1020) == {1: "b"}
    put(tmp_path, 1, {1: "other"}, 1010)
    assert read(tmp_path, 1, 1020) == {1: "other"}


def test_an_attempt_that_writes_the_same_writes_the_same_file(tmp_path: Path) -> None:
    put(tmp_path, 0, {1: "a"}, 1000)
    names = {path.name for path in (tmp_path / "op" / "0").iterdir()}
    put(tmp_path, 0, {1: "a"}, 1000)
    assert {path.name for path in (tmp_path / "op" / "0").iterdir()} == names
