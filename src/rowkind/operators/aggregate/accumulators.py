"""Accumulators live in the group's one state row: they merge, and take back what they were given.

Each is a few columns. `partial` makes them from input rows, before the exchange; `merge` joins partial columns, and
also the stored columns with the batch's; `settle` tidies the merged columns before they are stored; `result` reads
them. `framed` makes them for frames of OVER. A NULL column value is the neutral element throughout.

`rowkind.aggregate_functions` names, for each function, what makes its accumulator here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Frames
from rowkind.operators.aggregate.int128 import WIDE, from_limbs, limbs
from rowkind.operators.changes import Bools, Floats, Groups, Ints
from rowkind.state.hashing import KeyHashes


@dataclass(frozen=True, slots=True)
class Rows:
    """Input rows of one call: its argument, a signed weight a row (0 where FILTER says no), and the row's order."""

    values: pa.Array | None
    weights: Ints
    groups: Groups
    order: Ints


class Accumulator(Protocol):
    @property
    def call(self) -> AggregateCall: ...

    @property
    def types(self) -> tuple[pa.DataType, ...]: ...

    def partial(self, rows: Rows) -> list[pa.Array]: ...

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]: ...

    def settle(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]: ...

    def result(self, columns: Sequence[pa.Array]) -> pa.Array: ...

    def framed(self, values: pa.Array | None, weights: Ints, frames: Frames, since: int = 0) -> list[pa.Array]:
        """The columns of each frame of rows in order. `since` is the place of the first row in the whole input."""
        ...


class Summed:
    """Columns that add up: there is nothing to settle, and those of a frame are the sums of its rows' columns."""

    def settle(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
        return columns

    def framed(
        self: Accumulator, values: pa.Array | None, weights: Ints, frames: Frames, since: int = 0
    ) -> list[pa.Array]:
        alone = self.partial(Rows(values, weights, each(len(weights)), np.arange(len(weights))))
        return [_summed(self.call, column, frames) for column in alone]


def _summed(call: AggregateCall, column: pa.Array, frames: Frames) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pa.array(frames.sum_floats(floats(column)))
    if column.type != WIDE:
        return pa.array(frames.sum(ints(column)))
    total = from_limbs([frames.sum(digit) for digit in limbs(column)])
    if total.overflow.any():
        raise overflow(call)
    return total.arrow()


def accumulator_of(call: AggregateCall, argument: pa.DataType | None) -> Accumulator:
    """The accumulator of a call over an argument of this type; None for COUNT(*)."""
    made: Accumulator = implementation(call.entry.implementation)(call, argument)
    return made


@cache
def implementation(path: str) -> Any:
    """What an entry names: `module:name` in this package."""
    module, _, name = path.partition(":")
    return getattr(import_module(f"rowkind.operators.aggregate.{module}"), name)


def each(size: int) -> Groups:
    """Every row a group of its own."""
    none = np.zeros(0, dtype=np.uint64)
    return Groups(np.arange(size), np.arange(size), KeyHashes(none, none))


def ints(column: pa.Array) -> Ints:
    return np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False))


def floats(column: pa.Array) -> Floats:
    return np.asarray(column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False))


def valid(values: pa.Array | None, size: int) -> Bools:
    if values is None or not values.null_count:
        return np.ones(size, dtype=bool)
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False))


def sum_floats(groups: Groups, values: Floats) -> Floats:
    totals = np.zeros(len(groups), dtype=np.float64)
    np.add.at(totals, groups.index, values)
    return totals


def at_places(values: pa.Array, at: Ints) -> pa.Array:
    """Values by position, NULL where it is -1."""
    return values.take(pa.array(at, mask=at < 0))


def overflow(call: AggregateCall) -> RowkindError:
    return RowkindError("SUM_OVERFLOW", function=call.function, column=call.name, type=str(call.type))


def unsupported(call: AggregateCall, argument: pa.DataType) -> RowkindError:
    return RowkindError("AGGREGATE_NOT_SUPPORTED", function=call.function, type=str(argument))


@dataclass(frozen=True, slots=True)
class Count(Summed):
    """COUNT(*) and COUNT(x)."""

    call: AggregateCall

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (pa.int64(),)

    def partial(self, rows: Rows) -> list[pa.Array]:
        return [pa.array(rows.groups.sum(rows.weights * valid(rows.values, len(rows.weights))))]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        return [pa.array(groups.sum(ints(columns[0])))]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        return columns[0].fill_null(0)


def count(call: AggregateCall, argument: pa.DataType | None) -> Accumulator:
    return Count(call)
