"""Binary Arrow arrays seen as one numpy buffer and the offsets of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


def spans(array: pa.Array) -> tuple[Bytes, Ints]:
    """The bytes of a binary or string array and where each value starts; value i is `data[at[i]:at[i + 1]]`."""
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    at = np.frombuffer(offsets, np.int32, array.offset + len(array) + 1)[array.offset :].astype(np.int64)
    return (np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)), at


def valid(array: pa.Array) -> Bools:
    """True where a value is not null."""
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False))


def binary(data: Bytes, at: Ints, type: pa.DataType | None = None, nulls: Bools | None = None) -> pa.Array:
    """An Arrow array of the values `data[at[i]:at[i + 1]]`, without a copy of the data."""
    mask = None if nulls is None or not nulls.any() else pa.array(~nulls).buffers()[1]
    return pa.Array.from_buffers(
        type or pa.binary(), len(at) - 1, [mask, pa.py_buffer(at.astype(np.int32)), pa.py_buffer(data)]
    )


def fixed(values: np.ndarray[Any, Any], nulls: Bools | None = None) -> pa.Array:
    """An Arrow binary array whose value i is the bytes of `values[i]`."""
    width = values.dtype.itemsize
    return binary(values.view(np.uint8), np.arange(len(values) + 1, dtype=np.int64) * width, None, nulls)


def is_utf8(array: pa.BinaryArray) -> Bools:
    """True where a value is valid UTF-8."""
    try:
        array.cast(pa.string())
    except pa.ArrowInvalid:
        return np.array([v is None or _is_utf8(v) for v in array.to_pylist()], np.bool_)
    return np.ones(len(array), np.bool_)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
