"""The batches of a job, one after the other: each is in the checkpoint before it is run."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from rowkind.errors import RowkindError
from rowkind.runtime.driver.batch_entry import Entry
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.resuming import Standing, check_script

POLL = 0.1
"""Seconds between two looks for something new."""


E = TypeVar("E", bound=Entry)


class Planner(Protocol[E]):
    """Decides what the next batch holds."""

    def next(self, previous: E | None) -> E | None:
        """The batch after another, or the first one; None when there is nothing new."""
        ...

    def read(self, said: Mapping[str, Any]) -> E:
        """A batch as the checkpoint has it."""
        ...

    def take_notes(self) -> list[str]:
        """What the user should know and no entry has told."""
        ...


class PendingBatches(Generic[E]):
    """Iterates over the batches of a job, the one that was under way when it ended first; waits for new data.

    Ends behind the last batch of a bounded job (`finished`), when the job is to stop, or with `drain` before the first
    batch that was not begun yet.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        standing: Standing,
        planner: Planner[E],
        digest: str,
        stopping: threading.Event,
        notify: Callable[[str], None],
        drain: bool = False,
    ) -> None:
        self._checkpoint = checkpoint
        self._standing = standing
        self._planner = planner
        self._digest = digest
        self._stopping = stopping
        self._notify = notify
        self._drain = drain
        self._waiting: str | None = None
        """What the job waits to pass."""
        self.planned = 0.0
        """Seconds that it took to decide what the last batch reads, and to write that down."""
        self.finished = False

    def __iter__(self) -> Iterator[E]:
        standing, version = self._standing, self._standing.next
        entry = self._planner.read(standing.entry) if standing.entry else None
        if not self._stopping.is_set() and standing.pending is not None:
            entry = self._planner.read(standing.pending)
            yield entry
            version += 1
        while not ((entry is not None and entry.final) or self._drain or self._stopping.is_set()):
            started = time.monotonic()
            planned = self._planned(entry)
            if planned is None:
                for note in self._planner.take_notes():
                    self._notify(note)
                self._stopping.wait(POLL)
                continue
            entry = self._begun(version, planned)
            self.planned = time.monotonic() - started
            yield entry
            version += 1
        self.finished = entry is not None and entry.final

    def _begun(self, version: int, planned: E) -> E:
        """A batch, in the checkpoint: with what tells it from another, and what it must be run with."""
        entry = replace(planned, id=str(uuid.uuid4()), plan=self._digest)
        said = self._checkpoint.begin(version, entry.to_json())
        check_script(self._checkpoint.uri, said, self._digest)
        return entry if said["id"] == entry.id else self._planner.read(said)

    def _planned(self, previous: E | None) -> E | None:
        try:
            planned = self._planner.next(previous)
        except RowkindError as error:
            if not error.retryable or previous is None:
                raise
            self._tell_waiting(error.message)
            return None  # a job that has begun waits until it has passed
        self._tell_waiting(None)
        return planned

    def _tell_waiting(self, reason: str | None) -> None:
        if reason is not None and self._waiting is None:
            self._notify(f"{reason} The job waits until that has passed.")
        elif reason is None and self._waiting is not None:
            self._notify(f"The job goes on. It waited because of this: {self._waiting}")
        self._waiting = reason
