"""Files of a checkpoint that are written once."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from rowkind.state.files import Folder


def no_links(*_: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("links", [True, False])
def test_a_file_is_created_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    folder = Folder(str(tmp_path))
    folder.create_bytes("1", b"first")
    with pytest.raises(FileExistsError):
        folder.create_bytes("1", b"second")
    assert (folder.names(), folder.read_bytes("1")) == (["1"], b"first")


def test_of_many_who_create_a_file_at_once_one_does(tmp_path: Path) -> None:
    created: list[int] = []
    together = threading.Barrier(8)

    def create(me: int) -> None:
        together.wait()
        try:
            Folder(str(tmp_path)).create_bytes("1", str(me).encode())
        except FileExistsError:
            return
        created.append(me)

    threads = [threading.Thread(target=create, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folder = Folder(str(tmp_path))
    assert (folder.names(), folder.read_bytes("1")) == (["1"], str(created[0]).encode())
    assert len(created) == 1
