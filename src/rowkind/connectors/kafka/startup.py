"""Where a table starts and where it ends, as its options say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rowkind.connectors.kafka.source_options import (
    BOUNDED_MODE,
    BOUNDED_SPECIFIC_OFFSETS,
    BOUNDED_TIMESTAMP,
    STARTUP_MODE,
    STARTUP_SPECIFIC_OFFSETS,
    STARTUP_TIMESTAMP,
    BoundedMode,
    StartupMode,
)
from rowkind.connectors.kafka.table_options import GROUP_ID
from rowkind.connectors.kafka.usage import KafkaUsage

OFFSET_RESET = "auto.offset.reset"


@dataclass(frozen=True, slots=True)
class Startup:
    """First position of each partition. `offsets` by partition in mode SPECIFIC, `timestamp` is epoch millis.

    `reset` is the user's `auto.offset.reset`: what mode GROUP does where nothing is committed (None: latest).
    """

    mode: StartupMode
    timestamp: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)
    reset: str | None = None


@dataclass(frozen=True, slots=True)
class Bounded:
    """End of each partition, exclusive."""

    mode: BoundedMode
    timestamp: int | None = None
    offsets: Mapping[int, int] = field(default_factory=dict)

    @property
    def ends(self) -> bool:
        return self.mode is not BoundedMode.UNBOUNDED


def specific_offsets(text: str) -> dict[int, int]:
    """Offsets by partition.

    >>> specific_offsets("partition:0,offset:42;partition:1,offset:300")
    {0: 42, 1: 300}
    """
    found: dict[int, int] = {}
    for piece in text.removesuffix(";").split(";"):
        match = re.fullmatch(r"partition:(\d+),offset:(\d+)", piece)
        if not match:
            raise ValueError(f"'{piece}' is not of that form")
        if int(match[1]) in found:
            raise ValueError(f"partition {match[1]} is given twice")
        found[int(match[1])] = int(match[2])
    return found


def starts_at_group(usage: KafkaUsage) -> bool:
    """Whether a read begins at committed offsets: asked for, or by default when there is a group."""
    if not usage.reads or usage.upsert or usage.given[STARTUP_MODE] is not StartupMode.GROUP:
        return False
    return usage.given.has(STARTUP_MODE) or usage.given.has(GROUP_ID)


def startup(usage: KafkaUsage) -> tuple[Startup, list[str]]:
    """Where the read begins; a warning when the user did not say and may be surprised."""
    if usage.upsert:
        return Startup(StartupMode.EARLIEST), []
    mode, reset = usage.given[STARTUP_MODE], usage.properties.get(OFFSET_RESET)
    if mode is StartupMode.GROUP and not starts_at_group(usage):
        return _without_group(usage, reset)
    offsets = usage.given.get(STARTUP_SPECIFIC_OFFSETS) if mode is StartupMode.SPECIFIC else None
    return Startup(
        mode,
        usage.given.get(STARTUP_TIMESTAMP) if mode is StartupMode.TIMESTAMP else None,
        specific_offsets(offsets) if offsets else {},
        reset if mode is StartupMode.GROUP else None,
    ), []


def _without_group(usage: KafkaUsage, reset: str | None) -> tuple[Startup, list[str]]:
    if reset == "earliest":
        return Startup(StartupMode.EARLIEST), []
    return Startup(StartupMode.LATEST), [
        f"Table '{usage.definition.name}' has no group id and no 'scan.startup.mode', so it is read from now on; "
        "set 'scan.startup.mode' = 'earliest-offset' to read it from the beginning."
    ]


def bounded(usage: KafkaUsage) -> Bounded:
    """Where the read ends."""
    mode = usage.given[BOUNDED_MODE]
    offsets = usage.given.get(BOUNDED_SPECIFIC_OFFSETS) if mode is BoundedMode.SPECIFIC else None
    return Bounded(
        mode,
        usage.given.get(BOUNDED_TIMESTAMP) if mode is BoundedMode.TIMESTAMP else None,
        specific_offsets(offsets) if offsets else {},
    )
