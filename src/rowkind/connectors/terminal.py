"""Lines of workers, printed by the process that started their job: its standard output is not theirs.

The process listens on a socket in a folder of its own, which nobody else can read; each connection carries one piece of
text, whole lines, and is answered with one byte when it was printed.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import threading
from atexit import register
from functools import cache
from pathlib import Path

ERROR, OUTPUT = b"e", b"o"
DONE = b"."


def address() -> str:
    """Where this process listens once it serves."""
    return str(Path(_folder()) / "terminal")


@cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="rowkind-", dir="/tmp")  # the path of a socket has at most 108 characters
    register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, owner: int) -> None:
    """A process that was forked must not take its parent's away."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def serve() -> None:
    """Print what comes, from a thread that lasts as long as the process. Once is enough."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address())
    listening.listen()
    threading.Thread(target=_accept, args=(listening,), daemon=True, name="rowkind-terminal").start()


def _accept(listening: socket.socket) -> None:
    while True:
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as incoming:
            said = incoming.read()
            stream = sys.stderr if said[:1] == ERROR else sys.stdout
            stream.write(said[1:].decode())
            stream.flush()
            connection.sendall(DONE)


class Terminal:
    """The other end, in a worker."""

    def __init__(self, path: str) -> None:
        self._path = path

    def show(self, lines: str, error: bool) -> bool:
        """Whether it was printed; not where nobody listens, as on another machine."""
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(self._path)
            except OSError:
                return False
            connection.sendall((ERROR if error else OUTPUT) + lines.encode())
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(1) == DONE
