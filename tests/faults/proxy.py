"""A TCP proxy in front of a broker, to make the connection slow or to cut it."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"


class Proxy:
    """Listens on one port and passes bytes on to another, each piece after `delay` seconds."""

    def __init__(self, port: int, target: int) -> None:
        self.delay = 0.0
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._server = socket.create_server((HOST, port))
        self.address = f"{HOST}:{port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> int:
        """End all connections at once, as a network that fails does; says how many there were."""
        with self._lock:
            ended, self._open = self._open, set()
        for side in ended:
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
        return len(ended) // 2

    def close(self) -> None:
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection((HOST, self._target))
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open |= {client, broker}
            for source, target in ((client, broker), (broker, client)):
                threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                if self.delay:
                    time.sleep(self.delay)
                target.sendall(piece)
        for side in (source, target):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._open -= {source, target}
        source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
