"""The downloader: verified, resumed, retried, and honest about failures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rowkind.broker.download import LockedFile, base_url, fetch, read_lock
from rowkind.errors import RowkindError

CONTENT = bytes(range(256)) * 1000


class Repository(ThreadingHTTPServer):
    """A Maven repository with one file; it remembers the ranges asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.content = CONTENT
        self.ranges: list[str | None] = []
        self.cut_after: int | None = None
        self.honour_ranges = True


class Answer(BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        if self.path != "/org/a-1.jar":
            self.send_error(404)
            return
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        resumed = asked is not None and self.server.honour_ranges
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and resumed else 0
        body = self.server.content[start:]
        self.send_response(206 if resumed else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cut_after])
        self.server.cut_after = None

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    server = Repository()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("ROWKIND_MAVEN", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("ROWKIND_CACHE", str(tmp_path / "cache"))
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return write_lock(tmp_path, "org/a-1.jar")


def write_lock(folder: Path, path: str) -> Path:
    file = folder / "jars.lock"
    file.write_text(f"# roots: org:a:1\n{sha256(CONTENT).hexdigest()} {len(CONTENT)} {path}\n")
    return file


def test_a_file_is_fetched_once(repository: Repository, lock: Path) -> None:
    (first,) = fetch(lock, "a")
    (second,) = fetch(lock, "a")
    assert first == second
    assert first.read_bytes() == CONTENT
    assert repository.ranges == [None]


def test_a_cut_download_goes_on_where_it_stopped(repository: Repository, lock: Path) -> None:
    repository.cut_after = 1000
    (path,) = fetch(lock, "a")
    assert path.read_bytes() == CONTENT
    assert repository.ranges == [None, "bytes=1000-"]


def test_a_partial_file_of_an_earlier_run_is_continued(repository: Repository, lock: Path, tmp_path: Path) -> None:
    jars = tmp_path / "cache" / "jars"
    jars.mkdir(parents=True)
    (jars / "a-1.jar.part").write_bytes(CONTENT[:500])
    assert fetch(lock, "a")[0].read_bytes() == CONTENT
    assert repository.ranges == ["bytes=500-"]


def test_a_server_without_ranges_sends_everything_again(repository: Repository, lock: Path) -> None:
    repository.honour_ranges = False
    repository.cut_after = 1000
    assert fetch(lock, "a")[0].read_bytes() == CONTENT


def test_a_wrong_partial_file_is_thrown_away(repository: Repository, lock: Path, tmp_path: Path) -> None:
    jars = tmp_path / "cache" / "jars"
    jars.mkdir(parents=True)
    (jars / "a-1.jar.part").write_bytes(b"x" * 500)
    assert fetch(lock, "a")[0].read_bytes() == CONTENT


def test_other_content_is_refused(repository: Repository, lock: Path, tmp_path: Path) -> None:
    repository.content = CONTENT[:-1] + b"!"
    with pytest.raises(RowkindError) as refused:
        fetch(lock, "a")
    assert refused.value.condition == "DOWNLOAD_CORRUPT"
    assert not (tmp_path / "cache" / "jars" / "a-1.jar").exists()


def test_more_content_than_locked_is_refused(repository: Repository, lock: Path) -> None:
    repository.content = CONTENT + b"!"
    with pytest.raises(RowkindError) as refused:
        fetch(lock, "a")
    assert refused.value.condition == "DOWNLOAD_CORRUPT"


def test_a_missing_file_names_its_address(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(RowkindError) as failed:
        fetch(write_lock(tmp_path, "org/b-1.jar"), "b")
    assert failed.value.condition == "DOWNLOAD_FAILED"
    assert failed.value.params["url"] == f"{base_url()}org/b-1.jar"


def test_the_brokers_lock_pins_every_jar() -> None:
    from rowkind.broker.broker import LOCK

    files = read_lock(LOCK)
    assert len({file.name for file in files}) == len(files) > 40
    assert all(len(file.sha256) == 64 and file.size > 0 for file in files)
    assert LockedFile("x", 1, "org/apache/kafka/kafka_2.13/4.3.1/kafka_2.13-4.3.1.jar").name in {f.name for f in files}
