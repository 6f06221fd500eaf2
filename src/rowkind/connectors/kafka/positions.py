"""Where reading starts and stops: each mode as a pure function of the offsets a cluster reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.ranges import Partition
from rowkind.connectors.kafka.source_options import BoundedMode as StopMode
from rowkind.connectors.kafka.source_options import StartupMode as StartMode
from rowkind.errors import RowkindError

__all__ = (
    "Found",
    "Positions",
    "Start",
    "StartMode",
    "Stop",
    "StopMode",
    "resolve_new",
    "resolve_start",
    "resolve_stop",
    "start_positions",
    "stop_positions",
)

Offsets = Mapping[Partition, int]


@dataclass(frozen=True, slots=True)
class Start:
    """Where a table's reading starts. `offsets` are by partition number, since specific offsets mean one topic."""

    mode: StartMode
    timestamp: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)
    group: str | None = None
    reset: str | None = None
    """`auto.offset.reset`: earliest, latest, none, or not given."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a table's reading stops, exclusive."""

    mode: StopMode = StopMode.UNBOUNDED
    timestamp: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What the cluster said. `end` is where reading ends now, `high` the high watermark, the end of the log."""

    begin: Offsets = field(default_factory=dict)
    end: Offsets = field(default_factory=dict)
    high: Offsets = field(default_factory=dict)
    at: Mapping[Partition, int | None] = field(default_factory=dict)
    committed: Offsets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Positions:
    """Offsets by partition, and lines to tell the user."""

    offsets: dict[Partition, int]
    notes: list[str] = field(default_factory=list)


def start_positions(start: Start, partitions: Sequence[Partition], found: Found) -> Positions:
    match start.mode:
        case StartMode.EARLIEST:
            return Positions({p: found.begin[p] for p in partitions})
        case StartMode.LATEST:
            return Positions({p: found.end[p] for p in partitions})
        case StartMode.TIMESTAMP:
            return Positions({p: _at_or_end(p, found) for p in partitions})
        case StartMode.SPECIFIC:
            return Positions({p: _specific_start(p, start, found) for p in partitions})
        case StartMode.GROUP:
            return _group_start(start, partitions, found)


def stop_positions(stop: Stop, partitions: Sequence[Partition], found: Found) -> Positions | None:
    """None when reading never stops."""
    match stop.mode:
        case StopMode.UNBOUNDED:
            return None
        case StopMode.LATEST:
            return Positions({p: found.end[p] for p in partitions})
        case StopMode.TIMESTAMP:
            return Positions({p: _at_or_end(p, found) for p in partitions})
        case StopMode.SPECIFIC:
            rest = {**found.begin, **found.committed}
            return Positions({p: stop.offsets.get(p.partition, rest[p]) for p in partitions})
        case StopMode.GROUP:
            for p in partitions:
                if p not in found.committed:
                    raise _not_committed(p, stop.group)
            return Positions({p: found.committed[p] for p in partitions})


def resolve_start(cluster: Cluster, start: Start, partitions: Sequence[Partition]) -> Positions:
    """Ask the cluster what the mode needs, then decide."""
    needs_log = start.mode in (StartMode.GROUP, StartMode.SPECIFIC)
    found = Found(
        begin=cluster.beginnings(partitions) if needs_log or start.mode is StartMode.EARLIEST else {},
        end=cluster.ends(partitions) if start.mode is not StartMode.EARLIEST else {},
        high=cluster.ends(partitions, stable=False) if needs_log else {},
        at=cluster.at(partitions, start.timestamp or 0) if start.mode is StartMode.TIMESTAMP else {},
        committed=cluster.committed(start.group, partitions) if needs_log and start.group else {},
    )
    return start_positions(start, partitions, found)


def resolve_stop(cluster: Cluster, stop: Stop, partitions: Sequence[Partition]) -> Positions | None:
    """Ask the cluster what the mode needs, then decide."""
    needs_group = stop.mode in (StopMode.GROUP, StopMode.SPECIFIC)
    found = Found(
        begin=cluster.beginnings(partitions) if stop.mode is StopMode.SPECIFIC else {},
        end=cluster.ends(partitions) if stop.mode in (StopMode.LATEST, StopMode.TIMESTAMP) else {},
        at=cluster.at(partitions, stop.timestamp or 0) if stop.mode is StopMode.TIMESTAMP else {},
        committed=cluster.committed(stop.group, partitions) if needs_group and stop.group else {},
    )
    return stop_positions(stop, partitions, found)


def resolve_new(cluster: Cluster, partitions: Sequence[Partition]) -> Positions:
    """Partitions found while a job runs start at their beginning, whatever the mode."""
    return Positions(cluster.beginnings(partitions))


def _at_or_end(partition: Partition, found: Found) -> int:
    offset = found.at[partition]
    return found.end[partition] if offset is None else offset


def _specific_start(partition: Partition, start: Start, found: Found) -> int:
    begin = found.begin[partition]
    wanted = start.offsets.get(partition.partition, found.committed.get(partition, begin))
    return wanted if begin <= wanted <= found.high[partition] else begin


def _group_start(start: Start, partitions: Sequence[Partition], found: Found) -> Positions:
    positions = Positions({})
    for p in partitions:
        committed = found.committed.get(p)
        if committed is not None and found.begin[p] <= committed <= found.high[p]:
            positions.offsets[p] = committed
        else:
            positions.offsets[p] = _reset(p, committed, start, found)
    fresh = [p for p in partitions if p not in found.committed]
    if fresh and start.reset is None:
        positions.notes.append(_starts_at_latest(start.group, fresh, len(partitions)))
    return positions


def _reset(partition: Partition, committed: int | None, start: Start, found: Found) -> int:
    """What `auto.offset.reset` says about a partition with no committed offset, or one that is no longer there."""
    match (start.reset or "").lower():
        case "earliest":
            return found.begin[partition]
        case "latest":
            return found.end[partition]
        case "" if committed is None:
            return found.end[partition]
    if committed is None:
        raise _not_committed(partition, start.group)
    raise RowkindError(
        "COMMITTED_OFFSET_GONE",
        **partition._asdict(),
        group=start.group,
        wanted=committed,
        available=f"{found.begin[partition]} to {found.high[partition]}",
    )


def _starts_at_latest(group: str | None, fresh: Sequence[Partition], total: int) -> str:
    topics = ", ".join(sorted({p.topic for p in fresh}))
    who = f"group '{group}' has no committed offset" if group else "there is no group id, so no committed offset,"
    return (
        f"{topics}: {who} for {len(fresh)} of {total} partitions; reading starts at the end. "
        "To read from the beginning set 'scan.startup.mode' = 'earliest-offset'."
    )


def _not_committed(partition: Partition, group: str | None) -> RowkindError:
    return RowkindError("NO_COMMITTED_OFFSET", **partition._asdict(), group=group)
