"""STDDEV and VAR: accumulators that merge and take back, exact where the argument is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.operators.aggregate.accumulators import (
    Accumulator,
    Rows,
    Summed,
    floats,
    ints,
    overflow,
    sum_floats,
    unsupported,
    valid,
)
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Columns, Frames
from rowkind.operators.aggregate.int128 import WIDE, from_limbs, limbs, unsigned_limbs
from rowkind.operators.changes import Floats, Groups, Ints


def stddev_pop(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return _moments(call, argument, root=True, sample=False)


def stddev_samp(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return _moments(call, argument, root=True, sample=True)


def var_pop(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return _moments(call, argument, root=False, sample=False)


def var_samp(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return _moments(call, argument, root=False, sample=True)


def _moments(call: AggregateCall, argument: pa.DataType, root: bool, sample: bool) -> Accumulator:
    spread = Spread(call.type, root, sample)
    if pa.types.is_integer(argument) or (pa.types.is_decimal(argument) and argument.precision <= 18):
        return ExactMoments(call, argument, spread)
    if pa.types.is_decimal(argument) or pa.types.is_floating(argument):
        return Moments(call, spread)
    raise unsupported(call, argument)


@dataclass(frozen=True, slots=True)
class Spread:
    """Which of the four it is: the root of a variance or the variance, of a sample or of all there is."""

    type: pa.DataType
    root: bool
    sample: bool

    def __call__(self, n: Ints, squares: Floats) -> pa.Array:
        """Of n values whose squared deviations from the mean sum up to `squares`."""
        divisor = n - 1 if self.sample else n
        variance = squares / np.maximum(divisor, 1)
        values = np.sqrt(variance) if self.root else variance
        if not pa.types.is_decimal(self.type):
            return pa.array(values, mask=divisor <= 0).cast(self.type, safe=False)
        # What does not fit the decimal is NULL, as in Flink; Arrow's cast would make it 0.
        fits = np.abs(values) < 10.0 ** (self.type.precision - self.type.scale)
        result = pa.array(np.where(fits, values, 0.0), mask=(divisor <= 0) | ~fits)
        return pc.round(result, ndigits=self.type.scale).cast(self.type, safe=False)


@dataclass(frozen=True, slots=True)
class ExactMoments(Summed):
    """STDDEV and VAR over integers and decimals of up to 64 bits: number, sum and sum of squares, all exact.

    A value x is a * 2**32 + b, and its square is kept as the sums of a * a, a * b and b * b.
    """

    call: AggregateCall
    argument: pa.DataType
    spread: Spread

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
        squares = [(high.python(i) << 64) + (middle.python(i) << 33) + low.python(i) for i in range(len(n))]
        if pa.types.is_integer(self.call.type):
            return self._whole([total.python(i) for i in range(len(n))], squares, n.tolist())
        unit = 10 ** (2 * self.argument.scale) if pa.types.is_decimal(self.argument) else 1
        deviations = np.zeros(len(n), dtype=np.float64)
        for row, count in enumerate(n.tolist()):
            if count > 1:
                deviations[row] = (count * squares[row] - total.python(row) ** 2) / (count * unit)
        return self.spread(n, np.maximum(deviations, 0.0))

    def _whole(self, totals: list[int], squares: list[int], counts: list[int]) -> pa.Array:
        """Over integers Flink divides integers at every step of (sum(x * x) - sum(x) * sum(x) / n) / n."""
        result: list[int | None] = []
        for total, square, count in zip(totals, squares, counts, strict=True):
            divisor = count - 1 if self.spread.sample else count
            variance = (square - total * total // count) // divisor if count > 0 and divisor > 0 else None
            result.append(isqrt(variance) if self.spread.root and variance is not None else variance)
        try:
            return pa.array(result, pa.decimal128(38, 0)).cast(self.call.type)
        except (pa.ArrowInvalid, OverflowError):
            raise overflow(self.call) from None


@dataclass(frozen=True, slots=True)
class Moments:
    """STDDEV and VAR over other numbers: number, mean and sum of squared deviations, of values added and taken back.

    The two sides are merged apart and subtracted once they meet the stored row, which always holds what is taken back.
    """

    call: AggregateCall
    spread: Spread

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        return (pa.int64(), pa.float64(), pa.float64()) * 2

    def partial(self, rows: Rows) -> list[pa.Array]:
        assert rows.values is not None
        values = floats(rows.values)
        present = valid(rows.values, len(values))
        sides = [np.maximum(rows.weights, 0) * present, np.maximum(-rows.weights, 0) * present]
        return [column for weights in sides for column in _merged(rows.groups, weights, values, np.zeros(len(values)))]

    def merge(self, columns: Sequence[pa.Array], groups: Groups) -> list[pa.Array]:
        sides = (columns[:3], columns[3:])
        return [
            column for n, mean, squares in sides for column in _merged(groups, ints(n), floats(mean), floats(squares))
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
        return self.spread(ints(columns[0]), floats(columns[2]))

    def framed(self, values: pa.Array | None, weights: Ints, frames: Frames, since: int = 0) -> list[pa.Array]:
        assert values is not None
        number = (weights * valid(values, len(weights))).astype(np.float64)
        mean = np.where(number > 0, floats(values), 0.0)
        count, centre, squares = frames.fold([number, mean, np.zeros(len(mean))], _together, [0.0, 0.0, 0.0])
        zero = np.zeros(len(frames))
        nothing = zero.astype(np.int64)
        return [pa.array(column) for column in (count.astype(np.int64), centre, squares, nothing, zero, zero)]


def _merged(groups: Groups, n: Ints, mean: Floats, squares: Floats) -> list[pa.Array]:
    """Parts with the given number, mean and squared deviations, put together."""
    total = groups.sum(n)
    mean = np.where(n > 0, mean, 0.0)
    centre = sum_floats(groups, n * mean) / np.maximum(total, 1)
    spread = sum_floats(groups, np.where(n > 0, squares + n * (mean - centre[groups.index]) ** 2, 0.0))
    return [pa.array(total), pa.array(centre), pa.array(spread)]


def _together(a: Columns, b: Columns) -> Columns:
    """Number, mean and squared deviations of two parts together."""
    total = a[0] + b[0]
    some = np.maximum(total, 1.0)
    apart = b[1] - a[1]
    return [total, a[1] + apart * b[0] / some, a[2] + b[2] + apart**2 * a[0] * b[0] / some]
