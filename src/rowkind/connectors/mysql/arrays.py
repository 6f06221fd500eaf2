"""Arrow arrays from pieces of a network buffer and from numbers, many rows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Halves = npt.NDArray[np.uint64]

SLACK = 64
"""Bytes that must follow the used part of a buffer: a value is read where a NULL has none."""


class View:
    """A buffer whose integers are read at any offset, for a whole array of offsets at once."""

    def __init__(self, buffer: Any) -> None:
        self.bytes: Bytes = np.frombuffer(buffer, np.uint8)
        length = len(self.bytes) - 8
        self._two = np.ndarray((length,), "<u2", buffer, 0, (1,))
        self._four = np.ndarray((length,), "<u4", buffer, 0, (1,))
        self._eight = np.ndarray((length,), "<u8", buffer, 0, (1,))

    def little(self, at: Ints, width: int) -> Ints:
        """Unsigned little-endian integers; those of eight bytes keep their bits."""
        if width == 1:
            return self.bytes.take(at).astype(np.int64)
        if width == 2:
            return self._two[at].astype(np.int64)
        if width <= 4:
            return (self._four[at] & np.uint32(0xFFFFFFFF >> (32 - 8 * width))).astype(np.int64)
        found = self._eight[at]
        if width < 8:
            found &= np.uint64((1 << 8 * width) - 1)
        return found.view(np.int64)

    def big(self, at: Ints, width: int) -> Ints:
        """Unsigned big-endian integers."""
        if width == 1:
            return self.bytes.take(at).astype(np.int64)
        found = self._eight[at].byteswap(True)
        if width < 8:
            found >>= np.uint64(64 - 8 * width)
        return found.view(np.int64)

    def slices(self, at: Ints, length: Ints, nulls: Bools | None) -> pa.BinaryArray:
        """The bytes from each offset on. Offsets must ascend, as values in a buffer do.

        All values and the gaps between them are one array over the buffer itself; taking every second one is then a
        copy in C++.
        """
        count = len(at)
        if not count:
            return pa.array([], pa.binary())
        bounds = np.empty(2 * count, np.int32)
        bounds[0::2] = at
        np.add(at, length, out=bounds[1::2], casting="unsafe")
        validity = None
        if nulls is not None:
            mask = np.ones(2 * count - 1, np.bool_)
            mask[0::2] = ~nulls
            validity = pa.array(mask).buffers()[1]
        buffers = [validity, pa.py_buffer(bounds), pa.py_buffer(self.bytes)]
        whole = pa.Array.from_buffers(pa.binary(), 2 * count - 1, buffers)
        return whole.take(pa.array(np.arange(0, 2 * count - 1, 2, dtype=np.int32)))


def numbers(values: npt.NDArray[Any], type: pa.DataType, nulls: Bools | None) -> pa.Array:
    """An array over numbers that already are what the Arrow type holds."""
    validity = None if nulls is None else pa.array(~nulls).buffers()[1]
    return pa.Array.from_buffers(type, len(values), [validity, pa.py_buffer(np.ascontiguousarray(values))])


def booleans(values: Bools, nulls: Bools | None) -> pa.BooleanArray:
    return pa.array(values, pa.bool_(), mask=nulls)


def wide(low: npt.NDArray[Any], high: npt.NDArray[Any], type: pa.DataType, nulls: Bools | None) -> pa.Array:
    """Decimals from their two halves."""
    halves = np.empty((len(low), 2), np.int64)
    halves[:, 0] = low.view(np.int64)
    halves[:, 1] = high.view(np.int64)
    return numbers(halves, type, nulls) if len(low) else pa.array([], type)


def each(values: pa.Array, convert: Callable[[Any], Any], type: pa.DataType) -> pa.Array:
    """The exact slow path: one value after the other."""
    return pa.array([None if value is None else convert(value) for value in values.to_pylist()], type)


def days(year: Ints, month: Ints, day: Ints) -> Ints:
    """Days since 1970 of a date of the Gregorian calendar, which MySQL also uses for the time before it."""
    shifted = year - (month <= 2)
    era = np.floor_divide(shifted, 400)
    of_era = shifted - era * 400
    of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    found: Ints = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return found


_LENGTHS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0])


def impossible(year: Ints, month: Ints, day: Ints) -> Bools:
    """Zero dates, wholly or in part, and days that no month has, which some SQL modes let in."""
    leap = (month == 2) & (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    found: Bools = (day < 1) | (day > _LENGTHS[month & 15] + leap)
    return found


def either(nulls: Bools | None, more: Bools) -> Bools | None:
    """The rows that are NULL for one reason or the other."""
    if not more.any():
        return nulls
    return more if nulls is None else nulls | more


def time_texts(negative: Bools, micros: Ints, digits: int, nulls: Bools | None) -> pa.StringArray:
    """Lengths of time as the server writes them: `-838:59:59.000000` at most, two digits of hours at least."""
    count = len(micros)
    seconds, fraction = micros // 1_000_000, micros % 1_000_000
    width = 10 + (digits + 1 if digits else 0)
    text = np.full((count, width), ord("0"), np.uint8)
    hours = seconds // 3600
    for place, number in ((1, hours // 100), (2, hours // 10 % 10), (3, hours % 10)):
        text[:, place] += number.astype(np.uint8)
    for place, number in ((5, seconds // 60 % 60), (8, seconds % 60)):
        text[:, place] += (number // 10).astype(np.uint8)
        text[:, place + 1] += (number % 10).astype(np.uint8)
    text[:, 4] = text[:, 7] = ord(":")
    if digits:
        text[:, 10] = ord(".")
        for place in range(digits):
            text[:, 11 + place] += (fraction // 10 ** (5 - place) % 10).astype(np.uint8)
    first = np.where(hours >= 100, 1, 2) - negative
    text[np.flatnonzero(negative), first[negative]] = ord("-")
    at = np.arange(count, dtype=np.int64) * width + first
    view = View(np.append(text.reshape(-1), np.zeros(SLACK, np.uint8)))
    return view.slices(at, width - first, nulls).cast(pa.string())
