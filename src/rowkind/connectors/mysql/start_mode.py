"""Where reading a server starts."""

from __future__ import annotations

from enum import StrEnum


class StartMode(StrEnum):
    """Where a source starts: with all rows, or somewhere in the binlog."""

    INITIAL = "initial"
    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    SPECIFIC = "specific-offset"
    TIMESTAMP = "timestamp"
    SNAPSHOT = "snapshot"
