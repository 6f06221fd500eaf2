"""Clients that stay open in a process between batches: to open one costs as much as many a batch."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")


class KeptClients(Generic[K, C]):
    """At most so many, by what they are for; those that were used least recently make room.

    A forked child has its parent's clients without their threads: it must neither use nor destroy them.
    """

    def __init__(self, limit: int, close: Callable[[C], object], idle_seconds: float = float("inf")) -> None:
        self.limit = limit
        self.idle_seconds = idle_seconds
        """One that has not been used for so long is closed when another is asked for."""
        self._close = close
        self._clients: OrderedDict[K, tuple[C, float]] = OrderedDict()
        self._process = os.getpid()
        self._inherited: list[OrderedDict[K, tuple[C, float]]] = []

    def take(self, key: K) -> C | None:
        """The client, for the caller alone: it is kept again, or closed."""
        mine = self._mine()
        horizon = time.monotonic() - self.idle_seconds
        for idle in [key for key, (_, used) in mine.items() if used < horizon]:
            self._close(mine.pop(idle)[0])
        found = mine.pop(key, None)
        return None if found is None else found[0]

    def keep(self, key: K, client: C) -> None:
        """Keep a client for the next batch, in place of one that was kept for the same."""
        mine = self._mine()
        if (earlier := mine.pop(key, None)) is not None:
            self._close(earlier[0])
        mine[key] = client, time.monotonic()
        while len(mine) > self.limit:
            self._close(mine.popitem(last=False)[1][0])

    def close_all(self) -> None:
        mine = self._mine()
        while mine:
            self._close(mine.popitem()[1][0])

    def __iter__(self) -> Iterator[C]:
        return iter([client for client, _ in self._mine().values()])

    def _mine(self) -> OrderedDict[K, tuple[C, float]]:
        if self._process != os.getpid():
            self._inherited.append(self._clients)
            self._clients, self._process = OrderedDict(), os.getpid()
        return self._clients
