"""Rows of a table as the messages of its topic: pure Arrow, in a worker."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.connectors.kafka.encoding import MessageEncoder
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.mysql.staged import SEQUENCE
from rowkind.kinds import KIND_COLUMN, RowKind

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@dataclass(frozen=True, slots=True)
class SinkColumn:
    """A column of the topic's values; `source` is None where the table has no such column any more."""

    name: str
    source: str | None
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows of a table go. Sent to workers with every batch."""

    table: KafkaTable
    columns: tuple[SinkColumn, ...]
    headers: tuple[tuple[str, bytes], ...] = ()
    keeps_deleted: bool = False
    """SOFT_DELETE: the row of a DELETE is written like any other."""

    @property
    def topic(self) -> str:
        return self.table.topics[0]


def messages(rows: pa.RecordBatch, target: Target, counts: Counter[str]) -> pa.RecordBatch:
    """The messages of rows, in their order: columns topic, key and value, and header-list where there are headers."""
    return encoded(outgoing(rows, target), target, counts)


def outgoing(rows: pa.RecordBatch, target: Target) -> pa.RecordBatch:
    """The rows that become messages, one each: the columns of the topic, and the kind."""
    return without_same_keys(_shaped(rows, target), target.table.primary_key, rows.column(SEQUENCE))


def encoded(rows: pa.RecordBatch, target: Target, counts: Counter[str]) -> pa.RecordBatch:
    """Outgoing rows as `messages` has them."""
    shaped = _undeleted(rows) if target.keeps_deleted else rows
    encoder = _encoder(target.table)
    encoder.counts.clear()
    made = encoder.encode(shaped)
    counts.update(encoder.counts)
    size = made.num_rows
    made = made.append_column("topic", pa.array([target.topic] * size, pa.string()))
    if target.headers:
        headers = [{"key": key, "value": value} for key, value in target.headers]
        made = made.append_column("header-list", pa.array([headers] * size, _HEADERS))
    return made


def _shaped(rows: pa.RecordBatch, target: Target) -> pa.RecordBatch:
    """The columns of the sink's schema; what the table has no more is NULL, what has another type there is cast."""
    columns = [_column(rows, column) for column in target.columns]
    names = [column.name for column in target.columns]
    return pa.RecordBatch.from_arrays([*columns, rows.column(KIND_COLUMN)], names=[*names, KIND_COLUMN])


def _column(rows: pa.RecordBatch, column: SinkColumn) -> pa.Array:
    if column.source is None:
        return pa.nulls(rows.num_rows, column.type)
    found = rows.column(column.source)
    return found if found.type == column.type else found.cast(column.type)


def without_same_keys(rows: pa.RecordBatch, key: tuple[str, ...], sequence: pa.Array) -> pa.RecordBatch:
    """Leave out the old row of an update whose key has not changed: the new value replaces it.

    An old row that stays stands for a key that is gone: the update changed it, or the new row did not pass a filter.
    """
    kinds = rows.column(KIND_COLUMN).to_numpy(zero_copy_only=False)
    old = np.flatnonzero(kinds == RowKind.UPDATE_BEFORE)
    old = old[old + 1 < len(kinds)]
    numbers = sequence.to_numpy(zero_copy_only=False)
    paired = old[(numbers[old + 1] == numbers[old]) & (kinds[old + 1] == RowKind.UPDATE_AFTER)]
    if not len(paired):
        return rows
    same = np.ones(len(paired), dtype=bool)
    for name in key:
        same &= _equal(rows.column(name), paired, paired + 1)
    keep = np.ones(rows.num_rows, dtype=bool)
    keep[paired[same]] = False
    return rows.filter(pa.array(keep))


def _equal(values: pa.Array, some: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    same = pc.equal(values.take(pa.array(some)), values.take(pa.array(others)))
    found: npt.NDArray[np.bool_] = pc.fill_null(same, False).to_numpy(zero_copy_only=False)
    return found


def _undeleted(rows: pa.RecordBatch) -> pa.RecordBatch:
    kinds = rows.column(KIND_COLUMN).to_numpy(zero_copy_only=False).copy()
    kinds[kinds == RowKind.DELETE] = RowKind.INSERT
    return rows.set_column(rows.num_columns - 1, KIND_COLUMN, pa.array(kinds, pa.int8()))


@lru_cache(maxsize=512)
def _encoder(table: KafkaTable) -> MessageEncoder:
    return MessageEncoder(table)
