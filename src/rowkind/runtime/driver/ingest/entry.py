"""A batch of an ingestion job as its entry in the checkpoint says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rowkind.connectors.contract import Position
from rowkind.runtime.driver.batch_entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestBatch(Entry):
    """Staged files, and what their rows are written with."""

    schemas: str
    """Digest of the tables' schemas that the rows have."""
    topics: str
    """Digest of the topics' columns for the rows."""
    topics_after: str
    """The same for the next batch, after a statement that ended this one."""
    tasks: tuple[Mapping[str, Any], ...]
    """Of each task its file, the rows of each table in it, and the files whose keys are left out."""
    position: Position
    """Where the source is after the batch."""
    rows: int

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> IngestBatch:
        return IngestBatch(**{**said, "tasks": tuple(said["tasks"]), "notes": tuple(said["notes"])})
