"""FIRST_VALUE and LAST_VALUE of append-only input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.aggregate.accumulators import Accumulator, Rows, Summed, at_places, ints, valid
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Frames
from rowkind.operators.changes import Bools, Groups, Ints


def ending(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return Ending(call, argument)


@dataclass(frozen=True, slots=True)
class Ending(Summed):
    """FIRST_VALUE and LAST_VALUE of an input that takes nothing back: the value and its place in the input."""

    call: AggregateCall
    argument: pa.DataType

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (self.argument, pa.int64())

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        chosen = (rows.weights > 0) & valid(rows.values, len(rows.weights))
        return self._pick(rows.values, pa.array(rows.order), chosen, rows.groups)

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        return self._pick(columns[0], columns[1], valid(columns[0], len(groups.index)), groups)

    def _pick(self, values: pa.Array, order: pa.Array, chosen: Bools, groups: Groups) -> list[pa.Array]:
        last = self.call.entry.last
        best = np.full(len(groups), np.iinfo(np.int64).min if last else np.iinfo(np.int64).max)
        places = ints(order)
        (np.maximum if last else np.minimum).at(best, groups.index[chosen], places[chosen])
        winner = np.flatnonzero(chosen & (places == best[groups.index]))
        picked = np.full(len(groups), -1, dtype=np.int64)
        picked[groups.index[winner]] = winner
        rows = pa.array(picked, mask=picked < 0)
        return [values.take(rows), order.take(rows)]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        return columns[0].cast(self.call.type)

    def framed(self, values: pa.Array | None, weights: Ints, frames: Frames, since: int = 0) -> list[pa.Array]:
        assert values is not None
        chosen, places = (weights > 0) & valid(values, len(weights)), np.arange(len(weights))
        if self.call.entry.last:
            found = np.maximum.accumulate(np.where(chosen, places, -1))[frames.last]
        else:
            found = np.minimum.accumulate(np.where(chosen, places, len(places))[::-1])[::-1][frames.first]
        at = np.where((found >= frames.first) & (found <= frames.last), found, -1)
        return [at_places(values, at), pa.array(since + at, mask=at < 0)]
