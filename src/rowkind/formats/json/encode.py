"""Rows to JSON messages, one object each."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from rowkind.formats.json.exact_encode import JsonWriting, object_text
from rowkind.formats.json.fast_encode import object_texts
from rowkind.formats.row_schema import relaxed
from rowkind.formats.ticks import ticks
from rowkind.types import Field, arrow_type


class JsonEncoder:
    """Encodes a batch of rows column by column."""

    def __init__(self, columns: Sequence[Field], writing: JsonWriting) -> None:
        self._columns = tuple(Field(c.name, relaxed(c.type)) for c in columns)
        self._types = [arrow_type(c.type) for c in self._columns]
        self._writing = writing

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        if not self._columns:
            return pa.array([b"{}"] * rows.num_rows, pa.binary())
        columns = [c if c.type.equals(t) else c.cast(t) for c, t in zip(rows.columns, self._types, strict=True)]
        return object_texts(columns, self._columns, self._writing).cast(pa.binary())


class ExactEncoder:
    """Encodes row by row: what the other must agree with."""

    def __init__(self, columns: Sequence[Field], writing: JsonWriting) -> None:
        self._columns = tuple(columns)
        self._row = object_text(self._columns, writing)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        cells = [ticks(rows.column(i), c.type) for i, c in enumerate(self._columns)]
        return pa.array([self._row(row).encode() for row in zip(*cells, strict=True)], pa.binary())
