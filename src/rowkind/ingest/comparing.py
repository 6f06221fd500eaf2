"""Rows of tables and messages of a topic, compared: by checksums of buckets of keys, then key by key."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.state.hashing import hash_rows

BUCKET_ROWS = 8096
MAX_BUCKETS = 4096
FOUND = -1
"""The side of what is in the topic; tables have numbers from 0 on."""
SUMS = pa.schema([("bucket", pa.int32()), ("rows", pa.int64()), ("checksum", pa.int64())])
SIDED = pa.schema([("bucket", pa.int32()), ("side", pa.int32()), ("key", pa.binary()), ("value", pa.binary())])
DIFFERING = pa.schema([("key", pa.binary()), ("expected", pa.binary()), ("found", pa.binary())])


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """A key whose message is not what its table says; None where there is no row, or no message."""

    key: str
    expected: str | None
    found: str | None

    def __str__(self) -> str:
        table = "has no such row" if self.expected is None else f"has {self.expected}"
        topic = "has no message" if self.found is None else f"has {self.found}"
        return f"{self.key}: the table {table}, the topic {topic}"


def bucket_count(rows: int) -> int:
    return min(MAX_BUCKETS, max(1, -(-rows // BUCKET_ROWS)))


def buckets_of(keys: pa.Array, buckets: int) -> npt.NDArray[np.int32]:
    hashes = hash_rows(pa.RecordBatch.from_arrays([keys], names=["key"])).h1
    return (hashes % np.uint64(buckets)).astype(np.int32)


def checksums(batches: Iterable[pa.RecordBatch], buckets: int) -> pa.RecordBatch:
    """Of messages with key and value: how many each bucket has, and the sum of their hashes, whatever their order."""
    rows, sums = np.zeros(buckets, np.int64), np.zeros(buckets, np.uint64)
    for batch in batches:
        at = buckets_of(batch.column("key"), buckets)
        rows += np.bincount(at, minlength=buckets)
        np.add.at(sums, at, hash_rows(batch, ["key", "value"]).h1)
    columns = [np.arange(buckets, dtype=np.int32), rows, sums.view(np.int64)]
    return pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=SUMS)


def in_buckets(
    batches: Iterable[pa.RecordBatch], buckets: int, chosen: frozenset[int], side: int
) -> Iterator[pa.RecordBatch]:
    """The messages of some buckets, with the side that they are of."""
    wanted = np.array(sorted(chosen), np.int32)
    for batch in batches:
        at = buckets_of(batch.column("key"), buckets)
        keep = pa.array(np.isin(at, wanted))
        kept = batch.filter(keep)
        sides = pa.array(np.full(kept.num_rows, side, np.int32))
        yield pa.RecordBatch.from_arrays(
            [pa.array(at).filter(keep), sides, kept.column("key"), kept.column("value")], schema=SIDED
        )


def differing(columns: Sequence[tuple[str, ...]], keeps_deleted: bool, bucket: pa.Table) -> pa.Table:
    """The keys of one bucket that differ. `columns` are those of each table that its row alone decides.

    With SOFT_DELETE a topic has rows that the table has no more.
    """
    expected: defaultdict[bytes, list[tuple[int, bytes]]] = defaultdict(list)
    found: dict[bytes, bytes] = {}
    names = ("side", "key", "value")
    for side, key, value in zip(*(bucket.column(name).to_pylist() for name in names), strict=True):
        if side == FOUND:
            found[key] = value
        else:
            expected[key].append((side, value))
    rows = []
    for key in expected.keys() | (set() if keeps_deleted else found.keys()):
        there = found.get(key)
        if there is None or not any(same(value, there, columns[side]) for side, value in expected[key]):
            rows.append((key, expected[key][0][1] if expected[key] else None, there))
    return pa.Table.from_arrays([pa.array(c, pa.binary()) for c in zip(*rows, strict=True)] or _NONE, schema=DIFFERING)


_NONE = [pa.array([], pa.binary())] * len(DIFFERING)


def same(expected: bytes, found: bytes, columns: tuple[str, ...]) -> bool:
    """Whether two values say the same of some columns. A value of before a column came does not have it: NULL.

    >>> same(b'{"id":1,"n":null,"p":2.50}', b'{"p":2.5,"id":1}', ("id", "n", "p"))
    True
    """
    if expected == found:
        return True
    try:
        table, topic = _parsed(expected), _parsed(found)
    except ValueError:
        return False
    return isinstance(topic, dict) and all(table.get(name) == topic.get(name) for name in columns)


def _parsed(value: bytes) -> Any:
    return json.loads(value, parse_float=Decimal)
