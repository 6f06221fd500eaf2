"""How far event time is, split by split: noted behind each batch, decided before the next, part of its entry.

A batch's watermarks are decided before it is read, from what earlier batches held, and are written down with its
ranges: a batch that is run again closes the same windows. Time moves behind the rows of a batch, so a row is late when
it should have come before the watermark of the batch before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rowkind.connectors.contract import Offer, Split, Table, Waiting
from rowkind.operators.contract import END_OF_TIME

Times = Mapping[str, int | None]
"""Watermarks by the name of the group; a job that was changed may follow other groups than before."""


def group_name(group: Sequence[int]) -> str:
    """A group of tables, as an entry names it."""
    return ",".join(map(str, group))


class Mark(NamedTuple):
    """A split: its highest watermark so far, if any, and the clock of the last batch that read from it."""

    time: int | None
    clock: int


@dataclass
class Account:
    """What batches have shown of time: marks of each table's splits, and when to run without new rows."""

    marks: list[dict[Split, Mark]]
    due: int | None = None

    def note(self, table: int, split: Split, time: int | None, clock: int) -> None:
        before = self.marks[table].get(split, Mark(None, clock)).time
        known = [t for t in (before, time) if t is not None]
        self.marks[table][split] = Mark(max(known) if known else None, clock)

    def to_json(self) -> dict[str, Any]:
        return {"marks": [[[*p, *mark] for p, mark in sorted(marks.items())] for marks in self.marks], "due": self.due}

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> Account:
        marks = [{Split(t, p): Mark(time, clock) for t, p, time, clock in table} for table in said["marks"]]
        return Account(marks, said["due"])


@dataclass
class Watermarks:
    """Decides the watermarks of the next batch. `groups` are the tables that an operator follows, by number."""

    tables: Sequence[Table]
    groups: Sequence[tuple[int, ...]]
    account: Account
    _seen: dict[tuple[int, Split], int] = field(default_factory=dict)
    """Since when a split without any data is known to this run of the job."""

    def next(self, previous: Times, offers: Sequence[Offer], clock: int) -> dict[str, int | None]:
        """For each group the least watermark of its tables that are not idle; it never goes back."""
        self._forget_others(offers)
        if not self.groups:
            return {}
        marks = self.account.marks
        times = [self._time(i, offer, marks[i], clock) for i, offer in enumerate(offers)]
        named = {group_name(group): [times[i] for i in group] for group in self.groups}
        return {name: _moved(previous.get(name), found) for name, found in named.items()}

    def _forget_others(self, offers: Sequence[Offer]) -> None:
        """Topics come and go, and what is known of those that are gone must not pile up."""
        known = {(i, split) for i, offer in enumerate(offers) for split in offer.splits}
        for i, marks in enumerate(self.account.marks):
            for p in [p for p in marks if (i, p) not in known]:
                del marks[p]
        for gone in self._seen.keys() - known:
            del self._seen[gone]

    def held(self, offers: Sequence[Offer], clock: int) -> set[int]:
        """Tables that are too far ahead of the slowest of their alignment group: nothing more is read of them."""
        asked = {i: table.reading.alignment for i, table in enumerate(self.tables)}
        aligned = {i: alignment for i, alignment in asked.items() if alignment is not None}
        if not aligned:
            return set()
        marks = self.account.marks
        found = {i: self._time(i, offers[i], marks[i], clock) for i in aligned}
        times = {i: time for i, time in found.items() if isinstance(time, int)}
        held = set()
        for i, time in times.items():
            least = min(times[j] for j in times if aligned[j].group == aligned[i].group)
            if time - least > aligned[i].max_drift.total_seconds() * 1_000_000:
                held.add(i)
        return held

    def due(self, clock: int) -> bool:
        """Whether something is to happen by the clock."""
        at = self.account.due
        return at is not None and clock >= at

    def _time(self, table: int, offer: Offer, marks: Mapping[Split, Mark], clock: int) -> int | _Idle | None:
        """The least watermark of the splits that are neither idle nor read to their end; None holds time back."""
        open_ = {split: waiting for split, waiting in offer.splits.items() if waiting.open}
        if not open_ and offer.bounded:
            return END_OF_TIME
        active = [split for split, waiting in open_.items() if not self._idle(table, split, waiting, marks, clock)]
        if not active:
            return IDLE if open_ else None
        found = [marks[split].time if split in marks else None for split in active]
        return None if None in found else min(time for time in found if time is not None)

    def _idle(self, table: int, split: Split, waiting: Waiting, marks: Mapping[Split, Mark], clock: int) -> bool:
        timeout = self.tables[table].reading.idle_timeout
        if timeout is None or waiting.rows:
            return False
        first = self._seen.setdefault((table, split), clock)
        since = max(marks[split].clock, first) if split in marks else first
        return clock - since >= timeout.total_seconds() * 1_000_000


class _Idle:
    """All partitions of a table are idle."""


IDLE = _Idle()


def _moved(before: int | None, times: Sequence[int | _Idle | None]) -> int | None:
    known = [time for time in times if not isinstance(time, _Idle)]
    if not known or None in known:
        return before
    least = min(time for time in known if time is not None)
    return least if before is None else max(before, least)
