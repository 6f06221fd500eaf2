"""Dates and times read from text, a whole column at a time, in the shapes that writers commonly use.

A value of any other shape is left to the exact parsers: it is reported, not guessed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.formats.spans import Bools, Bytes, Ints, spans, valid
from rowkind.formats.temporal import TimestampStandard
from rowkind.types import DataType, Root, arrow_type

_LENGTHS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)
_TIMES = frozenset({Root.TIME, Root.TIMESTAMP, Root.TIMESTAMP_LTZ})


def temporal_column(
    texts: pa.StringArray, type: DataType, standard: TimestampStandard, quote: str = ""
) -> tuple[pa.Array, Bools]:
    """The values of a DATE, TIME or TIMESTAMP column, and which texts were of no known shape.

    `quote` stands before and after each text.
    """
    values = np.zeros(len(texts), np.int64)
    odd = valid(texts)
    data, at = spans(texts)
    lengths = np.where(odd, np.diff(at), 0)
    for length in np.unique(lengths).tolist():
        layout = _layout(length - 2 * len(quote), type, standard, quote)
        if layout is not None:
            rows = np.flatnonzero(lengths == length)
            shaped, found = _read(_matrix(data, at, rows, length), layout, type, len(quote))
            values[rows] = found
            odd[rows] = ~shaped
    return _array(values, ~valid(texts) | odd, type), odd


def _layout(length: int, type: DataType, standard: TimestampStandard, quote: str) -> str | None:
    """A text of this length with 0 for every digit, or None when no value has that length."""
    date = "" if type.root is Root.TIME else "0000-00-00"
    if type.root is Root.DATE:
        return quote + date + quote if length == len(date) else None
    separator = "" if not date else " " if standard is TimestampStandard.SQL else "T"
    tail = "Z" if type.root is Root.TIMESTAMP_LTZ else ""
    clock = f"{date}{separator}00:00:00"
    digits = length - len(clock) - len(tail) - 1
    if not -1 <= digits <= 9 or digits == 0:
        return None
    return quote + clock + ("." + "0" * digits if digits > 0 else "") + tail + quote


def _matrix(data: Bytes, at: Ints, rows: Ints, length: int) -> Bytes:
    if len(rows) == len(at) - 1:
        return data[at[0] : at[-1]].reshape(len(rows), length)
    windows: Bytes = np.lib.stride_tricks.sliding_window_view(data, length)[at[rows]]
    return windows


def _read(texts: Bytes, layout: str, type: DataType, start: int) -> tuple[Bools, Ints]:
    pattern = np.frombuffer(layout.encode(), np.uint8)
    is_digit = pattern == ord("0")
    shaped: Bools = (texts[:, ~is_digit] == pattern[~is_digit]).all(1)
    digits = texts - ord("0")
    shaped &= (digits[:, is_digit] <= 9).all(1)
    value = np.zeros(len(texts), np.int64)
    if type.root is not Root.TIME:
        fits, value = _days(digits, start)
        shaped &= fits
        start += 11
    if type.root in _TIMES:
        fits, micros = _micros(digits, start, layout)
        shaped &= fits
        value = micros // 1000 * 1_000_000 if type.root is Root.TIME else value * 86_400_000_000 + micros
    return shaped, value


def _number(digits: Bytes, start: int, count: int) -> Ints:
    value = digits[:, start].astype(np.int64)
    for column in range(start + 1, start + count):
        value = value * 10 + digits[:, column]
    return value


def _days(digits: Bytes, start: int) -> tuple[Bools, Ints]:
    year, month, day = (_number(digits, start + i, n) for i, n in ((0, 4), (5, 2), (8, 2)))
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0)) & (month == 2)
    fits = (month >= 1) & (month <= 12) & (day >= 1)
    fits &= day <= _LENGTHS[np.where(fits, month, 0)] + leap
    of_march = year - (month <= 2)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return fits, 365 * of_march + of_march // 4 - of_march // 100 + of_march // 400 + of_year - 719_468


def _micros(digits: Bytes, start: int, layout: str) -> tuple[Bools, Ints]:
    hour, minute, second = (_number(digits, start + i, 2) for i in (0, 3, 6))
    fits = (hour < 24) & (minute < 60) & (second < 60)
    micros = ((hour * 60 + minute) * 60 + second) * 1_000_000
    point = layout.find(".")
    if point >= 0:
        kept = min(layout.count("0", point), 6)
        micros += _number(digits, point + 1, kept) * 10 ** (6 - kept)
    return fits, micros


def _array(values: Ints, nulls: Bools, type: DataType) -> pa.Array:
    numbers: Any = values.astype(np.int32) if type.root is Root.DATE else values
    return pa.array(numbers, mask=nulls).view(arrow_type(type))
