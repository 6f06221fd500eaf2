"""OVER in any other order, on a changelog: results of later rows change when a row comes between, or goes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import LAG
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Frames, runs
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.arrivals import SEQUENCE
from rowkind.operators.changes import KIND_FIELD, SUPPRESSED, Ints, group
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.over.frame_results import frame_result, neighbour
from rowkind.operators.rank.top_n import Rank, Standing
from rowkind.operators.weighted import changelog, net_of
from rowkind.state.contract import StateTables
from rowkind.state.hashing import equal_rows, hash_rows
from rowkind.state.ordering import order_codes


@dataclass(frozen=True)
class OverAnyOrder:
    """`calls` over `preceding` rows, or all rows before (None), and the row itself, in the order of `ranked`, which
    keeps the rows. Rows that are equal by the order share a frame unless `rows` are counted: then they stand in the
    order of their arrival."""

    ranked: Rank
    calls: tuple[AggregateCall, ...]
    rows: bool
    preceding: int | None

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return self.ranked.input_schemas

    @property
    def key(self) -> tuple[str, ...]:
        return self.ranked.key

    @property
    def exchange_schema(self) -> pa.Schema:
        return self.ranked.exchange_schema

    @cached_property
    def output_schema(self) -> pa.Schema:
        made = [call.field for call in self.calls]
        return pa.schema([*list(self.ranked.output_schema)[:-1], *made, KIND_FIELD])

    @cached_property
    def made(self) -> Aggregate:
        """The calls that aggregate, as those of a GROUP BY: it has their accumulators."""
        calls = tuple(call for call in self.calls if call.function != LAG)
        return Aggregate(self.ranked.input, self.ranked.partition, calls, append_only=True)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        return self.ranked.combine(delta, input, order)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        standing = self.ranked.ranked(delta, state, batch)
        codes = order_codes(standing.rows, self.ranked.order)
        was, now = (self._results(standing, ranks, codes) for ranks in (standing.was, standing.now))
        changed = ~equal_rows(was, now, now.column_names) | ((standing.was == 0) != (standing.now == 0))
        goes, comes = np.flatnonzero((standing.was > 0) & changed), np.flatnonzero((standing.now > 0) & changed)
        at = np.concatenate([goes, comes])
        rows = standing.rows.take(pa.array(at)).drop_columns([SEQUENCE])
        for name in now.column_names:
            old, new = was.column(name).take(pa.array(goes)), now.column(name).take(pa.array(comes))
            rows = rows.append_column(name, pa.chunked_array([*old.chunks, *new.chunks], new.type))
        rows = rows.combine_chunks()
        net = net_of(group(hash_rows(rows)).index, np.repeat([-1, 1], [len(goes), len(comes)]))
        key = self.ranked.upsert_key
        changes = changelog(rows.take(pa.array(net.position)), net.weight, key, self.ranked.update_before)
        touched = np.zeros(standing.partitions, dtype=bool)
        touched[standing.owner[at[net.position]]] = True
        counters = {SUPPRESSED: int(np.sum(~touched)), **standing.counters}
        return Output(changes.cast(self.output_schema), {name: n for name, n in counters.items() if n})

    def _results(self, standing: Standing, ranks: Ints, codes: list[Ints]) -> pa.Table:
        """The calls for each row, NULL for one that is not there."""
        there = np.flatnonzero(ranks)
        order = there[np.lexsort([ranks[there], standing.owner[there]])]
        owner, rows = standing.owner[order], standing.rows.take(pa.array(order)).combine_chunks()
        own = np.arange(len(order))
        begins, ends = runs(owner)
        first, last = (own, own) if self.rows else runs(owner, *(code[order] for code in codes))
        frames = Frames(begins if self.preceding is None else np.maximum(begins, first - self.preceding), last)
        results = {
            call.name: frame_result(call, self.made.accumulators.get(at), rows, frames)
            for at, call in enumerate(self.made.calls)
        }
        for call in self.calls:
            if call.function == LAG:
                results[call.name] = neighbour(call, rows, own, begins, ends)
        place = np.full(len(ranks), -1)
        place[order] = own
        taken = pa.array(place, mask=place < 0)
        return pa.table({call.name: results[call.name].take(taken) for call in self.calls})
