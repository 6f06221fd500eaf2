"""The exchange before a state operator: every row to the state partition of its key, and a call to each of them.

Rows travel as parcels: all that a task has for a partition as one piece of Arrow memory. So the JVM moves a few large
values instead of many rows of many columns, and whatever the operator, Spark sees the same small plan.

A parcel names its partition. Spark's own number of a task will not do: in a union of two operators it counts through
both. And a partition must be called even without rows, so each gets an empty parcel besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from rowkind.state.hashing import hash_rows

TO, ROWS = "to", "rows"
PARCELS = pa.schema([pa.field(TO, pa.int32(), nullable=False), pa.field(ROWS, pa.binary())])


def exchanged(parcels: Sequence[DataFrame], partitions: int) -> DataFrame:
    """The parcels, each in the task of its partition."""
    numbers = parcels[0].sparkSession.range(0, partitions, 1, 1)
    calls = numbers.selectExpr(f"CAST(id AS INT) AS {TO}", f"CAST(NULL AS BINARY) AS {ROWS}")
    return reduce(DataFrame.union, [*parcels, calls]).repartitionById(partitions, TO)


def packed(rows: pa.Table, key: Sequence[str], partitions: int) -> Iterator[pa.RecordBatch]:
    """Rows as parcels, by the hash of their key."""
    places = np.zeros(rows.num_rows, dtype=np.uint16)
    if partitions > 1:
        places = (hash_rows(rows, key).h1 % np.uint64(partitions)).astype(np.uint16)
        rows = rows.take(pa.array(np.argsort(places, kind="stable")))
    start = 0
    for number, count in enumerate(np.bincount(places, minlength=partitions).tolist()):
        yield from (_parcel(number, batch) for batch in rows.slice(start, count).to_batches())
        start += count


def _parcel(number: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    data = rows.serialize()
    ends = pa.py_buffer(np.array([0, data.size], dtype=np.int32))
    columns = [pa.array([number], pa.int32()), pa.BinaryArray.from_buffers(pa.binary(), 1, [None, ends, data])]
    return pa.RecordBatch.from_arrays(columns, schema=PARCELS)


def unpacked(parcels: Iterator[pa.RecordBatch], schema: pa.Schema) -> tuple[int, pa.Table]:
    """The number of the partition that parcels came to, and their rows."""
    numbers: set[int] = set()
    rows: list[pa.RecordBatch] = []
    for batch in parcels:
        numbers.update(batch.column(TO).to_pylist())
        # Each is copied out as bytes: Arrow memory in the middle of a column is not aligned.
        given = [pa.py_buffer(data) for data in batch.column(ROWS).to_pylist() if data]
        rows += [pa.ipc.read_record_batch(data, schema) for data in given]
    (number,) = numbers
    return number, pa.Table.from_batches(rows, schema)
