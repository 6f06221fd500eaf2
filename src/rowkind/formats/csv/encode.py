"""Rows to csv messages, whole columns at a time."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.java_columns import render_column
from rowkind.types import NUMERICS, DataType, Field, Root

_MAX_BARE = 24
"""The longest text that Jackson looks at before it quotes without looking."""


class CsvEncoder:
    """Rows to payloads, one record a payload."""

    def __init__(self, columns: tuple[Field, ...], dialect: Dialect) -> None:
        self.columns = columns
        self.dialect = dialect
        self.quoting = _quoting(dialect)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        fields = [self._field(rows.column(i), c.type) for i, c in enumerate(self.columns)]
        joined = pc.binary_join_element_wise(
            *fields,
            self.dialect.delimiter,
            null_handling="replace",
            null_replacement=self.dialect.null or "",
        )
        return joined.cast(pa.binary())

    def _field(self, column: pa.Array, type: DataType) -> pa.StringArray:
        if type.root in NUMERICS or type.root is Root.BOOLEAN:
            return self._text(column, type)
        if type.root is Root.ARRAY:
            assert type.element
            return self._quoted(self._joined_array(column, type.element))
        if type.root is Root.ROW:
            return self._quoted(self._joined_row(column, type))
        return self._quoted(self._text(column, type))

    def _text(self, column: pa.Array, type: DataType) -> pa.StringArray:
        return render_column(column, type, plain_decimals=not self.dialect.scientific)

    def _joined_array(self, column: pa.ListArray, element: DataType) -> pa.StringArray:
        texts = pc.fill_null(self._text(column.flatten(), element), self.dialect.null or "")
        sizes = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int32())
        ends = pc.cumulative_sum(sizes)
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        joined = pc.binary_join(pa.ListArray.from_arrays(offsets, texts), self.dialect.elements)
        return pc.if_else(column.is_valid(), joined, pa.scalar(None, pa.string()))

    def _joined_row(self, column: pa.StructArray, type: DataType) -> pa.StringArray:
        members = [self._text(m, f.type) for m, f in zip(column.flatten(), type.fields, strict=True)]
        joined = pc.binary_join_element_wise(
            *members, self.dialect.elements, null_handling="replace", null_replacement=self.dialect.null or ""
        )
        return pc.if_else(column.is_valid(), joined, pa.scalar(None, pa.string()))

    def _quoted(self, text: pa.StringArray) -> pa.StringArray:
        quote = self.dialect.quote
        if quote is None or self.quoting is None:
            return text
        needed = pc.or_(pc.match_substring_regex(text, self.quoting), pc.greater(java_length(text), _MAX_BARE))
        if not pc.any(needed).as_py():
            return text
        inner = pc.replace_substring(text, quote, quote * 2)
        escape = self.dialect.escape
        if escape and escape != quote:
            inner = pc.replace_substring(inner, escape, escape * 2)
        return pc.if_else(needed, pc.binary_join_element_wise(quote, inner, quote, ""), text)


def _quoting(dialect: Dialect) -> str | None:
    """A pattern of the characters for which Jackson quotes: all up to the delimiter or quote, and the escape."""
    if dialect.quote is None:
        return None
    limit = max(ord(dialect.delimiter), ord(dialect.quote))
    others = dialect.escape or "\\" + dialect.quote
    return rf"[\x{{0}}-\x{{{limit:X}}}{re.escape(others)}]"


def java_length(text: pa.StringArray) -> pa.Array:
    """Lengths in UTF-16 units, as Java counts."""
    sizes = pc.binary_length(text)
    longest = pc.max(sizes).as_py() if len(text) else None
    if longest is None or longest <= _MAX_BARE:
        return sizes
    return pc.add(pc.utf8_length(text), pc.count_substring_regex(text, r"[\x{10000}-\x{10FFFF}]"))
