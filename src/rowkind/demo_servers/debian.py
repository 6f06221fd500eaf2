"""Programs from Debian's packages, unpacked into the cache: nothing is installed and no root is needed."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from rowkind.broker.cache import cache_dir, exclusive
from rowkind.errors import RowkindError


def unpacked(name: str, packages: Sequence[str]) -> Path:
    """The folder that holds the files of these packages, which are downloaded first when they are not there yet."""
    folder = cache_dir("debian") / name
    with exclusive(cache_dir("debian") / f"{name}.lock"):
        if not folder.exists():
            partial = cache_dir("debian") / f"{name}.{os.getpid()}"
            _unpack(partial, packages)
            partial.rename(folder)
    return folder


def libraries(root: Path) -> Mapping[str, str]:
    """The environment in which programs below `root` find their libraries."""
    machine = f"{platform.machine()}-linux-gnu"
    found = [root / "usr/lib" / machine, root / "lib" / machine]
    return {"LD_LIBRARY_PATH": os.pathsep.join(str(path) for path in found if path.exists())}


def _unpack(folder: Path, packages: Sequence[str]) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise RowkindError("SERVER_NOT_AVAILABLE", packages=" ".join(packages), reason="this system has no apt-get")
    downloads = folder / "packages"
    shutil.rmtree(folder, ignore_errors=True)
    downloads.mkdir(parents=True)
    answer = _download(packages, downloads)
    if answer.returncode:
        # A fresh image has no lists of packages yet. Without root this fails, and the second answer says why.
        subprocess.run(["apt-get", "update"], capture_output=True, check=False)
        answer = _download(packages, downloads)
    if answer.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise RowkindError("SERVER_NOT_AVAILABLE", packages=" ".join(packages), reason=answer.stderr.strip()[-500:])
    for package in downloads.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True)
    shutil.rmtree(downloads)


def _download(packages: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, text=True, check=False)
