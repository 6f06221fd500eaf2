"""The topics of a table as a source: what each partition has, how much of it a batch takes, and in which tasks.

Position: {"at": the next offset of each partition, "stop": where a bounded read ends, or null, "topics": what tells
each topic from another that had its name before}. Offsets are nested: {"topic": {"partition": offset}}.

A task is a list of ranges: [topic, partition, first offset, offset behind the last].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from rowkind.connectors.contract import Limits, Offer, Pace, Position, Share, Source, Split, Waiting
from rowkind.connectors.kafka.ranges import OffsetRange, Partition
from rowkind.errors import RowkindError

Offsets = dict[Partition, int]


class TablePositions(Protocol):
    """Where the partitions of one input table begin and end."""

    def start(self) -> Offsets:
        """The start position of every partition that exists now. Called once in the life of a job."""
        ...

    def stop(self) -> Offsets | None:
        """Where a bounded table ends, partition by partition; None for an unbounded one. Called with `start`."""
        ...

    def discover(self, known: Iterable[Partition]) -> Offsets:
        """Partitions that were not known, with their earliest offsets; cheap to call before every batch."""
        ...

    def end(self, partitions: Sequence[Partition]) -> Offsets:
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

    def message_bytes(self, waiting: Sequence[OffsetRange]) -> int | None:
        """About the size of the messages that wait; None where none could be looked at."""
        ...

    def commit(self, offsets: Offsets) -> None:
        """Show these as the next offsets to read, for the eyes of others."""
        ...

    def take_notes(self) -> list[str]:
        """What the user should know of the positions, told once."""
        ...


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a table is, and what there is: the ends of a bounded read are never after its stop."""

    at: Offsets
    ends: Offsets
    stop: Offsets | None
    ids: Mapping[str, str]
    deleted: tuple[str, ...]
    """Topics that were there before, and are left."""

    @property
    def waiting(self) -> list[OffsetRange]:
        return [OffsetRange(*p, at, self.ends[p]) for p, at in sorted(self.at.items()) if self.ends[p] > at]

    def open(self, partition: Partition) -> bool:
        """Whether more may come."""
        at = self.at[partition]
        return self.stop is None or at < self.stop.get(partition, at)

    def position(self, at: Offsets) -> Position:
        return {"at": nested(at), "stop": None if self.stop is None else nested(self.stop), "topics": dict(self.ids)}


class KafkaSource(Source):
    """The topics of one table."""

    def __init__(self, positions: TablePositions, limits: Limits) -> None:
        self._positions = positions
        self._limits = limits
        self._fresh: Offsets = {}
        """Partitions that were found, and that no batch has in its position yet."""
        self._turns = count()
        self._last: Position = {}
        self._told: set[str] = set()

    @property
    def limits(self) -> Limits:
        return self._limits

    def start(self) -> Position:
        at, stop = self._positions.start(), self._positions.stop()
        return {"at": nested(at), "stop": None if stop is None else nested(stop), "topics": {}}

    def offer(self, position: Position) -> Offer:
        found = self._found(position)
        splits = {Split(*p): Waiting(max(0, found.ends[p] - at), found.open(p)) for p, at in found.at.items()}
        return Offer(splits, found.stop is not None, found)

    def _found(self, position: Position) -> _Found:
        if position != self._last:
            self._last = position
            self._told.clear()
        at, ids = flat(position["at"]), dict(position["topics"])
        stop = None if position["stop"] is None else flat(position["stop"])
        if stop is None:
            self._fresh = {p: start for p, start in self._fresh.items() if p not in at}
            self._fresh.update(self._positions.discover([*at, *self._fresh]))
            at.update(self._fresh)
        ends = self._positions.end(list(at))
        self._fresh = {p: start for p, start in self._fresh.items() if p in ends}
        deleted = _leave(at, ends, ids)
        self._recognise(at, ends, ids)
        if stop is not None:
            ends = {p: min(end, stop.get(p, end)) for p, end in ends.items()}
        return _Found(at, ends, stop, ids, deleted)

    def _recognise(self, at: Offsets, ends: Offsets, ids: dict[str, str]) -> None:
        """See that topics with anything new are those that were read before: one made anew has offsets of its own."""
        moved = {p.topic for p, offset in at.items() if offset != ends[p] or p.topic not in ids}
        found = self._positions.ids(moved) if moved else {}
        anew = frozenset(topic for topic, id in found.items() if ids.get(topic, id) != id)
        if beyond := {p: offset for p, offset in at.items() if offset > ends[p] or p.topic in anew}:
            at.update(self._positions.restarted(beyond, anew))
        ids.update(found)

    def row_bytes(self, offer: Offer) -> int | None:
        return self._positions.message_bytes(offer.detail.waiting)

    def share(self, offer: Offer, pace: Pace, splittable: bool) -> Share:
        found: _Found = offer.detail
        until = capped(found.at, found.ends, pace.rows, next(self._turns))
        ranges = [OffsetRange(*p, at, until[p]) for p, at in sorted(found.at.items()) if until[p] > at]
        if ranges:
            self._positions.expect(ranges)  # a batch that cannot be read is not begun
        return Share(
            cut(ranges, pace, splittable) if ranges else (),
            found.position(until),
            {Split(r.topic, r.partition): r.until - r.start for r in ranges},
            moves=bool(found.deleted),
            counts={"topics-deleted": len(found.deleted)} if found.deleted else {},
        )

    def done(self, position: Position) -> Mapping[str, int]:
        try:
            self._positions.commit(flat(position["at"]))
        except RowkindError as error:
            if not error.retryable:
                raise
            return {"group-commits-missed": 1}  # the next batch commits again
        return {}

    def take_notes(self) -> list[str]:
        """Each is told once of a position: offers are made many times before anything comes of one."""
        fresh = [note for note in self._positions.take_notes() if note not in self._told]
        self._told.update(fresh)
        return fresh


def _leave(at: Offsets, ends: Offsets, ids: dict[str, str]) -> tuple[str, ...]:
    """Forget the partitions that are gone. The topics that were deleted, if any."""
    gone = at.keys() - ends.keys()
    for partition in gone:
        del at[partition]
    deleted = {p.topic for p in gone} - {p.topic for p in at}
    for topic in deleted:
        ids.pop(topic, None)
    return tuple(sorted(deleted))


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


def nested(offsets: Offsets) -> dict[str, dict[str, int]]:
    """Offsets by topic and partition, as JSON has them."""
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested


def flat(nested: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Offsets by partition, from the form that a position has them in."""
    return {Partition(topic, int(p)): offset for topic, parts in nested.items() for p, offset in parts.items()}
