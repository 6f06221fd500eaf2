"""What a batch reads: one atomic cut across all input tables, written down whole before it is read.

Each source says what it has and cuts the share that it is given; here is decided when there is a batch, how much of
each table it may hold, its clock and its watermarks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from rowkind.connectors.contract import Offer, Pace, Position, Share, Source, Split
from rowkind.runtime.driver.batch_entry import Batch, Input
from rowkind.runtime.driver.watermark_tracking import Watermarks

LOOK_SECONDS = 5.0
"""How often a job that waits for its interval to pass looks what has come."""


class BatchPlanner:
    """Decides what the next batch reads. The entry of the batch before is all it remembers."""

    def __init__(
        self,
        sources: Sequence[Source],
        splittable: Sequence[bool],
        pace: Callable[[int, Offer], Pace],
        interval: timedelta | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
        watermarks: Watermarks | None = None,
        steady: Callable[[], float] = time.monotonic,
        watch: Callable[[Sequence[Mapping[str, int]]], None] = lambda waiting: None,
    ) -> None:
        """`watch` hears how many rows wait in each table, by the names of its splits, whenever that was looked at."""
        self._sources = sources
        self._splittable = splittable
        self._pace = pace
        self._interval = interval or timedelta(0)
        self._clock = clock
        self._watermarks = watermarks
        self._steady = steady
        self._watch = watch
        self._planned: float | None = None
        """When the last batch was planned, on a clock that nobody sets; None before one was planned."""
        self._looked: float | None = None
        self._bounded = False
        """Whether every source has an end; known once they were asked."""
        self._since = steady()
        """The same, or when this run began."""

    def read(self, said: Mapping[str, Any]) -> Batch:
        return Batch.of_json(said)

    def next(self, previous: Batch | None) -> Batch | None:
        """The next batch, or None when there is nothing new."""
        if previous is not None and previous.final:
            return None
        if previous is not None and self._early(previous):
            self._look(previous)
            return None
        batch = self._first() if previous is None else self._later(previous)
        if batch is not None:
            self._planned = self._since = self._steady()
            batch = replace(batch, notes=tuple(self.take_notes()))
        return batch

    def _look(self, previous: Batch) -> None:
        """While the interval lasts, rows come that nobody asks for: see to it that they are known."""
        if self._looked is not None and self._steady() - self._looked < LOOK_SECONDS:
            return
        self._looked = self._steady()
        self._offers([read.until for read in previous.inputs])

    def _offers(self, positions: Sequence[Position]) -> list[Offer]:
        offers = [source.offer(at) for source, at in zip(self._sources, positions, strict=True)]
        self._bounded = all(offer.bounded for offer in offers)
        self._watch([_left(offer, {}) for offer in offers])
        return offers

    def take_notes(self) -> list[str]:
        """What the user should know of the sources and no entry has told."""
        return [note for source in self._sources for note in source.take_notes()]

    def _early(self, previous: Batch) -> bool:
        """Whether the interval between two batches has not passed; one that has more to read does not wait for it."""
        if self._planned is None or previous.lag or self._bounded:
            return False
        return self._steady() - self._planned < self._interval.total_seconds()

    def _first(self) -> Batch:
        batch, _ = self._planned_from(None, [source.start() for source in self._sources])
        return batch

    def _later(self, previous: Batch) -> Batch | None:
        batch, shares = self._planned_from(previous, [read.until for read in previous.inputs])
        if any(share.tasks or share.moves for share in shares) or self._moves(batch):
            return batch
        return replace(batch, final=True) if self._bounded and not batch.lag else None

    def _moves(self, batch: Batch) -> bool:
        """Whether time alone is reason enough for a batch."""
        if self._watermarks is None:
            return False
        return batch.watermarks != batch.before or self._watermarks.due(batch.clock)

    def _now(self, before: int) -> int:
        """Time does not run backwards in a job, whatever is done to the machine's clock, and never stands still.

        After a clock that was ahead was put right it goes on at half its pace until the two meet: rows that a sink
        holds back for an interval would else wait for as long as the clock was ahead.
        """
        return max(self._clock(), before + int((self._steady() - self._since) * 500_000) if before else 0)

    def _planned_from(self, previous: Batch | None, positions: Sequence[Position]) -> tuple[Batch, list[Share]]:
        number, clock = (0, self._now(0)) if previous is None else (previous.number + 1, self._now(previous.clock))
        offers = self._offers(positions)
        held = self._watermarks.held(offers, clock) if self._watermarks else set()
        shares = [self._share(index, offer, index in held) for index, offer in enumerate(offers)]
        inputs = tuple(
            Input.of_share(share, _left(offer, share.rows)) for share, offer in zip(shares, offers, strict=True)
        )
        before = {} if previous is None else previous.watermarks
        moved = self._watermarks.next(before, offers, clock) if self._watermarks else {}
        seen = {name: before.get(name) for name in moved}
        return Batch(number=number, clock=clock, inputs=inputs, watermarks=moved, before=seen), shares

    def _share(self, index: int, offer: Offer, held: bool) -> Share:
        pace = self._pace(index, offer)
        if held:  # the table is too far ahead of others: it may find out more, but reads nothing
            pace = replace(pace, rows=0)
        return self._sources[index].share(offer, pace, self._splittable[index])


def _left(offer: Offer, taken: Mapping[Split, int]) -> dict[str, int]:
    """Rows that wait, all splits of a name together."""
    found: dict[str, int] = {}
    for split, waiting in offer.splits.items():
        left = max(0, waiting.rows - taken.get(split, 0))
        found[split.name] = found.get(split.name, 0) + left
    return found
