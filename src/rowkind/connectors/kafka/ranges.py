"""Offset ranges: what a batch reads of each topic partition."""

from __future__ import annotations

from typing import NamedTuple


class Partition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int


class OffsetRange(NamedTuple):
    """The messages of one topic partition from `start` up to, not including, `until`."""

    topic: str
    partition: int
    start: int
    until: int
