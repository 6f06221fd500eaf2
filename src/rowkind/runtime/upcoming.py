"""The batches of a job, one after the other: each is in the checkpoint before it is run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from rowkind.errors import RowkindError
from rowkind.runtime.batches import BatchPlanner
from rowkind.runtime.checkpoint import Checkpoint

POLL = 0.1
"""Seconds between two looks for something new."""


class Upcoming:
    """Iterates over the entries of batches, the one that was under way when the job ended first; waits for new data.

    Ends behind the last batch of a bounded job (`finished`), or when the job is to stop.
    """

    def __init__(
        self, checkpoint: Checkpoint, planner: BatchPlanner, stopping: threading.Event, notify: Callable[[str], None]
    ) -> None:
        self._checkpoint = checkpoint
        self._planner = planner
        self._stopping = stopping
        self._notify = notify
        self._waiting: str | None = None
        """The servers that do not answer now."""
        last = checkpoint.last()
        self._done = {} if last is None else checkpoint.entry(last)
        self._next = 0 if last is None else last + 1
        self.finished = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        entry, version = self._done, self._next
        if not self._stopping.is_set() and self._checkpoint.begun(version):
            entry = self._checkpoint.entry(version)
            yield entry
            version += 1
        while not (entry.get("final") or self._stopping.is_set()):
            planned = self._planned(entry)
            if planned is None:
                self._stopping.wait(POLL)
                continue
            entry = self._checkpoint.begin(version, planned)
            yield entry
            version += 1
        self.finished = entry.get("final", False)

    def _planned(self, previous: dict[str, Any]) -> dict[str, Any] | None:
        try:
            planned = self._planner.next(previous)
        except RowkindError as error:
            if error.condition != "KAFKA_UNREACHABLE" or not previous:
                raise
            self._tell_waiting(str(error.params["servers"]))
            return None  # a job that has begun waits until the broker is back
        self._tell_waiting(None)
        return planned

    def _tell_waiting(self, servers: str | None) -> None:
        if servers is not None and self._waiting is None:
            self._notify(f"No Kafka broker answers at {servers}; the job waits and goes on when one does.")
        elif servers is None and self._waiting is not None:
            self._notify(f"Kafka answers again at {self._waiting}.")
        self._waiting = servers
