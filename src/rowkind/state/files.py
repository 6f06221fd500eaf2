"""A folder of state files on any file system: whole files under final names, mapped into memory to be read."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import uuid
import zlib
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import IO, Any

import pyarrow as pa
import pyarrow.fs as pafs

from rowkind.errors import RowkindError

ABANDONED_SECONDS = 3600.0
"""A file that is being written and was not added to for so long has no writer any more."""
UNUSED_SECONDS = 24 * 3600.0
"""Local copies of a remote folder that nobody asked for in this time are removed."""
_DRAFTS = (".tmp", ".draft")
_looked = -ABANDONED_SECONDS


class ChecksumSink:
    """A binary file that counts and checksums what is written; the shape that Arrow's writer asks for."""

    def __init__(self, file: IO[bytes] | pa.NativeFile) -> None:
        self._file = file
        self.size = 0
        self.crc = 0
        self.closed = False

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self.crc = zlib.crc32(view, self.crc)
        self.size += view.nbytes
        self._file.write(data)
        return view.nbytes

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


class Folder:
    """One folder. On a local file system files appear by rename; elsewhere each is written once, under its final name.

    Writing a name again must give the same content or content of the same meaning: names of runs say what is in them.

    With `sync` local files are on the disk, and not only handed to the system, before they get their names; the names
    are on the disk when `write_bytes` or `create_bytes` returns, those of files written before in this folder as well.
    """

    def __init__(self, uri: str, cache: str | None = None, sync: bool = False) -> None:
        self.uri = uri
        self._fs, self._path = _resolve(uri)
        self.local = isinstance(self._fs, pafs.LocalFileSystem)
        self._cache = self._path if self.local else _cache_folder(uri, cache)
        self._made = False
        self._sync = sync and self.local

    def path(self, name: str) -> str:
        return f"{self._path}/{name}"

    @contextmanager
    def write(self, name: str) -> Iterator[ChecksumSink]:
        with self._naming(name):
            if not self._made:
                self._make()
                self._made = True
            with self._opened(name) as file:
                yield ChecksumSink(file)

    @contextmanager
    def _naming(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise RowkindError("CHECKPOINT_NOT_WRITTEN", file=self.path(name), reason=reason) from error

    def _opened(self, name: str) -> AbstractContextManager[IO[bytes] | pa.NativeFile]:
        path = self.path(name)
        return _renamed(path, self._sync) if self.local else self._fs.open_output_stream(path)

    def _make(self) -> None:
        missing, parent = [], self._path
        while self._sync and not os.path.isdir(parent):
            parent = os.path.dirname(parent)
            missing.append(parent)
        self._fs.create_dir(self._path, recursive=True)
        for parent in missing:
            _sync(parent)

    def write_bytes(self, name: str, data: bytes) -> None:
        with self.write(name) as sink:
            sink.write(data)
        self._sync_names(name)

    def _sync_names(self, name: str) -> None:
        """Have the name of a file on the disk, and with it all others in the folder."""
        with self._naming(name):
            if self._sync:
                _sync(self._path)

    def create_bytes(self, name: str, data: bytes) -> None:
        """Write a file that is not there yet, or raise FileExistsError.

        Where files can be linked, one of two who try at once does; elsewhere they may both see that nothing is there.
        """
        if self.exists(name):
            raise FileExistsError(self.path(name))
        if not (self.local and self._linked(name, data)):
            self.write_bytes(name, data)

    def _linked(self, name: str, data: bytes) -> bool:
        draft = f"{name}.{uuid.uuid4().hex}.draft"
        with self.write(draft) as sink:
            sink.write(data)
        try:
            os.link(self.path(draft), self.path(name))
        except FileExistsError:
            raise
        except OSError:
            return False
        finally:
            self.remove(draft)
        self._sync_names(name)
        return True

    def sync_folders(self) -> None:
        """Have all names in here and below on the disk: a run that was killed may not have come to it."""
        if self._sync:
            for path, _, _ in os.walk(self._path):
                _sync(path)

    def read_bytes(self, name: str) -> bytes:
        """Raises FileNotFoundError."""
        if self.local:
            with open(self.path(name), "rb") as file:
                return file.read()
        with self._fs.open_input_stream(self.path(name)) as stream:
            return bytes(stream.read())

    def map(self, name: str) -> pa.Buffer:
        """The file's content without reading it: mapped from the file itself, or from a local copy made now.

        Raises FileNotFoundError.
        """
        path = os.path.join(self._cache, name)
        if not self.local and not os.path.exists(path):
            os.makedirs(self._cache, exist_ok=True)
            with self._fs.open_input_file(self.path(name)) as source, _renamed(path) as copy:
                while block := source.read(1 << 22):
                    copy.write(block)
        if os.path.getsize(path) == 0:
            return pa.py_buffer(b"")
        with pa.memory_map(path) as file:
            return file.read_buffer()

    def forget(self, name: str) -> None:
        """Drop the local copy of a file, if it is one."""
        if not self.local:
            _unlink(os.path.join(self._cache, name))

    def prune(self, names: Collection[str]) -> None:
        """Drop local copies of other files than these, and now and then those of folders that nobody asks for."""
        if self.local or not os.path.isdir(self._cache):
            return
        for name in set(os.listdir(self._cache)) - set(names):
            path = os.path.join(self._cache, name)
            if not name.endswith(_DRAFTS) or _abandoned(path, ABANDONED_SECONDS):
                _unlink(path)
        os.utime(self._cache)
        _prune_copies(os.path.dirname(self._cache))

    def clear_abandoned(self) -> None:
        """Remove what processes have left behind that died while they wrote."""
        if self.local and os.path.isdir(self._path):
            for name in os.listdir(self._path):
                if name.endswith(_DRAFTS) and _abandoned(self.path(name), ABANDONED_SECONDS):
                    _unlink(self.path(name))

    def exists(self, name: str) -> bool:
        return bool(self._fs.get_file_info(self.path(name)).type == pafs.FileType.File)

    def names(self) -> list[str]:
        infos = self._fs.get_file_info(pafs.FileSelector(self._path, allow_not_found=True))
        return sorted(info.base_name for info in infos if info.type == pafs.FileType.File)

    def folders(self) -> list[str]:
        infos = self._fs.get_file_info(pafs.FileSelector(self._path, allow_not_found=True))
        return sorted(info.base_name for info in infos if info.type == pafs.FileType.Directory)

    def remove(self, name: str) -> None:
        """Whether it is there or not."""
        self.forget(name)
        if self.local:
            _unlink(self.path(name))
        elif self.exists(name):
            self._fs.delete_file(self.path(name))


def absolute(uri: str) -> str:
    """The same folder for processes that were started elsewhere: a relative path is one from here."""
    return uri.rstrip("/") if "://" in uri or uri.startswith("file:") else os.path.abspath(uri)


def file_type(uri: str) -> pafs.FileType:
    """What is there under a name, if anything. Raises what the file system raises when it cannot be asked."""
    fs, path = _resolve(uri)
    return fs.get_file_info(path).type


def _resolve(uri: str) -> tuple[pafs.FileSystem, str]:
    if "://" in uri or uri.startswith("file:"):
        fs, path = pafs.FileSystem.from_uri(uri)
        return fs, path.rstrip("/")
    return pafs.LocalFileSystem(), os.path.abspath(uri)


def _cache_folder(uri: str, cache: str | None) -> str:
    base = cache or os.path.join(tempfile.gettempdir(), f"rowkind-state-{os.getuid()}")
    return os.path.join(base, hashlib.blake2b(uri.encode(), digest_size=12).hexdigest())


@contextmanager
def _renamed(path: str, sync: bool = False) -> Iterator[IO[bytes]]:
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        with open(temporary, "wb") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise


def _sync(folder: str) -> None:
    """Have the names in a folder on the disk."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _abandoned(path: str, seconds: float) -> bool:
    """Whether a file or folder was not changed for so long."""
    try:
        return time.time() - os.stat(path).st_mtime > seconds
    except FileNotFoundError:
        return False


def _prune_copies(base: str) -> None:
    """Local copies of partitions that moved to another machine, or of jobs that ended; looked for once an hour."""
    global _looked
    if time.monotonic() - _looked < ABANDONED_SECONDS:
        return
    _looked = time.monotonic()
    for name in os.listdir(base):
        folder = os.path.join(base, name)
        if _abandoned(folder, UNUSED_SECONDS):
            shutil.rmtree(folder, ignore_errors=True)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
