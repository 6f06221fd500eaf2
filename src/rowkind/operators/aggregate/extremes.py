"""MIN and MAX of append-only input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.aggregate.accumulators import Accumulator, Rows, Summed, at_places, valid
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Frames
from rowkind.operators.changes import Bools, Groups, Ints
from rowkind.state.contract import Order
from rowkind.state.ordering import order_codes, sort_rows


def extreme(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return Extreme(call, argument)


@dataclass(frozen=True, slots=True)
class Extreme(Summed):
    """MIN and MAX of an input that takes nothing back: the value."""

    call: AggregateCall
    argument: pa.DataType

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (self.argument,)

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        return self._pick(rows.values, rows.weights > 0, rows.groups)

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        return self._pick(columns[0], np.ones(len(groups.index), dtype=bool), groups)

    def _pick(self, values: pa.Array, chosen: Bools, groups: Groups) -> list[pa.Array]:
        return [pick_first(values, chosen & valid(values, len(values)), groups, self.call.entry.last)]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        return columns[0].cast(self.call.type)

    def framed(self, values: pa.Array | None, weights: Ints, frames: Frames, since: int = 0) -> list[pa.Array]:
        assert values is not None
        chosen = np.flatnonzero((weights > 0) & valid(values, len(weights)))
        sort = [Order("v", self.call.entry.last)]
        codes = order_codes(pa.table({"v": values.take(pa.array(chosen))}), sort)[0]
        distinct, first, rank = np.unique(codes, return_index=True, return_inverse=True)
        ranks = np.full(len(weights), len(distinct))
        ranks[chosen] = rank
        return [at_places(values, np.append(chosen[first], -1)[frames.least(ranks)])]


def pick_first(values: pa.Array, chosen: Bools, groups: Groups, descending: bool = False) -> pa.Array:
    """The smallest (largest) of the chosen values of each group; NULL for a group without any."""
    rows = np.flatnonzero(chosen)
    index = groups.index[rows]
    table = pa.table({"v": values.take(pa.array(rows))})
    order = sort_rows(table, [Order("v", descending)], index)
    sorted_index = index[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = sorted_index[1:] != sorted_index[:-1]
    picked = np.full(len(groups), -1, dtype=np.int64)
    picked[sorted_index[first]] = rows[order[first]]
    return values.take(pa.array(picked, mask=picked < 0))
