"""What a batch reads: one atomic cut across all input tables, written down whole before it is read.

The entry of a batch stands alone: the ranges, how they are cut into tasks, the clock and the end of each partition are
all in it, so a batch that is run again, on any number of cores, reads and computes the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.runtime.driver.watermark_tracking import Positions, Times, Watermarks

TopicPartition = Partition
Offsets = dict[TopicPartition, int]

LOOK_SECONDS = 5.0
"""How often a job that waits for its interval to pass looks what has come."""

ROWS_PER_TASK = 20_000
"""Rows that are worth a task, unless they are large."""


class TablePositions(Protocol):
    """Where the partitions of one input table begin and end."""

    def start(self) -> Offsets:
        """The start position of every partition that exists now. Called once in the life of a job."""
        ...

    def stop(self) -> Offsets | None:
        """Where a bounded table ends, partition by partition; None for an unbounded one. Called with `start`."""
        ...

    def discover(self, known: Iterable[TopicPartition]) -> Offsets:
        """Partitions that were not known, with their earliest offsets; cheap to call before every batch."""
        ...

    def end(self, partitions: Sequence[TopicPartition]) -> Offsets:
        """The current end of each partition; one without an end is gone, and is left."""
        ...

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        """What tells each topic from another that had its name before."""
        ...

    def restarted(self, beyond: Offsets, anew: frozenset[str]) -> Offsets:
        """Where to go on in partitions that end before the next offset to read, and in topics that were made anew."""
        ...

    def expect(self, ranges: Sequence[OffsetRange]) -> None:
        """Raise if messages that a batch is to read are gone already, unless the table goes on without them."""
        ...

    def take_notes(self) -> list[str]:
        """What the user should know of the positions, told once."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How much a batch may read and how it is cut: rows per table, tasks at most, rows that are worth a task."""

    rows: int
    tasks: int
    rows_per_task: int = ROWS_PER_TASK


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch, as its entry in the checkpoint says."""

    number: int
    clock: int
    """Epoch microseconds: the time of the batch for PROCTIME(), TTL and random seeds."""
    tasks: Mapping[int, tuple[tuple[OffsetRange, ...], ...]]
    """For each input table the ranges of each task."""
    watermarks: Times = field(default_factory=dict)
    """Of each group of tables that an operator follows, behind the rows of the batch; None until there is one."""
    before: Times = field(default_factory=dict)
    """The same before its rows."""
    final: bool = False
    """A bounded job's last batch, with nothing to read: time has come to its end."""

    def partitions(self, table: int) -> tuple[TopicPartition, ...]:
        """The partitions of a table that are read."""
        ranges = (r for task in self.tasks.get(table, ()) for r in task)
        return tuple(sorted({Partition(r.topic, r.partition) for r in ranges}))

    @property
    def rows(self) -> int:
        return sum(map(self.rows_of, self.tasks))

    def rows_of(self, table: int) -> int:
        return sum(r.until - r.start for task in self.tasks.get(table, ()) for r in task)


def batch_of(entry: Mapping[str, Any]) -> Batch:
    """Read a batch back from its entry."""
    tasks = {
        int(table): tuple(tuple(OffsetRange(*r) for r in task) for task in cut) for table, cut in entry["tasks"].items()
    }
    return Batch(entry["number"], entry["clock"], tasks, entry["watermarks"], entry["before"], entry["final"])


class BatchPlanner:
    """Decides what the next batch reads. The entry of the batch before is all it remembers."""

    def __init__(
        self,
        tables: Sequence[TablePositions],
        splittable: Sequence[bool],
        pace: Callable[[int, Offsets, Offsets], Pace],
        interval: timedelta | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
        watermarks: Watermarks | None = None,
        steady: Callable[[], float] = time.monotonic,
        watch: Callable[[Sequence[Mapping[str, int]]], None] = lambda waiting: None,
    ) -> None:
        """`watch` hears how many messages wait in each topic of each table, whenever that was looked at."""
        self._tables = tables
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
        self._since = steady()
        """The same, or when this run began."""

    def next(self, previous: Mapping[str, Any]) -> dict[str, Any] | None:
        """The entry of the next batch, or None when there is nothing new."""
        if previous and previous["final"]:
            return None
        if previous and self._early(previous):
            self._look(previous)
            return None
        entry = self._later(previous) if previous else self._first()
        if entry is not None:
            self._planned = self._since = self._steady()
            entry["notes"] = self.take_notes()
        return entry

    def _look(self, previous: Mapping[str, Any]) -> None:
        """While the interval lasts, messages come that nobody asks for: see to it that they are known."""
        if self._looked is not None and self._steady() - self._looked < LOOK_SECONDS:
            return
        self._looked = self._steady()
        starts = [flat(until) for until in previous["until"]]
        self._watch([_by_topic(at, table.end(list(at))) for at, table in zip(starts, self._tables, strict=True)])

    def take_notes(self) -> list[str]:
        """What the user should know of the tables' positions and no entry has told."""
        return [note for table in self._tables for note in table.take_notes()]

    def _early(self, previous: Mapping[str, Any]) -> bool:
        """Whether the interval between two batches has not passed; one that has more to read does not wait for it."""
        if self._planned is None or previous["lag"] or None not in previous["stop"]:
            return False
        return self._steady() - self._planned < self._interval.total_seconds()

    def _first(self) -> dict[str, Any]:
        starts = [t.start() for t in self._tables]
        return self._entry({"number": -1}, starts, [t.stop() for t in self._tables])

    def _later(self, previous: Mapping[str, Any]) -> dict[str, Any] | None:
        starts = [flat(u) for u in previous["until"]]
        stops = [None if s is None else flat(s) for s in previous["stop"]]
        for table, known, stop in zip(self._tables, starts, stops, strict=True):
            if stop is None:
                known.update(table.discover(known))
        entry = self._entry(previous, starts, stops)
        if entry["tasks"] or any(entry["left"]) or self._moves(entry):
            return entry
        return {**entry, "final": True} if None not in stops and not entry["lag"] else None

    def _moves(self, entry: Mapping[str, Any]) -> bool:
        """Whether time alone is reason enough for a batch."""
        if self._watermarks is None:
            return False
        return entry["watermarks"] != entry["before"] or self._watermarks.due(entry["clock"])

    def _now(self, before: int) -> int:
        """Time does not run backwards in a job, whatever is done to the machine's clock, and never stands still.

        After a clock that was ahead was put right it goes on at half its pace until the two meet: rows that a sink
        holds back for an interval would else wait for as long as the clock was ahead.
        """
        return max(self._clock(), before + int((self._steady() - self._since) * 500_000) if before else 0)

    def _entry(
        self, previous: Mapping[str, Any], starts: Sequence[Offsets], stops: Sequence[Offsets | None]
    ) -> dict[str, Any]:
        tasks, untils, lag = {}, [], 0
        pending: list[dict[str, int]] = []
        left: list[list[str]] = []
        positions: list[Positions] = []
        clock = self._now(previous.get("clock", 0))
        before: Times = previous.get("watermarks", {})
        topics = [dict(ids) for ids in previous.get("topics") or [{}] * len(self._tables)]
        for table, start, stop, ids in zip(self._tables, starts, stops, topics, strict=True):
            ends = table.end(list(start))
            left.append(_leave(start, ends, ids))
            _recognise(table, start, ends, ids)
            if stop is not None:
                ends = {p: min(end, stop.get(p, end)) for p, end in ends.items()}
            positions.append(Positions(start, ends, stop))
        self._watch([_by_topic(start, ends) for start, ends, _ in positions])
        held = self._watermarks.held(positions, clock) if self._watermarks else set()
        for index, (start, ends, _) in enumerate(positions):
            pace = self._pace(index, start, ends)
            turn = previous["number"] + 1
            until = dict(start) if index in held else capped(start, ends, pace.rows, turn)
            untils.append(_nested(until))
            pending.append(_by_topic(until, ends))
            lag += sum(pending[-1].values())
            ranges = [OffsetRange(*p, start[p], until[p]) for p in sorted(start) if until[p] > start[p]]
            if ranges:
                self._tables[index].expect(ranges)  # a batch that cannot be read is not begun
                tasks[str(index)] = cut(ranges, pace, self._splittable[index])
        moved = self._watermarks.next(before, positions, clock) if self._watermarks else {}
        return {
            "number": previous["number"] + 1,
            "clock": clock,
            "watermarks": moved,
            "before": {name: before.get(name) for name in moved},
            "tasks": tasks,
            "until": untils,
            "topics": topics,
            "stop": [None if s is None else _nested(s) for s in stops],
            "lag": lag,
            "pending": pending,
            "left": left,
            "final": False,
        }


def _by_topic(start: Offsets, ends: Offsets) -> dict[str, int]:
    """Messages from one position to another, all partitions of a topic together."""
    found: dict[str, int] = {}
    for partition, at in start.items():
        waiting = max(0, ends.get(partition, at) - at)
        found[partition.topic] = found.get(partition.topic, 0) + waiting
    return found


def _leave(start: Offsets, ends: Offsets, ids: dict[str, str]) -> list[str]:
    """Forget the partitions that are gone. The topics that were deleted, if any."""
    gone = start.keys() - ends.keys()
    for partition in gone:
        del start[partition]
    deleted = {p.topic for p in gone} - {p.topic for p in start}
    for topic in deleted:
        ids.pop(topic, None)
    return sorted(deleted)


def _recognise(table: TablePositions, start: Offsets, ends: Offsets, ids: dict[str, str]) -> None:
    """See that topics with anything new are those that were read before: one made anew has offsets of its own."""
    moved = {p.topic for p, at in start.items() if at != ends[p] or p.topic not in ids}
    found = table.ids(moved) if moved else {}
    anew = frozenset(topic for topic, id in found.items() if ids.get(topic, id) != id)
    if beyond := {p: at for p, at in start.items() if at > ends[p] or p.topic in anew}:
        start.update(table.restarted(beyond, anew))
    ids.update(found)


def capped(start: Offsets, end: Offsets, rows: int, turn: int = 0) -> Offsets:
    """How far each partition is read when a batch may hold so many rows: in proportion to what waits in each.

    Where there are more partitions than rows, which is so with large messages, they take turns.
    """
    waiting = {p: max(0, end.get(p, begin) - begin) for p, begin in start.items()}
    total = sum(waiting.values())
    if total <= rows:
        return {p: begin + waiting[p] for p, begin in start.items()}
    behind = sorted(p for p, count in waiting.items() if count)
    first = turn * rows % len(behind)
    read = {behind[(first + i) % len(behind)] for i in range(min(rows, len(behind)))}
    more = max(0, rows - len(behind))
    return {p: begin + (p in read) * min(waiting[p], 1 + waiting[p] * more // total) for p, begin in start.items()}


def cut(ranges: Sequence[OffsetRange], pace: Pace, splittable: bool) -> list[list[list[Any]]]:
    """Ranges dealt out to tasks.

    A partition stays whole, so that the order of its keys is kept. A splittable one may be cut, but always so that
    the number of the task grows with the offset: whoever needs the order can still tell it.
    """
    total = sum(r.until - r.start for r in ranges)
    wanted = max(1, min(pace.tasks, total // pace.rows_per_task))
    return _evenly(ranges, total, wanted) if splittable else _whole(ranges, wanted)


def _evenly(ranges: Sequence[OffsetRange], total: int, wanted: int) -> list[list[list[Any]]]:
    """All ranges in a row, cut into equal lengths."""
    tasks: list[list[list[Any]]] = [[] for _ in range(wanted)]
    before = 0
    for whole in sorted(ranges):
        at = whole.start
        while at < whole.until:
            task = min(before * wanted // total, wanted - 1)
            room = -(-(task + 1) * total // wanted) - before
            until = min(whole.until, at + max(1, room))
            tasks[task].append(list(whole._replace(start=at, until=until)))
            before += until - at
            at = until
    return [task for task in tasks if task]


def _whole(ranges: Sequence[OffsetRange], wanted: int) -> list[list[list[Any]]]:
    """Whole ranges, the largest first, each to the task with the least to do."""
    tasks: list[list[OffsetRange]] = [[] for _ in range(min(wanted, len(ranges)))]
    load = [0] * len(tasks)
    for piece in sorted(ranges, key=lambda r: (r.start - r.until, r.topic, r.partition)):
        lightest = load.index(min(load))
        tasks[lightest].append(piece)
        load[lightest] += piece.until - piece.start
    return [[list(r) for r in sorted(task)] for task in tasks]


def _nested(offsets: Offsets) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested


def flat(nested: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Offsets by partition, from the form that an entry has them in."""
    return {Partition(topic, int(p)): offset for topic, parts in nested.items() for p, offset in parts.items()}
