"""Avro datums to columns: many in step, and those that ask for it one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.formats.avro.cursor import SLOW, Block
from rowkind.formats.avro.datum import Datum
from rowkind.formats.avro.readers import Node, Record
from rowkind.formats.contract import BadMessage
from rowkind.formats.spans import Ints

CHUNK = 16_384
"""Messages read in step: few enough that their positions stay in the processor's cache."""


def read_datums(
    node: Node, schema: pa.Schema, payloads: pa.BinaryArray, index: Ints, skip: int = 0
) -> tuple[pa.RecordBatch, Ints, list[BadMessage]]:
    """Rows of payloads, none of them null, read from their byte `skip` on; the index of each; and the bad ones."""
    block = Block(payloads, skip)
    batches: list[pa.RecordBatch] = []
    faults = np.zeros(len(payloads), np.int16)
    for first in range(0, len(payloads), CHUNK):
        last = min(first + CHUNK, len(payloads))
        cursor = block.cursor(first, last)
        try:
            batches.append(_batch(node, schema, cursor))
            faults[first:last] = cursor.faults
        except RecursionError:
            batches.append(_nulls(schema, last - first))
            faults[first:last] = _slow(block)
    rows = _joined(batches, schema)
    if not faults.any():
        return rows, index, []
    return _repaired(node, rows, payloads, index, faults, block, skip)


def _batch(node: Node, schema: pa.Schema, cursor: Any) -> pa.RecordBatch:
    if isinstance(node, Record):
        return pa.RecordBatch.from_arrays(node.columns(cursor), schema=schema)
    column = node.column(cursor)
    assert column is not None
    cursor.fail(~np.asarray(column.is_valid()), "the datum is null")
    return pa.RecordBatch.from_arrays(column.flatten(), schema=schema)


def _slow(block: Block) -> int:
    if SLOW not in block.reasons:
        block.reasons.append(SLOW)
    return block.reasons.index(SLOW)


def _nulls(schema: pa.Schema, size: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(size, t) for t in schema.types], schema=schema)


def _joined(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    if not batches:
        return _nulls(schema, 0)
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _repaired(
    node: Node,
    rows: pa.RecordBatch,
    payloads: pa.BinaryArray,
    index: Ints,
    faults: np.ndarray[Any, Any],
    block: Block,
    skip: int,
) -> tuple[pa.RecordBatch, Ints, list[BadMessage]]:
    """The rows without the failed ones, and with those that were left to the exact path."""
    bad: list[BadMessage] = []
    kept: list[int] = []
    values: list[list[Any]] = []
    for i in np.flatnonzero(faults).tolist():
        reason = block.reasons[faults[i]]
        if reason == SLOW:
            try:
                values.append(_row(node, payloads[i].as_py(), skip))
                kept.append(i)
                continue
            except (ValueError, RecursionError) as e:
                reason = "the datum is nested too deeply" if isinstance(e, RecursionError) else str(e)
        bad.append(BadMessage(int(index[i]), reason))
    good = np.flatnonzero(faults == 0)
    order = np.concatenate([good, np.array(kept, np.int64)])
    by_message = pa.array(np.argsort(order, kind="stable"))
    whole = rows.take(pa.array(good))
    exact = [pa.array([v[i] for v in values], t) for i, t in enumerate(rows.schema.types)]
    merged = [pa.concat_arrays([f, s]).take(by_message) for f, s in zip(whole.columns, exact, strict=True)]
    return pa.RecordBatch.from_arrays(merged, schema=rows.schema), index[np.sort(order)], bad


def _row(node: Node, payload: bytes, skip: int) -> list[Any]:
    datum = Datum(payload, skip)
    if isinstance(node, Record):
        return node.values(datum)
    value = node.value(datum)
    if value is None:
        raise ValueError("the datum is null")
    return list(value.values())
