"""Keyed state as the operators see it: the committed version before a batch, and the batch's own writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.state.hashing import KeyHashes


@dataclass(frozen=True, slots=True)
class Order:
    """One sort column. By default NULL is the smallest value, as in Flink: first ascending, last descending."""

    column: str
    descending: bool = False
    nulls_first: bool | None = None


class Found(NamedTuple):
    """Entries of a read, and for each the index of the key it belongs to; ordered by that index, then by the sort."""

    entries: pa.Table
    key_index: npt.NDArray[np.int64]


class State(Protocol):
    """One table of one operator in one state partition.

    Entries are rows of a fixed Arrow schema. An entry is identified by its key columns and its sort columns (either
    may be empty) and is ordered within its key by the sort columns. Key columns need not be in the schema: what is
    not in it is not stored, only its 128-bit hash (`hash_rows` of state/hashing.py), on which identity rests.

    Reads see the version before the batch, never the batch's own writes. A task opens the table, reads, calls `write`
    at most once, and is done; whatever happens to the task, nothing needs to be undone.
    """

    def lookup(self, keys: pa.Table | KeyHashes) -> Found:
        """The live entries of the given distinct keys: the key columns in the order of `key`, or their hashes."""
        ...

    def first(self, keys: pa.Table | KeyHashes, limit: int | npt.NDArray[np.int64], *, last: bool = False) -> Found:
        """Like lookup, but at most `limit` entries a key (one number, or one per key), without reading the others.

        The first by the sort columns; with `last` the last ones, still in ascending order.
        """
        ...

    def write(
        self,
        upserts: pa.Table | None,
        deletes: pa.Table | None = None,
        *,
        upsert_keys: KeyHashes | None = None,
        delete_keys: KeyHashes | None = None,
    ) -> None:
        """The batch's changes: whole entries to put, and key and sort columns of entries to remove.

        No entry may occur twice. Key columns may be left out of a table when their hashes are given.
        """
        ...


class StateTables(Protocol):
    """The state of one operator in one partition: its tables by name. Given to the operator by the runtime."""

    def table(
        self,
        name: str,
        schema: pa.Schema,
        key: Sequence[str],
        sort: Sequence[str | Order] = (),
        ttl_ms: int = 0,
    ) -> State:
        """Open a table; the definition must be the same in every batch. 0 keeps entries for ever.

        With a TTL an entry that was not written for that long, by the batch's clock, reads as absent.
        """
        ...
