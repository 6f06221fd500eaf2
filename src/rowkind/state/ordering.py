"""Sort columns as integer codes, so that one numpy sort orders rows of any types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.state.contract import Order
from rowkind.state.hashing import decimal_words

Codes = npt.NDArray[np.int64]


def orders(sort: Sequence[str | Order]) -> tuple[Order, ...]:
    return tuple(column if isinstance(column, Order) else Order(column) for column in sort)


def order_codes(table: pa.Table, sort: Sequence[Order]) -> list[Codes]:
    """Integer columns, most significant first, that compare as the sort says. Only codes of one call compare."""
    codes: list[Codes] = []
    for order in sort:
        column = table.column(order.column)
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if column.null_count:
            present = column.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
            first = (not order.descending) if order.nulls_first is None else order.nulls_first
            codes.append(present if first else -present)
        values = _codes(column)
        codes.append(~values if order.descending else values)
    return codes


def sort_rows(table: pa.Table, sort: Sequence[Order], *before: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The row numbers in order of the given arrays, then of the sort columns; stable."""
    keys = [*before, *order_codes(table, sort)]
    if not keys:
        return np.arange(table.num_rows)
    return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")


def _codes(column: pa.Array) -> Codes:
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), dtype=np.int64)
    if pa.types.is_floating(kind):
        return _float_codes(column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False))
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_temporal(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_signed_integer(column.type):
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        return np.asarray(values.astype(np.int64, copy=False))
    if pa.types.is_unsigned_integer(column.type):
        values = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64, copy=False)
        return np.asarray((values ^ np.uint64(1 << 63)).view(np.int64))
    if pa.types.is_decimal128(kind):
        words = decimal_words(column).view(np.int64)
        if np.all(words[:, 1] == words[:, 0] >> np.int64(63)):
            return words[:, 0]
    return _ranks(column)


def _float_codes(values: npt.NDArray[np.float64]) -> Codes:
    """The bits of a double order like integers once negative ones are mirrored; NaN is the largest, -0.0 is 0.0."""
    bits = np.where(np.isnan(values), np.float64("nan"), values + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits - 1, bits)


def _ranks(column: pa.Array) -> Codes:
    encoded = column.dictionary_encode()
    ranks = pc.rank(encoded.dictionary, tiebreaker="dense").to_numpy(zero_copy_only=False).astype(np.int64)
    indices = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return ranks[indices] if len(ranks) else np.zeros(len(column), dtype=np.int64)
