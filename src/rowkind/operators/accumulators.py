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
import pyarrow.compute as pc

from rowkind.errors import RowkindError
from rowkind.operators.calls import AggregateCall
from rowkind.operators.changes import Bools, Groups, Ints
from rowkind.operators.wide import WIDE, Wide, divide_rounded, divide_truncated, from_limbs, limbs, unsigned_limbs
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


class _Settled:
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


@dataclass(frozen=True, slots=True)
class Count(_Settled):
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
class ExactSum(_Settled):
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

    def _average(self, sums: Wide, counts: Ints, some: Bools) -> pa.Array:
        if pa.types.is_decimal(self.argument):
            return self._decimal(divide_rounded(sums, counts, self.call.type.scale - self.argument.scale), some)
        return self._integer(divide_truncated(sums, counts), some, np.ones(len(counts), dtype=bool))

    def _integer(self, values: Ints, some: Bools, fits: Bools) -> pa.Array:
        if np.any(some & ~fits):
            raise self._overflow()
        try:
            return pa.array(values, mask=~some).cast(self.call.type)
        except pa.ArrowInvalid:
            raise self._overflow() from None

    def _decimal(self, unscaled: Wide, some: Bools) -> pa.Array:
        if np.any(some & (unscaled.overflow | ~unscaled.within(10**self.call.type.precision))):
            raise self._overflow()
        return unscaled.arrow(self.call.type, some)

    def _checked(self, sums: Wide) -> Wide:
        if sums.overflow.any():
            raise self._overflow()
        return sums

    def _overflow(self) -> RowkindError:
        return RowkindError(
            "SUM_OVERFLOW", function=self.call.function, column=self.call.name, type=str(self.call.type)
        )


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


def spread(call: AggregateCall, n: Ints, squares: Floats) -> pa.Array:
    """STDDEV or VAR of n values whose squared deviations from the mean sum up to `squares`."""
    divisor = n - 1 if call.function.endswith("_SAMP") else n
    variance = squares / np.maximum(divisor, 1)
    values = np.sqrt(variance) if call.function.startswith("STDDEV") else variance
    result = pa.array(values, mask=divisor <= 0)
    if pa.types.is_decimal(call.type):
        return pc.round(result, ndigits=call.type.scale).cast(call.type, safe=False)
    return result.cast(call.type, safe=False)


@dataclass(frozen=True, slots=True)
class ExactMoments(_Settled):
    """STDDEV and VAR over integers and decimals of up to 64 bits: number, sum and sum of squares, all exact.

    A value x is a * 2**32 + b, and its square is kept as the sums of a * a, a * b and b * b.
    """

    call: AggregateCall
    argument: pa.DataType

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (pa.int64(), WIDE, WIDE, WIDE, WIDE)

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        b, a = limbs(rows.values)[:2]
        if pa.types.is_decimal(self.argument):
            a = a.astype(np.int32).astype(np.int64)  # limbs of a decimal are unsigned but for the last
        square = (b * b).view(np.uint64)
        digits = [[b, a], *(limbs(pa.array(column)) for column in (a * a, a * b)), unsigned_limbs(square)]
        sums = [from_limbs([rows.groups.sum(rows.weights * d) for d in parts]).arrow() for parts in digits]
        return [pa.array(rows.groups.sum(rows.weights * valid(rows.values, len(rows.weights)))), *sums]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        sums = [from_limbs([groups.sum(digit) for digit in limbs(column)]).arrow() for column in columns[1:]]
        return [pa.array(groups.sum(ints(columns[0]))), *sums]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        n = ints(columns[0])
        total, high, middle, low = (from_limbs(limbs(column)) for column in columns[1:])
        unit = 10 ** (2 * self.argument.scale) if pa.types.is_decimal(self.argument) else 1
        deviations = np.zeros(len(n), dtype=np.float64)
        for row, count in enumerate(n.tolist()):
            if count > 1:
                squares = (high.python(row) << 64) + (middle.python(row) << 33) + low.python(row)
                deviations[row] = (count * squares - total.python(row) ** 2) / (count * unit)
        return spread(self.call, n, np.maximum(deviations, 0.0))


@dataclass(frozen=True, slots=True)
class Moments:
    """STDDEV and VAR over other numbers: number, mean and sum of squared deviations, of values added and taken back.

    The two sides are merged apart and subtracted once they meet the stored row, which always holds what is taken back.
    """

    call: AggregateCall

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (pa.int64(), pa.float64(), pa.float64()) * 2

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        values = floats(rows.values)
        present = valid(rows.values, len(values))
        sides = [np.maximum(rows.weights, 0) * present, np.maximum(-rows.weights, 0) * present]
        return [column for weights in sides for column in _moments(rows.groups, weights, values, np.zeros(len(values)))]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        sides = (columns[:3], columns[3:])
        return [
            column for n, mean, squares in sides for column in _moments(groups, ints(n), floats(mean), floats(squares))
        ]

    def settle(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
        added, mean_added, squares_added = ints(columns[0]), floats(columns[1]), floats(columns[2])
        taken, mean_taken, squares_taken = ints(columns[3]), floats(columns[4]), floats(columns[5])
        left = added - taken
        some = np.maximum(left, 1)
        mean = mean_added + (mean_added - mean_taken) * taken / some
        cross = (mean_taken - mean) ** 2 * taken * left / np.maximum(added, 1)
        squares = np.where(taken > 0, squares_added - squares_taken - cross, squares_added)
        mean = np.where(left > 0, np.where(taken > 0, mean, mean_added), 0.0)
        squares = np.where(left > 1, np.maximum(squares, 0.0), 0.0)
        zero = np.zeros(len(left))
        return [pa.array(a) for a in (left, mean, squares, np.zeros(len(left), dtype=np.int64), zero, zero)]

    def result(self, columns: Sequence[pa.Array]) -> pa.Array:
        return spread(self.call, ints(columns[0]), floats(columns[2]))


def _moments(groups: Groups, n: Ints, mean: Floats, squares: Floats) -> list[pa.Array]:
    """Parts with the given number, mean and squared deviations, put together."""
    total = groups.sum(n)
    mean = np.where(n > 0, mean, 0.0)
    centre = sum_floats(groups, n * mean) / np.maximum(total, 1)
    spread = sum_floats(groups, np.where(n > 0, squares + n * (mean - centre[groups.index]) ** 2, 0.0))
    return [pa.array(total), pa.array(centre), pa.array(spread)]


@dataclass(frozen=True, slots=True)
class Extreme(_Settled):
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
class Ending(_Settled):
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
