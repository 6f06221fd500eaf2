"""Exact 128-bit sums, vectorised: what SUM and AVG over integers and decimals keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.state.hashing import decimal_words

Ints = npt.NDArray[np.int64]
_LOW = np.int64(0xFFFFFFFF)
WIDE = pa.decimal128(38, 0)
"""The Arrow type that carries the 128 bits; the sum of decimals is kept unscaled in it."""


@dataclass(frozen=True, slots=True)
class Int128:
    """An array of signed 128-bit integers. `overflow` marks sums that did not fit."""

    low: npt.NDArray[np.uint64]
    high: Ints
    overflow: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.low)

    @property
    def fits_int64(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.high == (self.low.view(np.int64) >> np.int64(63)))

    def int64(self) -> Ints:
        """The low half: the value, where it fits."""
        return self.low.view(np.int64)

    def python(self, row: int) -> int:
        return (int(self.high[row]) << 64) | int(self.low[row])

    def within(self, bound: int) -> npt.NDArray[np.bool_]:
        """Whether the value is greater than -bound and smaller than bound."""
        negative = self.high < 0
        low = np.where(negative, ~self.low + np.uint64(1), self.low)
        high = np.where(negative, ~self.high + (self.low == 0), self.high)
        top, rest = np.int64(bound >> 64), np.uint64(bound & (2**64 - 1))
        return np.asarray((high >= 0) & ((high < top) | ((high == top) & (low < rest))))

    def arrow(self, type: pa.DataType = WIDE, present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
        """As the unscaled values of a decimal128 array; NULL where not present."""
        words = np.empty((len(self), 2), dtype=np.uint64)
        words[:, 0] = self.low
        words[:, 1] = self.high.view(np.uint64)
        bits = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little").tobytes())
        return pa.Array.from_buffers(type, len(self), [bits, pa.py_buffer(words.tobytes())])


def from_python(values: list[int]) -> Int128:
    low = np.array([v & (2**64 - 1) for v in values], dtype=np.uint64)
    overflow = np.array([not -(2**127) <= v < 2**127 for v in values], dtype=bool)
    high = np.array([((v >> 64) + 2**63) % 2**64 - 2**63 for v in values], dtype=np.int64)
    return Int128(low, high, overflow)


def from_int64(values: Ints) -> Int128:
    return Int128(values.view(np.uint64), values >> np.int64(63), np.zeros(len(values), dtype=bool))


def limbs(values: pa.Array) -> list[Ints]:
    """Integers or decimal128 as signed 32-bit digits in int64, lowest first, so that sums of them cannot overflow."""
    if pa.types.is_decimal128(values.type):
        words = decimal_words(values)
        low, high = np.ascontiguousarray(words[:, 0]).view(np.int64), np.ascontiguousarray(words[:, 1]).view(np.int64)
        return [low & _LOW, (low >> np.int64(32)) & _LOW, high & _LOW, high >> np.int64(32)]
    flat = np.asarray(values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))
    return [flat & _LOW, flat >> np.int64(32)]


def unsigned_limbs(values: npt.NDArray[np.uint64]) -> list[Ints]:
    return [values.view(np.int64) & _LOW, (values >> np.uint64(32)).view(np.int64)]


def from_limbs(digits: list[Ints]) -> Int128:
    """Carry out the digits, each any signed int64."""
    digits = [*digits, *(np.zeros_like(digits[0]) for _ in range(4 - len(digits)))]
    carry = np.zeros_like(digits[0])
    clean: list[Any] = []
    for digit in digits[:3]:
        total = digit + carry
        clean.append((total & _LOW).view(np.uint64))
        carry = total >> np.int64(32)
    top = digits[3] + carry
    low = clean[0] | (clean[1] << np.uint64(32))
    high = clean[2].view(np.int64) | (top << np.int64(32))
    return Int128(low, high, (top >= np.int64(2**31)) | (top < np.int64(-(2**31))))


def divide_truncated(sums: Int128, counts: Ints) -> Ints:
    """sum / count towards zero, as Flink averages integers; the quotient of 64-bit values always fits."""
    safe = np.maximum(counts, 1)
    small = sums.int64()
    quotients = small // safe
    quotients += (quotients < 0) & (small % safe != 0)
    for row in np.flatnonzero(~sums.fits_int64).tolist():
        total, count = sums.python(row), int(safe[row])
        quotients[row] = abs(total) // count * (1 if total >= 0 else -1)
    return np.asarray(quotients)


def divide_rounded(sums: Int128, counts: Ints, shift: int) -> Int128:
    """sum * 10**shift / count, rounded half away from zero, as Flink averages decimals."""
    safe = np.maximum(counts, 1)
    if np.all(sums.within(2**61 // 10**shift)) and int(safe.max(initial=1)) < 2**61:
        total = sums.int64() * np.int64(10**shift)
        quotients = (2 * np.abs(total) + safe) // (2 * safe)
        return from_int64(np.where(total < 0, -quotients, quotients))
    exact = []
    for row, count in enumerate(safe.tolist()):
        wide = sums.python(row) * 10**shift
        quotient = (2 * abs(wide) + count) // (2 * count)
        exact.append(quotient if wide >= 0 else -quotient)
    return from_python(exact)
