"""Numbers as Avro's bytes, whole arrays at a time. Rows that are not present take no bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.formats.spans import Bools, Ints, binary, fixed

_CONTINUE = np.uint64(0x8080808080808080)
_SEVEN = 7 * np.arange(10, dtype=np.uint64)


def numbers(values: np.ndarray[Any, Any], present: Bools | None = None) -> pa.BinaryArray:
    """Numbers of a fixed width, in the byte order of their type."""
    if present is None:
        return fixed(values)
    width = values.dtype.itemsize
    return binary(np.ascontiguousarray(values[present]).view(np.uint8), _ends(present * width))


def varints(values: Ints, present: Bools | None = None) -> pa.BinaryArray:
    """Zig-zag numbers, seven bits a byte, lowest first."""
    zigzag = (values << 1 ^ values >> 63).view(np.uint64)
    largest = int(zigzag.max()) if len(values) else 0
    if largest < 1 << 7:
        return numbers(zigzag.astype(np.uint8), present)
    digits, sizes = _in_words(zigzag) if largest < 1 << 56 else _in_rows(zigzag)
    if present is not None:
        sizes = sizes * present
    return _ragged(digits, np.arange(digits.shape[1]) < sizes[:, None], sizes)


def _in_words(zigzag: np.ndarray[Any, np.dtype[np.uint64]]) -> tuple[np.ndarray[Any, Any], Ints]:
    """Numbers of at most 56 bits, their groups of seven spread over the bytes of a word."""
    word = (zigzag & np.uint64(0x0FFFFFFF)) | ((zigzag & np.uint64(0x00FFFFFFF0000000)) << np.uint64(4))
    word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x0FFFC0000FFFC000)) << np.uint64(2))
    word = (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x3F803F803F803F80)) << np.uint64(1))
    spread = word | word >> np.uint64(8)
    spread |= spread >> np.uint64(16)
    spread |= spread >> np.uint64(32)
    # A byte of `spread` is not zero from the highest byte that is used down to the lowest.
    used = ((spread & ~_CONTINUE) + ~_CONTINUE) & _CONTINUE
    word |= used >> np.uint64(8)
    return word.view(np.uint8).reshape(-1, 8), np.maximum(np.bitwise_count(used), 1).astype(np.int64)


def _in_rows(zigzag: np.ndarray[Any, np.dtype[np.uint64]]) -> tuple[np.ndarray[Any, Any], Ints]:
    sizes = 1 + (zigzag[:, None] >= np.uint64(1) << _SEVEN[None, 1:]).sum(axis=1)
    digits = ((zigzag[:, None] >> _SEVEN) & np.uint64(0x7F)).astype(np.uint8)
    digits[np.arange(10) < sizes[:, None] - 1] |= 0x80
    return digits, sizes


def decimals(column: pa.Array, present: Bools | None = None, size: int | None = None) -> pa.BinaryArray:
    """Unscaled values in two's complement, highest byte first: the fewest bytes, or as many as `size`."""
    if len(column) == 0:
        return pa.array([], pa.binary())
    end = column.offset + len(column)
    words = np.frombuffer(column.buffers()[1], np.int64, 2 * end).reshape(-1, 2)[column.offset :]
    big = words[:, ::-1].astype(">i8").view(np.uint8).reshape(-1, 16)
    sign = np.where(words[:, 1] < 0, 0xFF, 0).astype(np.uint8)
    if size is None:
        # A leading byte is spare when it only repeats the sign of the byte after it.
        spare = (big[:, :-1] == sign[:, None]) & ((big[:, 1:] ^ sign[:, None]) < 0x80)
        sizes = 16 - np.logical_and.accumulate(spare, axis=1).sum(axis=1)
    else:
        sizes = np.full(len(words), size)
        big = np.concatenate([np.repeat(sign[:, None], max(size - 16, 0), axis=1), big], axis=1)
    if present is not None:
        sizes = sizes * present
    width = big.shape[1]
    return _ragged(big, np.arange(width) >= width - sizes[:, None], sizes)


def _ragged(matrix: np.ndarray[Any, Any], used: Bools, sizes: Ints) -> pa.BinaryArray:
    return binary(matrix[used], _ends(sizes))


def _ends(sizes: Ints) -> Ints:
    at = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=at[1:])
    return at
