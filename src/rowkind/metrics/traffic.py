"""What a task tells for the metrics: the messages that it read or wrote, topic by topic, and the size of state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Side(StrEnum):
    READ = "read"
    WRITTEN = "written"


class Lane(NamedTuple):
    """Where messages went through: a topic of a table, or what corresponds to one in another system."""

    side: Side
    table: str
    topic: str


@dataclass(slots=True)
class Traffic:
    """Messages of one lane: in a task, then summed over the tasks of a batch."""

    records: int = 0
    bytes: int = 0
    """Keys and values."""
    event_time: int | None = None
    """Of the latest row that was read, in epoch milliseconds."""
    fetched: int | None = None
    """When the reader got that row, in epoch milliseconds."""
    send_time: float | None = None
    """Milliseconds from the last hand-over to its acknowledgement; the longest of the tasks."""

    def read(self, records: int, bytes: int, event_time: int | None, fetched: int) -> None:
        """Messages have come; `event_time` is that of the latest of them, where it has one."""
        self.add(Traffic(records, bytes, event_time, None if event_time is None else fetched))

    def wrote(self, records: int, bytes: int) -> None:
        """Messages were handed to the client."""
        self.records += records
        self.bytes += bytes

    def add(self, other: Traffic) -> None:
        """What another task, or another part of this one, has told."""
        self.records += other.records
        self.bytes += other.bytes
        if other.event_time is not None and (self.event_time is None or other.event_time >= self.event_time):
            self.event_time, self.fetched = other.event_time, other.fetched
        if other.send_time is not None:
            self.send_time = max(other.send_time, self.send_time or 0.0)


@dataclass(frozen=True, slots=True)
class StateSize:
    """Of an operator: one partition of it, or all together."""

    rows: int = 0
    bytes: int = 0

    def __add__(self, other: StateSize) -> StateSize:
        return StateSize(self.rows + other.rows, self.bytes + other.bytes)


def merge(lanes: dict[Lane, Traffic], more: dict[Lane, Traffic]) -> None:
    """Add the traffic of some lanes to that of others."""
    for lane, traffic in more.items():
        lanes.setdefault(lane, Traffic()).add(traffic)
