"""Dates and times of row images, packed by bits; also in the form that servers before 5.6 have left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql.arrays import Bools, Ints, View, days, either, impossible, numbers
from rowkind.connectors.mysql.table_maps import OLD_DATETIME, OLD_TIME, OLD_TIMESTAMP, WireColumn

if TYPE_CHECKING:
    from rowkind.connectors.mysql.reading_counts import Counts

_FRACTION = (0, 10_000, 100, 1)
"""Microseconds of one unit of a fraction of so many bytes."""


def dates(view: View, at: Ints, nulls: Bools | None, counts: Counts) -> pa.Array:
    packed = view.little(at, 3)
    date, missing = _dates(packed >> 9, (packed >> 5) & 15, packed & 31, nulls, counts)
    return numbers(date.astype(np.int32), pa.date32(), missing)


def datetimes(wire: WireColumn, view: View, at: Ints, nulls: Bools | None, counts: Counts) -> pa.Array:
    if wire.type == OLD_DATETIME:
        digits = view.little(at, 8)
        day, clock = digits // 1_000_000, digits % 1_000_000
        year, month, of_month = day // 10_000, day // 100 % 100, day % 100
        seconds = clock // 10_000 * 3600 + clock // 100 % 100 * 60 + clock % 100
    else:
        packed = view.big(at, 5) - 0x8000000000
        months = packed >> 22
        year, month, of_month = months // 13, months % 13, (packed >> 17) & 31
        seconds = ((packed >> 12) & 31) * 3600 + ((packed >> 6) & 63) * 60 + (packed & 63)
    date, missing = _dates(year, month, of_month, nulls, counts)
    micros = (date * 86400 + seconds) * 1_000_000
    return numbers(micros + _fraction(wire, view, at, 5), pa.timestamp("us"), missing)


def timestamps(wire: WireColumn, view: View, at: Ints, nulls: Bools | None, counts: Counts) -> pa.Array:
    """Seconds since 1970; none at all is the zero date."""
    seconds = view.little(at, 4) if wire.type == OLD_TIMESTAMP else view.big(at, 4)
    micros = seconds * 1_000_000 + _fraction(wire, view, at, 4)
    zero = micros == 0 if nulls is None else (micros == 0) & ~nulls
    counts.zero_dates += int(np.count_nonzero(zero))
    return numbers(micros, pa.timestamp("us", "UTC"), either(nulls, zero))


def time_lengths(wire: WireColumn, view: View, at: Ints) -> tuple[Bools, Ints]:
    """Which are negative, and how many microseconds they are without their sign."""
    if wire.type == OLD_TIME:
        digits = (view.little(at, 3) << 40) >> 40
        clock = np.abs(digits)
        return digits < 0, (clock // 10_000 * 3600 + clock // 100 % 100 * 60 + clock % 100) * 1_000_000
    size = wire.width - 3
    packed = view.big(at, wire.width) - (0x800000 << (8 * size))
    # Fraction and all count down below zero: without the sign both are read as above it.
    clock = np.abs(packed)
    fraction = (clock & ((1 << 8 * size) - 1)) * _FRACTION[size] if size else np.zeros(len(at), np.int64)
    clock = clock >> (8 * size)
    seconds = ((clock >> 12) & 0x3FF) * 3600 + ((clock >> 6) & 63) * 60 + (clock & 63)
    return packed < 0, seconds * 1_000_000 + fraction


def _dates(year: Ints, month: Ints, day: Ints, nulls: Bools | None, counts: Counts) -> tuple[Ints, Bools | None]:
    wrong = impossible(year, month, day)
    if nulls is not None:
        wrong &= ~nulls
    counts.zero_dates += int(np.count_nonzero(wrong))
    return days(year, month, day), either(nulls, wrong)


def _fraction(wire: WireColumn, view: View, at: Ints, before: int) -> Ints | int:
    size = wire.width - before
    if wire.type in (OLD_DATETIME, OLD_TIMESTAMP) or not size:
        return 0
    return view.big(at + before, size) * _FRACTION[size]
