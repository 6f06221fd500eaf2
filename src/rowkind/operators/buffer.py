"""Rows held back before a sink, so that only the last one of a key is written: `sink.buffer-flush.*`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Bools, column_array
from rowkind.operators.contract import END_OF_TIME, BatchContext, Output
from rowkind.operators.net import groups, net_change
from rowkind.operators.normalize import COALESCED
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, hash_columns, hash_rows

ORDER, SINCE = "__order", "__since"
_PLACE = pa.schema([("h1", pa.int64()), ("h2", pa.int64()), (SINCE, pa.int64())])
"""Of a held row: the hash of its key, and the clock of the batch that first brought the key."""


@dataclass(frozen=True)
class Buffer:
    """Holds the last row of each key across batches; all that is held is written together, one row a key.

    That happens when `max_rows` keys are held in the partition, when one has waited for the interval, and at the end of
    a bounded input. With `net` the rows of a batch are weighed, as they come from a stateful operator in no order.
    """

    input: pa.Schema
    sink_key: tuple[str, ...]
    max_rows: int
    interval: int
    """Microseconds."""
    net: bool = False

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.input,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.sink_key

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return self.input.append(pa.field(ORDER, pa.int64()))

    @property
    def output_schema(self) -> pa.Schema:
        return self.input

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        return delta.append_column(self.exchange_schema.field(ORDER), pa.array(order + np.arange(delta.num_rows)))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        fresh = self._last_of_each(delta)
        table = state.table("held", pa.schema([*_PLACE, *self.input]), (), ("h1", "h2"))
        held = table.lookup(hash_columns([], 1)).entries
        every, new = _merged(held, self._entries(fresh, held.schema, batch.clock))
        counters = {COALESCED: delta.num_rows + held.num_rows - every.num_rows}
        oldest = int(column_array(every, SINCE).to_numpy().min(initial=END_OF_TIME))
        if every.num_rows >= self.max_rows or self._over(oldest, batch):
            table.write(None, held.select(["h1", "h2"]), delete_keys=hash_columns([], held.num_rows))
            return Output(every.select(self.input.names), counters)
        table.write(every.filter(pa.array(new)), None, upsert_keys=hash_columns([], int(new.sum())))
        due = oldest + self.interval if every.num_rows else None
        return Output(self.input.empty_table(), counters, due)

    def _over(self, oldest: int, batch: BatchContext) -> bool:
        return batch.watermark == END_OF_TIME or batch.clock - oldest >= self.interval

    def _last_of_each(self, delta: pa.Table) -> pa.Table:
        """What the batch leaves of each key, in order."""
        order = column_array(delta, ORDER).to_numpy()
        rows = delta.select(self.input.names).take(pa.array(np.argsort(order, kind="stable"))).combine_chunks()
        if self.net:
            return net_change(rows, list(self.sink_key))
        _, last, _ = groups(hash_rows(rows, self.sink_key))
        return rows.take(pa.array(np.sort(last)))

    def _entries(self, fresh: pa.Table, schema: pa.Schema, clock: int) -> pa.Table:
        """The batch's rows as the table keeps them."""
        hashes = hash_rows(fresh, self.sink_key)
        since = np.full(fresh.num_rows, clock, dtype=np.int64)
        place = [pa.array(hashes.h1.view(np.int64)), pa.array(hashes.h2.view(np.int64)), pa.array(since)]
        return pa.Table.from_arrays([*place, *fresh.columns], schema=schema)


def _merged(held: pa.Table, fresh: pa.Table) -> tuple[pa.Table, Bools]:
    """The last row of each key, and which of them are new. A key waits no longer for having changed again."""
    both = pa.concat_tables([held, fresh]).combine_chunks()
    h1, h2, since = (column_array(both, name).to_numpy() for name in ("h1", "h2", SINCE))
    _, last, key = groups(KeyHashes(h1.view(np.uint64), h2.view(np.uint64)))
    first = np.full(len(last), END_OF_TIME)
    np.minimum.at(first, key, since)
    order = np.argsort(last, kind="stable")
    rows = both.take(pa.array(last[order]))
    rows = rows.set_column(rows.column_names.index(SINCE), SINCE, pa.array(first[order], pa.int64()))
    return rows.cast(both.schema).combine_chunks(), last[order] >= held.num_rows
