"""SUM and AVG: accumulators that merge and take back, exact where the argument is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

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
from rowkind.operators.aggregate.int128 import WIDE, Int128, divide_rounded, divide_truncated, from_limbs, limbs
from rowkind.operators.changes import Bools, Groups, Ints


def total(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return _sum(call, argument, average=False)


def average(call: AggregateCall, argument: pa.DataType) -> Accumulator:
    return _sum(call, argument, average=True)


def _sum(call: AggregateCall, argument: pa.DataType, average: bool) -> Accumulator:
    if pa.types.is_integer(argument) or pa.types.is_decimal128(argument):
        return ExactSum(call, argument, average)
    if pa.types.is_floating(argument):
        return FloatSum(call, average)
    raise unsupported(call, argument)


@dataclass(frozen=True, slots=True)
class ExactSum(Summed):
    """SUM and AVG over integers and decimals: a 128-bit sum and the number of values."""

    call: AggregateCall
    argument: pa.DataType
    average: bool

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
        if self.average:
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
class FloatSum(Summed):
    """SUM and AVG over FLOAT and DOUBLE: sum, number of values, and how many of them are NaN, +inf and -inf.

    The special values are counted apart, since NaN - NaN would stay NaN for ever. Rounding errors of values that were
    taken back remain in the sum until the group has no values.
    """

    call: AggregateCall
    average: bool

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
        if self.average:
            total = total / np.maximum(count, 1)
        return pa.array(total, mask=count <= 0).cast(self.call.type, safe=False)
