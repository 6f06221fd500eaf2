"""DECIMAL of row images: groups of nine digits, each a big-endian integer; a negative number has all bits turned."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql.arrays import Bools, Halves, Ints, View, each, wide
from rowkind.connectors.mysql.table_maps import decimal_groups
from rowkind.connectors.mysql.types import ColumnType, Kind

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def decimals(column: ColumnType, view: View, at: Ints, nulls: Bools | None) -> pa.Array:
    """As DECIMAL, or as text where it has more digits than that holds."""
    precision, scale = column.column.precision or 10, column.column.scale or 0
    groups = decimal_groups(precision, scale)
    if column.kind is Kind.LONG_DECIMAL:
        size = sum(width for width, _ in groups)
        values = view.slices(at, np.full(len(at), size, np.int64), nulls)
        return each(values, lambda value: decimal_text(value, precision, scale), pa.string())
    negative = (view.bytes.take(at) & 0x80) == 0
    low: Halves = np.zeros(len(at), np.uint64)
    high: Halves = np.zeros(len(at), np.uint64)
    for place, (width, digits) in enumerate(groups):
        group = view.big(at, width)
        if place == 0:
            group ^= 0x80 << (8 * (width - 1))
        digits_of = np.where(negative, ~group & ((1 << 8 * width) - 1), group).astype(np.uint64)
        low, high = _times_and_plus(low, high, np.uint64(10**digits), digits_of, small=precision <= 18)
        at = at + width
    signed_low, signed_high = low.view(np.int64), high.view(np.int64)
    carry = (signed_low == 0).astype(np.int64)
    low_half = np.where(negative, -signed_low, signed_low)
    high_half = np.where(negative, ~signed_high + carry, signed_high)
    return wide(low_half, high_half, column.arrow, nulls)


def _times_and_plus(low: Halves, high: Halves, factor: np.uint64, add: Halves, small: bool) -> tuple[Halves, Halves]:
    """(high, low) * factor + add, in 128 bits; up to 18 digits are in the low half alone."""
    product = low * factor + add
    if small:
        return product, high
    lower = (low & _LOW) * factor
    upper = (low >> _HALF) * factor + (lower >> _HALF)
    return product, high * factor + (upper >> _HALF) + (product < add)


def decimal_text(value: bytes, precision: int, scale: int) -> str:
    """The number as the server writes it, whatever its length."""
    negative = not value[0] & 0x80
    data = bytes([value[0] ^ 0x80]) + value[1:]
    if negative:
        data = bytes(byte ^ 0xFF for byte in data)
    digits, at = "", 0
    for width, count in decimal_groups(precision, scale):
        digits += str(int.from_bytes(data[at : at + width], "big")).zfill(count)
        at += width
    whole, fraction = digits[: precision - scale].lstrip("0") or "0", digits[precision - scale :]
    return ("-" if negative else "") + whole + (f".{fraction}" if scale else "")
