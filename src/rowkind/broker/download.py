"""Fetch the files of a lock file from a Maven repository: in parallel, resumable, verified by SHA-256."""

from __future__ import annotations

import os
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from rowkind.broker.cache import cache_dir, exclusive
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import httpx
    from rich.progress import Progress, TaskID

MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
CONNECTIONS = 8
ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class LockedFile:
    """One pinned file: its path in a Maven repository, and what it has to contain."""

    sha256: str
    size: int
    path: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def read_lock(lock: Path) -> list[LockedFile]:
    """The files of a lock file: lines of `sha256 size path`, `#` starts a remark."""
    lines = (line.split() for line in lock.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [LockedFile(digest, int(size), path) for digest, size, path in lines]


def base_url() -> str:
    """The repository to fetch from; `ROWKIND_MAVEN` names a mirror."""
    return (os.environ.get("ROWKIND_MAVEN") or MAVEN_CENTRAL).rstrip("/") + "/"


def trusted() -> ssl.SSLContext:
    """The system's certificates, so that a company's own authority is honoured."""
    return ssl.create_default_context()


def fetch(lock: Path, what: str) -> list[Path]:
    """Local paths of all files in a lock file; what is missing is downloaded first."""
    folder = cache_dir("jars")
    files = read_lock(lock)
    if any(_missing(file, folder) for file in files):
        with exclusive(folder / "download.lock"):
            _download([file for file in files if _missing(file, folder)], folder, what)
    return [folder / file.name for file in files]


def _missing(file: LockedFile, folder: Path) -> bool:
    # Only a verified file gets its final name, so the size is enough to look at here.
    path = folder / file.name
    return not path.exists() or path.stat().st_size != file.size


def _download(files: Sequence[LockedFile], folder: Path, what: str) -> None:
    import httpx
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    client = httpx.Client(base_url=base_url(), verify=trusted(), timeout=30, follow_redirects=True)
    with client, Progress(*columns, console=Console(stderr=True)) as progress, ThreadPoolExecutor(CONNECTIONS) as pool:
        task = progress.add_task(f"Fetching {what}", total=sum(file.size for file in files))
        progress.advance(task, sum(_fetched(file, folder) for file in files))
        list(pool.map(lambda file: _download_one(client, file, folder, progress, task), files))


def _download_one(client: httpx.Client, file: LockedFile, folder: Path, progress: Progress, task: TaskID) -> None:
    import httpx

    part = folder / f"{file.name}.part"
    failure: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            _continue(client, file, part, progress, task)
        except httpx.HTTPError as error:
            failure = error
            continue
        if _digest(part) == file.sha256:
            part.replace(folder / file.name)
            return
        part.unlink()
        failure = None
        progress.advance(task, -file.size)
    if failure is None:
        raise RowkindError("DOWNLOAD_CORRUPT", file=file.name, url=f"{base_url()}{file.path}")
    raise RowkindError("DOWNLOAD_FAILED", file=file.name, url=f"{base_url()}{file.path}", reason=failure) from failure


def _continue(client: httpx.Client, file: LockedFile, part: Path, progress: Progress, task: TaskID) -> None:
    """Append what is still missing; a server that ignores the range sends all of it again."""
    have = _fetched(file, part.parent)
    if have >= file.size:
        return
    with client.stream("GET", file.path, headers={"Range": f"bytes={have}-"} if have else {}) as response:
        response.raise_for_status()
        resumed = response.status_code == 206
        progress.advance(task, 0 if resumed else -have)
        with part.open("ab" if resumed else "wb") as out:
            for chunk in response.iter_bytes():
                out.write(chunk)
                progress.advance(task, len(chunk))


def _fetched(file: LockedFile, folder: Path) -> int:
    part = folder / f"{file.name}.part"
    return part.stat().st_size if part.exists() else 0


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
