"""A power cut: files keep what was synced, folders the names they had when they were synced, and all else is gone.

`recording` notes every sync of a process; `cut` then makes a copy of a folder as the disk would have it. `recorded` has
the processes of a command note theirs, beginning with what is there.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SITECUSTOMIZE = """
import os
from pathlib import Path
from tests.faults.power import install
install(Path(os.environ["ROWKIND_TEST_POWER"]))
"""


def install(record: Path) -> None:
    """From now on this process, and what it forks, tells the record what it syncs."""
    record.mkdir(parents=True, exist_ok=True)
    real = os.fsync

    def fsync(file: int) -> None:
        said = _said(file, record)  # before: what gets its name meanwhile is not promised
        real(file)
        line = os.open(record / "syncs", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(line, json.dumps(said).encode() + b"\n")
        os.close(line)

    os.fsync = fsync  # type: ignore[assignment]


def _said(file: int, record: Path) -> dict[str, object]:
    status = os.fstat(file)
    if stat.S_ISDIR(status.st_mode):
        with os.scandir(file) as found:
            return {"folder": status.st_ino, "names": {e.name: [e.inode(), e.is_dir()] for e in found}}
    with suppress(FileExistsError):  # the content stays, even when its names are gone
        os.link(os.readlink(f"/proc/self/fd/{file}"), record / str(status.st_ino))
    return {"file": status.st_ino, "size": status.st_size}


def recorded(folder: Path, record: Path) -> dict[str, str]:
    """The environment of a command whose processes note what they sync; what is there now is on the disk."""
    record.mkdir(parents=True)
    (record / "sitecustomize.py").write_text(SITECUSTOMIZE)
    lines = []
    for path in (folder, *folder.rglob("*")) if folder.exists() else ():
        with _opened(path) as file:
            lines.append(_said(file, record))
    if folder.exists():
        names = {folder.name: [folder.stat().st_ino, True]}
        lines.append({"folder": folder.parent.stat().st_ino, "names": names})
    (record / "syncs").write_text("".join(json.dumps(line) + "\n" for line in lines))
    paths = os.pathsep.join(filter(None, (str(record), str(Path.cwd()), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": paths, "ROWKIND_TEST_POWER": str(record)}


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDONLY)
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def recording(record: Path) -> Iterator[None]:
    """Note what this process syncs meanwhile."""
    real = os.fsync
    install(record)
    try:
        yield
    finally:
        os.fsync = real


@dataclass
class Disk:
    """What has reached the disk, by the numbers of files and folders."""

    record: Path
    sizes: dict[int, int] = field(default_factory=dict)
    names: dict[int, dict[str, tuple[int, bool]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        log = self.record / "syncs"
        for line in log.read_text().splitlines() if log.exists() else ():
            said = json.loads(line)
            if "folder" in said:
                self.names[said["folder"]] = {name: tuple(found) for name, found in said["names"].items()}
            else:
                self.sizes[said["file"]] = said["size"]

    def restore(self, folder: int, target: Path) -> None:
        target.mkdir()
        for name, (number, is_folder) in self.names.get(folder, {}).items():
            if is_folder:
                self.restore(number, target / name)
            else:
                self._restore_file(number, target / name)

    def _restore_file(self, number: int, target: Path) -> None:
        """A file that was never synced is there by name only."""
        content = (self.record / str(number)).read_bytes() if number in self.sizes else b""
        target.write_bytes(content[: self.sizes.get(number, 0)])


def cut(folder: Path, record: Path, target: Path) -> None:
    """A folder as it is found after the power came back. Its parent was there before anything was recorded."""
    disk = Disk(record)
    survived = disk.names.get(folder.parent.stat().st_ino, {}).get(folder.name)
    if survived is None:
        target.mkdir()
    else:
        disk.restore(survived[0], target)


def cut_in_place(folder: Path, record: Path) -> None:
    """The same, and the job finds it where it was."""
    cut(folder, record, folder.with_name(f"{folder.name}-after"))
    shutil.rmtree(folder)
    folder.with_name(f"{folder.name}-after").rename(folder)
