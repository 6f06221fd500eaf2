"""How any table is read and how it is written, whatever its connector: what its options come to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, StrEnum


class Side(Enum):
    """Whether a statement reads a table or writes it."""

    SOURCE = "source"
    SINK = "sink"


class Guarantee(StrEnum):
    """What a sink promises about rows that were written when a job dies."""

    NONE = "none"
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


class EmitStrategy(StrEnum):
    ON_PERIODIC = "on-periodic"
    ON_EVENT = "on-event"


class OnError(StrEnum):
    FAIL = "fail"
    SKIP = "skip"
    DEAD_LETTER = "dead-letter"


@dataclass(frozen=True, slots=True)
class Alignment:
    """Tables of a group are kept within `max_drift` of event time of each other."""

    group: str
    max_drift: timedelta
    update_interval: timedelta


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How a table is read. A connector's own settings are a subclass."""

    parallelism: int | None = None
    max_rows_per_batch: int | None = None
    max_bytes_per_batch: int = 256 * 1024 * 1024
    on_error: OnError = OnError.FAIL
    watermark_emit: EmitStrategy = EmitStrategy.ON_PERIODIC
    idle_timeout: timedelta | None = None
    alignment: Alignment | None = None
    repeats_events: bool = False
    """The source may bring an event twice: its rows must be told apart by primary key."""


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """How a table is written. A connector's own settings are a subclass. Buffering is off with 0 rows."""

    parallelism: int | None = None
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    buffer_max_rows: int = 0
    buffer_interval: timedelta = timedelta(0)
