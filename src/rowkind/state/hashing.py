"""Stable 128-bit hashes of rows, vectorised. State files rest on them: the numbers must never change.

Equal are: values of the same column that SQL calls equal, NULL and NULL, NaN and NaN, 0.0 and -0.0. Two different keys
share all 128 bits with a chance of about n² / 2**129 for n keys (10**-20 for ten billion), which is taken as never.

That holds for keys that were not made to collide. Whoever knows all constants can find such keys of two words in 2**32
tries, so a job has constants of its own, made of a secret in its checkpoint: `use_key`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

U64 = npt.NDArray[np.uint64]

_NULL = np.uint64(0xD6E8FEB86659FD93)
_LONG = 256
"""Strings longer than this many bytes are hashed one by one; the loop over words would be longer than that."""
_CHUNK = 16_384
"""Rows at a time, so that intermediate arrays stay in the processor's cache."""
_TAIL = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class _Constants:
    """What a hash starts from, what is added before a word, and what is multiplied after it; per lane."""

    seeds: tuple[np.uint64, np.uint64]
    step: np.uint64
    factors: tuple[tuple[np.uint64, np.uint64], tuple[np.uint64, np.uint64]]


_PLAIN = _Constants(
    (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)),
    np.uint64(0x9E3779B97F4A7C15),
    (
        (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)),
        (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)),
    ),
)


@lru_cache(maxsize=64)
def _constants(key: bytes) -> _Constants:
    """Seven words that follow from the key and tell nothing of it; a factor is odd, or it would lose a bit."""
    if not key:
        return _PLAIN
    words = np.frombuffer(hashlib.blake2b(key, digest_size=56, person=b"rowkind hash").digest(), dtype="<u8")
    a, b, c, d = (np.uint64(word | np.uint64(1)) for word in words[3:])
    return _Constants((words[0], words[1]), words[2], ((a, b), (c, d)))


class _Process:
    """What this process hashes with."""

    constants = _PLAIN


def use_key(key: bytes) -> None:
    """Hash by the key of a job from now on. A worker runs one task at a time, and each begins with this."""
    _Process.constants = _constants(key)


@dataclass(frozen=True, slots=True)
class KeyHashes:
    """Two independent 64-bit hashes a row."""

    h1: U64
    h2: U64

    def take(self, rows: npt.NDArray[Any]) -> KeyHashes:
        return KeyHashes(self.h1[rows], self.h2[rows])

    def __len__(self) -> int:
        return len(self.h1)


def concat_hashes(*parts: KeyHashes) -> KeyHashes:
    return KeyHashes(np.concatenate([p.h1 for p in parts]), np.concatenate([p.h2 for p in parts]))


def hash_rows(table: pa.Table | pa.RecordBatch, columns: Sequence[str] | None = None) -> KeyHashes:
    """The hashes of the given columns (all of them by default), row by row.

    >>> a = hash_rows(pa.table({"x": [1, 2, 1], "y": ["a", None, "a"]}))
    >>> bool(a.h1[0] == a.h1[2]), bool(a.h1[0] == a.h1[1])
    (True, False)
    """
    names = table.column_names if columns is None else columns
    return hash_columns([table.column(name) for name in names], table.num_rows)


def hash_columns(columns: Sequence[pa.Array | pa.ChunkedArray], rows: int) -> KeyHashes:
    one, two = _Process.constants.seeds
    return extend(KeyHashes(np.full(rows, one), np.full(rows, two)), columns)


def extend(hashes: KeyHashes, columns: Sequence[pa.Array | pa.ChunkedArray]) -> KeyHashes:
    """The hashes of rows whose first columns have the given hashes: those of (a, b) are those of a, extended by b."""
    extended = KeyHashes(hashes.h1.copy(), hashes.h2.copy())
    flat = [_flat(column) for column in columns]
    digests = [_repeated_digests(column) for column in flat]
    for at in range(0, len(hashes), _CHUNK):
        lanes = [lane[at : at + _CHUNK] for lane in (extended.h1, extended.h2)]
        for column, known in zip(flat, digests, strict=True):
            if known is None:
                _absorb(lanes, column.slice(at, _CHUNK))
            else:
                _mix(lanes, [words[at : at + _CHUNK] for words in known])
    return extended


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def _repeated_digests(column: pa.Array) -> list[U64] | None:
    """The digests of a text column by way of its distinct texts, if they look few."""
    if not pa.types.is_dictionary(column.type):
        sample = column.slice(len(column) // 2, 512)
        if len(column) < _CHUNK or not _is_text(column.type) or len(sample.unique()) > 384:
            return None
        column = column.dictionary_encode(null_encoding="encode")
    if column.indices.null_count or not _is_text(column.type.value_type):
        return None
    indices = column.indices.to_numpy(zero_copy_only=False)
    return [words[indices] for words in _text_digests(column.dictionary)]


def _mix(lanes: list[U64], words: list[U64]) -> None:
    """One more word a lane in each row's hash."""
    constants = _Process.constants
    for lane, word, (a, b) in zip(lanes, words, constants.factors, strict=True):
        z = lane + constants.step
        z ^= word
        z ^= z >> np.uint64(30)
        z *= a
        z ^= z >> np.uint64(27)
        z *= b
        z ^= z >> np.uint64(31)
        lane[:] = z


def _mix_rows(lanes: list[U64], words: U64, rows: npt.NDArray[np.int64]) -> None:
    """One more word in the hashes of the given rows."""
    chosen = [lane[rows] for lane in lanes]
    _mix(chosen, [words, words])
    for lane, mixed in zip(lanes, chosen, strict=True):
        lane[rows] = mixed


def _absorb(lanes: list[U64], column: pa.Array) -> None:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        column = column.cast(pa.large_binary())
        kind = column.type
    if _is_text(kind):
        _mix(lanes, _text_digests(column))
    elif pa.types.is_decimal128(kind):
        words = decimal_words(column)
        _mix(lanes, [words[:, 0]] * 2)
        _mix(lanes, [words[:, 1]] * 2)
        _mark_nulls(lanes, column)
    elif pa.types.is_nested(kind) or pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind):
        digests = _digests([repr(_canonical(value)).encode() for value in column.to_pylist()])
        _mix(lanes, [digests[:, 0], digests[:, 1]])
        _mark_nulls(lanes, column)
    else:
        _mix(lanes, [_fixed_words(column)] * 2)
        _mark_nulls(lanes, column)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _fixed_words(column: pa.Array) -> U64:
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), dtype=np.uint64)
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
        return np.asarray(np.where(np.isnan(values), np.float64("nan"), values)).view(np.uint64)
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_temporal(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if column.type == pa.uint64():
        return np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False))
    values = np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False))
    return values.astype(np.int64, copy=False).view(np.uint64)


def _mark_nulls(lanes: list[U64], column: pa.Array) -> None:
    """A step that no value takes: NULL differs from the value whose bits it left behind."""
    if column.null_count:
        null = column.is_null().to_numpy(zero_copy_only=False)
        for lane in lanes:
            lane[null] ^= _NULL


def decimal_words(column: pa.Array) -> U64:
    """The (low, high) words of a decimal128 array, zero for NULL."""
    buffer = column.buffers()[1]
    if buffer is None:
        return np.zeros((len(column), 2), dtype=np.uint64)
    words = np.frombuffer(buffer, dtype=np.uint64)[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2)
    if column.null_count:
        words = np.where(column.is_null().to_numpy(zero_copy_only=False)[:, None], np.uint64(0), words)
    return words


def _text_digests(column: pa.Array) -> list[U64]:
    """A digest of each text: eight bytes at a time, all rows at once; the length, with NULL as -1, ends it."""
    size = len(column)
    lanes = [np.full(size, seed) for seed in _Process.constants.seeds]
    wide = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offset_buffer, data_buffer = column.buffers()
    if not size or offset_buffer is None:
        return lanes
    offsets = np.frombuffer(offset_buffer, dtype="<i8" if wide else "<i4")[column.offset :][: size + 1].astype(np.int64)
    starts = offsets[:-1]
    lengths: npt.NDArray[np.int64] = offsets[1:] - starts
    if column.null_count:
        lengths = np.where(column.is_null().to_numpy(zero_copy_only=False), -1, lengths)
    longest = int(lengths.max(initial=0))
    if longest > _LONG:
        long = np.flatnonzero(lengths > _LONG)
        digests = _digests(column.take(pa.array(long)).cast(pa.large_binary()).to_pylist())
        for half in (0, 1):
            _mix_rows(lanes, digests[:, half], long)
    if longest > 0 and data_buffer is not None:
        begin, end = int(starts[0]), int(offsets[-1])
        data = np.zeros(end - begin + 8, dtype=np.uint8)
        data[: end - begin] = np.frombuffer(data_buffer, dtype=np.uint8)[begin:end]
        words = np.ndarray((end - begin + 1,), dtype="<u8", buffer=data.data, strides=(1,))
        for at in range(0, min(longest, _LONG), 8):
            rows = np.flatnonzero((lengths > at) & (lengths <= _LONG))
            word = words[starts[rows] - begin + at] & _TAIL[np.minimum(lengths[rows] - at, 8)]
            if len(rows) == size:
                _mix(lanes, [word, word])
            else:
                _mix_rows(lanes, word, rows)
    _mix(lanes, [lengths.view(np.uint64)] * 2)
    return lanes


def _digests(data: list[bytes]) -> U64:
    joined = b"".join(hashlib.blake2b(item, digest_size=16).digest() for item in data)
    return np.frombuffer(joined, dtype="<u8").reshape(-1, 2)


def _canonical(value: Any) -> Any:
    """A Python value whose repr is the same for equal SQL values: map entries sorted, one zero, one NaN."""
    if isinstance(value, dict):
        return {name: _canonical(member) for name, member in value.items()}
    if isinstance(value, list):
        members = [_canonical(member) for member in value]
        pairs = bool(members) and all(isinstance(member, tuple) for member in members)
        return sorted(members, key=repr) if pairs else members
    if isinstance(value, tuple):
        return tuple(_canonical(member) for member in value)
    if isinstance(value, float):
        return value + 0.0
    return value


def equal_rows(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Row by row, whether the columns hold the same values; NULL equals NULL and NaN equals NaN."""
    same = np.ones(left.num_rows, dtype=bool)
    for name in columns:
        same &= _equal(_flat(left.column(name)), _flat(right.column(name)))
    return same


def _equal(left: pa.Array, right: pa.Array) -> npt.NDArray[np.bool_]:
    if pa.types.is_nested(left.type):
        a, b = hash_columns([left], len(left)), hash_columns([right], len(right))
        return np.asarray((a.h1 == b.h1) & (a.h2 == b.h2))
    if pa.types.is_null(left.type):
        return np.ones(len(left), dtype=bool)
    same = pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(left.type):
        same = same | pc.fill_null(pc.and_(pc.is_nan(left), pc.is_nan(right)), False).to_numpy(zero_copy_only=False)
    if left.null_count or right.null_count:
        same = same | pc.and_(left.is_null(), right.is_null()).to_numpy(zero_copy_only=False)
    return np.asarray(same, dtype=bool)
