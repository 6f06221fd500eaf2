"""Columns to Avro datums: every part of the schema as a binary column, all of them joined row by row by Arrow."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.errors import RowkindError
from rowkind.formats.avro.number_bytes import decimals, numbers, varints
from rowkind.formats.avro.schema import AvroType
from rowkind.formats.spans import Bools, Ints, binary, spans, valid
from rowkind.formats.ticks import entry_lists
from rowkind.types import DataType, Root, map_members

CHUNK = 16_384
"""Rows written in one go: few enough that the columns' bytes stay in the processor's cache."""
Part: TypeAlias = "pa.BinaryArray | bytes"
"""Bytes that follow each other in every row; a null is no bytes."""
TICKS = {Root.TIME: 1_000_000, Root.TIMESTAMP: 1000, Root.TIMESTAMP_LTZ: 1000}
"""How many of Arrow's ticks make a millisecond."""


class RecordWriter:
    """Writes rows of columns as records of a schema; errors name the table and the column."""

    def __init__(self, schema: AvroType, type: DataType, table: str) -> None:
        self.schema, self.type, self.table = schema, type, table

    def write(self, columns: list[pa.Array], header: bytes = b"") -> pa.BinaryArray:
        """One datum a row, after the header."""
        size = len(columns[0]) if columns else 0
        pieces = []
        for first in range(0, size, CHUNK):
            part = [c.slice(first, CHUNK) for c in columns]
            pieces.append(joined([header, *self._record(part, self.schema, self.type, "", None)], len(part[0])))
        return pa.concat_arrays(pieces) if pieces else pa.array([], pa.binary())

    def _record(
        self, columns: list[pa.Array], schema: AvroType, type: DataType, name: str, present: Bools | None
    ) -> list[Part]:
        parts: list[Part] = []
        for column, f, t in zip(columns, schema.fields, type.fields, strict=True):
            parts += self._parts(column, f.type, t.type, f"{name}.{f.name}" if name else f.name, present)
        return parts

    def _parts(
        self, column: pa.Array, schema: AvroType, type: DataType, name: str, present: Bools | None
    ) -> list[Part]:
        """The bytes of a column; rows that are not present, because what holds them is null, have none."""
        if schema.kind == "null":
            return []
        if schema.kind == "union":
            return self._union(column, schema, type, name, present)
        if column.null_count and (present is None or (present & ~valid(column)).any()):
            raise RowkindError("AVRO_NULL_VALUE", table=self.table, column=name)
        return self._value(column, schema, type, name, present)

    def _union(
        self, column: pa.Array, schema: AvroType, type: DataType, name: str, present: Bools | None
    ) -> list[Part]:
        kinds = [b.kind for b in schema.branches]
        place = next(i for i, kind in enumerate(kinds) if kind != "null")
        if present is None and not column.null_count:
            return [bytes([place * 2]), *self._value(column, schema.branches[place], type, name, None)]
        held = valid(column) if present is None else valid(column) & present
        if "null" not in kinds:
            return self._parts(column, schema.branches[place], type, name, present)
        marks = numbers(np.where(held, place * 2, kinds.index("null") * 2).astype(np.uint8), present)
        return [marks, *self._value(column, schema.branches[place], type, name, held)]

    def _value(
        self, column: pa.Array, schema: AvroType, type: DataType, name: str, present: Bools | None
    ) -> list[Part]:
        match schema.kind:
            case "boolean":
                return [numbers(np.asarray(column.cast(pa.uint8()).fill_null(0)), present)]
            case "int" | "long":
                return [varints(_integers(column, type), present)]
            case "float" | "double":
                width = "<f4" if schema.kind == "float" else "<f8"
                return [numbers(np.asarray(column.fill_null(0)).astype(width), present)]
            case "string" | "bytes":
                data = decimals(column, present) if type.root is Root.DECIMAL else _masked(column, present)
                return [varints(np.diff(spans(data)[1]), present), data]
            case "fixed":
                return [self._fixed(column, schema, type, name, present)]
            case "enum":
                return [self._enum(column, schema, name, present)]
            case "array":
                assert schema.items
                assert type.element
                return self._blocks(
                    column, self._parts(column.flatten(), schema.items, type.element, name, None), present
                )
            case "map":
                entries = entry_lists(column)
                return self._blocks(entries, self._pairs(entries.flatten(), schema, type, name), present)
            case _:
                return self._record(column.flatten(), schema, type, name, present)

    def _pairs(self, entries: pa.StructArray, schema: AvroType, type: DataType, name: str) -> list[Part]:
        assert schema.items
        key, value = map_members(type)
        keys = self._parts(entries.field(0), AvroType("string"), key, f"{name} key", None)
        return keys + self._parts(entries.field(1), schema.items, value, f"{name} value", None)

    def _blocks(self, column: pa.Array, elements: list[Part], present: Bools | None) -> list[Part]:
        """Arrays and maps as one block each: count, elements, zero; an empty one is just the zero."""
        counts = np.asarray(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
        ends = np.zeros(len(column) + 1, np.int64)
        np.cumsum(counts, out=ends[1:])
        data, at = spans(joined(elements, int(ends[-1])))
        return [varints(counts, counts > 0), binary(data, at[ends]), numbers(np.zeros(len(column), np.uint8), present)]

    def _fixed(
        self, column: pa.Array, schema: AvroType, type: DataType, name: str, present: Bools | None
    ) -> pa.BinaryArray:
        if type.root is Root.DECIMAL:
            return decimals(column, present, schema.size)
        if not pc.all(pc.equal(pc.binary_length(column), schema.size)).as_py():
            raise RowkindError("AVRO_FIXED_SIZE", table=self.table, column=name, size=schema.size)
        return _masked(column, present)

    def _enum(self, column: pa.StringArray, schema: AvroType, name: str, present: Bools | None) -> pa.BinaryArray:
        index = pc.index_in(column, pa.array(schema.symbols, pa.string()))
        unknown = column.filter(pc.and_(index.is_null(), column.is_valid()))
        if len(unknown):
            raise RowkindError("AVRO_NO_SUCH_SYMBOL", table=self.table, column=name, symbol=unknown[0].as_py())
        return varints(np.asarray(index.fill_null(0)).astype(np.int64), present)


def joined(parts: list[Part], size: int) -> pa.BinaryArray:
    """The parts of every row, one after the other."""
    present = [p for p in parts if not isinstance(p, bytes) or p]
    if not any(isinstance(p, pa.Array) for p in present):
        return pa.repeat(b"".join(p for p in present if isinstance(p, bytes)), size).cast(pa.binary())
    return pc.binary_join_element_wise(*present, b"", null_handling="replace", null_replacement=b"")


def _masked(column: pa.Array, present: Bools | None) -> pa.BinaryArray:
    """Text or bytes with nothing where a row is not present."""
    data = column.cast(pa.binary())
    if present is None:
        return data
    return pc.if_else(pa.array(present), data, pa.scalar(b"", pa.binary()))


def _integers(column: pa.Array, type: DataType) -> Ints:
    if type.root is Root.DATE:
        column = column.cast(pa.int32())
    elif type.root in TICKS:
        column = column.cast(pa.int64())
    values = np.asarray(column.fill_null(0)).astype(np.int64)
    return values // TICKS[type.root] if type.root in TICKS else values
