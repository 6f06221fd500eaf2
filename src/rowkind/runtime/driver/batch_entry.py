"""A batch as its entry in the checkpoint says; of a job of SQL what is read of each table, and its watermarks.

It stands alone. Ranges and their cut into tasks, the clock and the place of every source after the batch are all in it,
so a batch that is run again, on any number of cores, reads and computes the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rowkind.connectors.contract import Position, Share, Split, TaskRange
from rowkind.runtime.driver.watermark_tracking import Times


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What every batch has, whatever kind of job it is of."""

    number: int
    clock: int
    """Epoch microseconds: the time of the batch for PROCTIME(), TTL and random seeds."""
    notes: tuple[str, ...] = ()
    """What the user is told when it is run."""
    final: bool = False
    """A bounded job's last batch, with nothing to read: time has come to its end."""
    id: str = ""
    """Tells it from another batch of its number."""
    plan: str = ""
    """The digest of the plan that it must be run with."""

    def to_json(self) -> dict[str, Any]:
        return plain(self)


def plain(entry: Entry) -> dict[str, Any]:
    """The fields of an entry as they are; JSON makes lists of tuples."""
    return {field.name: getattr(entry, field.name) for field in fields(entry)}


@dataclass(frozen=True, slots=True)
class Input:
    """What a batch reads of one table."""

    tasks: tuple[TaskRange, ...]
    """As the table's source has cut them; none: nothing is read."""
    until: Position
    """Where the source is after the batch."""
    rows: Mapping[Split, int]
    """Of each split that is read, how many."""
    left: Mapping[str, int] = field(default_factory=dict)
    """By name of a split, rows that are there and wait for later batches."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the source wants to have counted when the batch is done."""

    @property
    def splits(self) -> tuple[Split, ...]:
        """Those that are read, in an order that workers share."""
        return tuple(sorted(self.rows))

    def to_json(self) -> dict[str, Any]:
        return {
            "tasks": list(self.tasks),
            "until": self.until,
            "rows": [[*split, rows] for split, rows in sorted(self.rows.items())],
            "left": self.left,
            "counts": self.counts,
        }

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> Input:
        rows = {Split(name, number): rows for name, number, rows in said["rows"]}
        return Input(tuple(said["tasks"]), said["until"], rows, said["left"], said["counts"])

    @staticmethod
    def of_share(share: Share, left: Mapping[str, int]) -> Input:
        return Input(tuple(share.tasks), share.until, share.rows, left, share.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Entry):
    """One atomic cut across all input tables."""

    inputs: tuple[Input, ...]
    watermarks: Times = field(default_factory=dict)
    """Of each group of tables that an operator follows, behind the rows of the batch; None until there is one."""
    before: Times = field(default_factory=dict)
    """The same before its rows."""

    @property
    def rows(self) -> int:
        return sum(map(self.rows_of, range(len(self.inputs))))

    @property
    def lag(self) -> int:
        """Rows that are there and are left for later batches."""
        return sum(rows for read in self.inputs for rows in read.left.values())

    def rows_of(self, table: int) -> int:
        return sum(self.inputs[table].rows.values())

    def to_json(self) -> dict[str, Any]:
        return {**plain(self), "inputs": [read.to_json() for read in self.inputs]}

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> Batch:
        """Read a batch back from its entry."""
        inputs = tuple(map(Input.of_json, said["inputs"]))
        return Batch(**{**said, "inputs": inputs, "notes": tuple(said["notes"])})
