"""What a sink shows of the rows that share its key, when the query's rows have another key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.rank.top_n import Rank
from rowkind.state.contract import StateTables


class OnConflict(StrEnum):
    """ON CONFLICT DO …, when several rows have the same key."""

    DEDUPLICATE = "DEDUPLICATE"
    """The newest row is shown; when it goes, the one before it."""
    NOTHING = "NOTHING"
    """The first row is shown for as long as it lives, then the next."""
    ERROR = "ERROR"
    """The job fails."""


@dataclass(frozen=True)
class Materialize:
    """Keeps the live rows of every sink key in order of arrival, and emits the one to show: +I, +U, -D by that key.

    That is a Top-1 by arrival. `upsert_key` is the key of the query's rows, if they have one: a row then replaces the
    one of the same key, and is found again even if other columns were computed differently.
    """

    input: pa.Schema
    sink_key: tuple[str, ...]
    upsert_key: tuple[str, ...] | None = None
    on_conflict: OnConflict = OnConflict.DEDUPLICATE
    table: str = ""
    """The sink's name, for the error."""
    ttl_ms: int = 0

    @cached_property
    def _shown(self) -> Rank:
        return Rank(
            self.input,
            self.sink_key,
            last=1,
            latest_first=self.on_conflict is OnConflict.DEDUPLICATE,
            identity=self.upsert_key,
            upsert_key=self.sink_key,
            update_before=False,
            ttl_ms=self.ttl_ms,
        )

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.input,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.sink_key

    @property
    def exchange_schema(self) -> pa.Schema:
        return self._shown.exchange_schema

    @property
    def output_schema(self) -> pa.Schema:
        return self._shown.output_schema

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        return self._shown.combine(delta, input, order)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        standing = self._shown.ranked(delta, state, batch)
        second = np.flatnonzero(standing.now == 2)
        if self.on_conflict is OnConflict.ERROR and len(second):
            [row] = standing.rows.slice(int(second[0]), 1).select(self.sink_key).to_pylist()
            key = ", ".join(f"{name} = {value!r}" for name, value in row.items())
            raise RowkindError("SINK_KEY_CONFLICT", table=self.table, key=key, keys=len(second))
        return self._shown.output(standing)
