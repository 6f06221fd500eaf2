"""Keyed state as the operators see it: the committed version before a batch, and the batch's own writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class State(Protocol):
    """One table of one operator in one state partition.

    Entries are rows of a fixed Arrow schema, identified by their key columns and ordered within a key by sort columns
    (either may be empty). Reads see the version before the batch, never the batch's own writes. A task opens it,
    reads, calls `write` once, and is done; whatever happens to the task, nothing needs to be undone.
    """

    def lookup(self, keys: pa.RecordBatch) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """The live entries of the given distinct keys (key columns only): entries, and for each the index of its key.

        Ordered by key index, then by the sort columns.
        """
        ...

    def first(self, keys: pa.RecordBatch, limit: int) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """Like lookup, but at most `limit` entries a key, the first by the sort columns, without reading them all."""
        ...

    def write(self, upserts: pa.Table, deletes: pa.Table | None = None) -> None:
        """The batch's changes: whole entries to put (by key and sort columns), and (key, sort) columns to remove."""
        ...


class StateTables(Protocol):
    """The state of one operator in one partition: its tables by name. Given to the operator by the runtime."""

    def table(self, name: str, schema: pa.Schema, key: Sequence[str], sort: Sequence[str] = ()) -> State: ...
