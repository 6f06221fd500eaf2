"""A small disk for a checkpoint, which can be full."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SIZE = "24m"

PRETENCE = """
import errno, os
real = os.replace
def replace(source, target, **more):
    if os.path.exists(os.environ["ROWKIND_TEST_DISK_FULL"]):
        raise OSError(errno.ENOSPC, "No space left on device", target)
    return real(source, target, **more)
os.replace = replace
"""


@dataclass(frozen=True, slots=True)
class Disk:
    filler: Path
    env: dict[str, str] = field(default_factory=dict)
    """For the job that uses the disk."""

    def fill(self) -> None:
        """Write until the system says that there is no space left."""
        with open(self.filler, "wb", buffering=0) as file, suppress(NoSpaceLeft):
            while True:
                _write(file.fileno())

    def free(self) -> None:
        self.filler.unlink()


class PretendedDisk(Disk):
    """Without the right to mount: the job's files cannot get their names, with the error that a full disk gives."""

    def fill(self) -> None:
        self.filler.touch()


class NoSpaceLeft(Exception):
    pass


def _write(file: int) -> None:
    try:
        os.write(file, bytes(4096))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise NoSpaceLeft from None
        raise


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """A file system in memory, mounted at the folder."""
    folder.mkdir(parents=True)
    if os.geteuid() != 0:
        (folder.parent / "sitecustomize.py").write_text(PRETENCE)
        full = folder.parent / "disk-is-full"
        yield PretendedDisk(full, {"PYTHONPATH": os.fspath(folder.parent), "ROWKIND_TEST_DISK_FULL": os.fspath(full)})
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", os.fspath(folder)], check=True)
    try:
        yield Disk(folder / "filler")
    finally:
        subprocess.run(["umount", "--lazy", os.fspath(folder)], check=True)
