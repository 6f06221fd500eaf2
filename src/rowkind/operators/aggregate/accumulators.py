"""Accumulators that live in the group's one state row: they merge, and take back what they were given.

Each is a few columns. `partial` makes them from input rows, before the shuffle; `merge` joins partial columns, and also
the stored columns with the batch's; `settle` tidies the merged columns before they are stored; `result` reads them.
A NULL column value is the neutral element throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.int128 import WIDE, Int128, divide_rounded, divide_truncated, from_limbs, limbs
from rowkind.operators.changes import Bools, Groups, Ints
from rowkind.state.contract import Order
from rowkind.state.ordering import sort_rows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Input rows of one call: its argument, a signed weight a row (0 where FILTER says no), and the row's order."""

    values: pa.Array | None
    weights: Ints
    groups: Groups
    order: Ints


class Accumulator(Protocol):
    @property
    def types(self) -> tuple[pa.DataType, ...]: ...

    def partial(self, rows: Rows) -> list[pa.Array]: ...

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]: ...

    def settle(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]: ...

    def result(self, columns: Sequence[pa.Array]) -> pa.Array: ...


class Settled:
    def settle(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
        return columns


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


def overflow(call: AggregateCall) -> RowkindError:
    return RowkindError("SUM_OVERFLOW", function=call.function, column=call.name, type=str(call.type))


@dataclass(frozen=True, slots=True)
class Count(Settled):
    """COUNT(*) and COUNT(x)."""

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (pa.int64(),)

    def partial(self, rows: Rows) -> list[pa.Array]:
        return [pa.array(rows.groups.sum(rows.weights * valid(rows.values, len(rows.weights))))]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        return [pa.array(groups.sum(ints(columns[0])))]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        return columns[0].fill_null(0)


@dataclass(frozen=True, slots=True)
class ExactSum(Settled):
    """SUM and AVG over integers and decimals: a 128-bit sum and the number of values."""

    call: AggregateCall
    argument: pa.DataType

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (WIDE, pa.int64())

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        digits = [rows.groups.sum(rows.weights * digit) for digit in limbs(rows.values)]
        counts = rows.groups.sum(rows.weights * valid(rows.values, len(rows.weights)))
        return [self._checked(from_limbs(digits)).arrow(), pa.array(counts)]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        digits = [groups.sum(digit) for digit in limbs(columns[0])]
        return [self._checked(from_limbs(digits)).arrow(), pa.array(groups.sum(ints(columns[1])))]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        sums, counts = from_limbs(limbs(columns[0])), ints(columns[1])
        some = counts > 0
        if self.call.function == "AVG":
            return self._average(sums, counts, some)
        if pa.types.is_decimal(self.argument):
            return self._decimal(sums, some)
        return self._integer(sums.int64(), some, sums.fits_int64)

    def _average(self, sums: Int128, counts: Ints, some: Bools) -> pa.Array:
        if pa.types.is_decimal(self.argument):
            return self._decimal(divide_rounded(sums, counts, self.call.type.scale - self.argument.scale), some)
        return self._integer(divide_truncated(sums, counts), some, np.ones(len(counts), dtype=bool))

    def _integer(self, values: Ints, some: Bools, fits: Bools) -> pa.Array:
        if np.any(some & ~fits):
            raise overflow(self.call)
        try:
            return pa.array(values, mask=~some).cast(self.call.type)
        except pa.ArrowInvalid:
            raise overflow(self.call) from None

    def _decimal(self, unscaled: Int128, some: Bools) -> pa.Array:
        if np.any(some & (unscaled.overflow | ~unscaled.within(10**self.call.type.precision))):
            raise overflow(self.call)
        return unscaled.arrow(self.call.type, some)

    def _checked(self, sums: Int128) -> Int128:
        if sums.overflow.any():
            raise overflow(self.call)
        return sums


@dataclass(frozen=True, slots=True)
class FloatSum:
    """SUM and AVG over FLOAT and DOUBLE: sum, number of values, and how many of them are NaN, +inf and -inf.

    The special values are counted apart, since NaN - NaN would stay NaN for ever. Rounding errors of values that were
    taken back remain in the sum until the group has no values.
    """

    call: AggregateCall

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (pa.float64(), *[pa.int64()] * 4)

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        values = floats(rows.values)
        finite = np.where(np.isfinite(values), values, 0.0)
        marks = (valid(rows.values, len(values)), np.isnan(values), values == np.inf, values == -np.inf)
        counts = [pa.array(rows.groups.sum(rows.weights * mark)) for mark in marks]
        return [pa.array(sum_floats(rows.groups, finite * rows.weights)), *counts]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        counts = [pa.array(groups.sum(ints(column))) for column in columns[1:]]
        return [pa.array(sum_floats(groups, floats(columns[0]))), *counts]

    def settle(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
        total = np.where(ints(columns[1]) > 0, floats(columns[0]), 0.0)
        return [pa.array(total), *columns[1:]]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        total, count, nans, ups, downs = floats(columns[0]), *(ints(column) for column in columns[1:])
        total = np.where(ups > 0, np.inf, np.where(downs > 0, -np.inf, total))
        total = np.where((nans > 0) | ((ups > 0) & (downs > 0)), np.nan, total)
        if self.call.function == "AVG":
            total = total / np.maximum(count, 1)
        return pa.array(total, mask=count <= 0).cast(self.call.type, safe=False)


@dataclass(frozen=True, slots=True)
class Extreme(Settled):
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
        return [pick_first(values, chosen & valid(values, len(values)), groups, self.call.function == "MAX")]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        return columns[0].cast(self.call.type)


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


@dataclass(frozen=True, slots=True)
class Ending(Settled):
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
        last = self.call.function == "LAST_VALUE"
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
