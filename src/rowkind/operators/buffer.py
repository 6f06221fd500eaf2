"""Rows held back so that only the last one of a key is written: `sink.buffer-flush.max-rows`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Ints
from rowkind.operators.net import groups
from rowkind.state.hashing import hash_rows


def buffered(batches: Iterable[pa.RecordBatch], key: list[str], max_rows: int) -> Iterator[pa.RecordBatch]:
    """The last row of each key out of buffers of `max_rows` keys; what is held when the input ends comes at the end."""
    held: pa.RecordBatch | None = None
    for batch in filter(len, batches):
        rows = batch if held is None else pa.concat_batches([held, batch])
        _, _, keys = groups(hash_rows(rows, key))
        buffers = np.array(_buffers(keys.tolist(), max_rows))
        last = _last(buffers * len(keys) + keys)
        full = buffers[last] < buffers[-1]
        yield rows.take(pa.array(last[full]))
        held = rows.take(pa.array(last[~full]))
    if held is not None:
        yield held


def _buffers(keys: Sequence[int], max_rows: int) -> list[int]:
    """The number of the buffer that each row is in: a new one begins behind the row that brings the last key."""
    number = 0
    held: set[int] = set()
    numbers = []
    for key in keys:
        if len(held) == max_rows:
            number += 1
            held.clear()
        held.add(key)
        numbers.append(number)
    return numbers


def _last(marks: Ints) -> Ints:
    """Where each mark is for the last time, in order."""
    _, from_the_end = np.unique(marks[::-1], return_index=True)
    return np.sort(len(marks) - 1 - from_the_end)
