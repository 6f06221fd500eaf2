"""NOT NULL and lengths of a sink's columns, for rows that are about to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.connectors.contract import Table
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.options.constraints import Constraints
from rowkind.options.session_options import LengthEnforcer, NestedEnforcer, NotNullEnforcer
from rowkind.types import BINARIES, CHARACTERS, DataType, Root


@dataclass(frozen=True, slots=True)
class Enforcer:
    """Of a row that goes from an upsert table only the key is written, so only the key is looked at."""

    table: Table
    constraints: Constraints

    def enforced(self, rows: pa.RecordBatch, counts: Counter[str]) -> pa.RecordBatch:
        """The rows to write."""
        for column in self.table.physical:
            if not column.type.nullable:
                rows = self._without_nulls(rows, column.name, counts)
        if self.constraints.lengths is LengthEnforcer.ERROR:
            self._check_lengths(rows)
        if self.constraints.nested is NestedEnforcer.ERROR:
            self._check_nested(rows)
        return rows

    def _without_nulls(self, rows: pa.RecordBatch, name: str, counts: Counter[str]) -> pa.RecordBatch:
        column = rows.column(name)
        if not column.null_count:
            return rows
        bad = pc.and_(column.is_null(), pa.array(self._written(rows, name)))
        dropped = pc.sum(bad).as_py() or 0
        if dropped and self.constraints.nulls is NotNullEnforcer.ERROR:
            raise RowkindError("NULL_IN_NOT_NULL_COLUMN", table=self.table.name, column=name)
        counts["null-rows-dropped"] += dropped
        return rows.filter(pc.invert(bad)) if dropped else rows

    def _check_lengths(self, rows: pa.RecordBatch) -> None:
        for column in self.table.physical:
            length = column.type.length
            if column.type.root not in CHARACTERS | BINARIES or length is None:
                continue
            measure = pc.utf8_length if column.type.root in CHARACTERS else pc.binary_length
            found = measure(rows.column(column.name))
            wrong = pc.not_equal if column.type.root in (Root.CHAR, Root.BINARY) else pc.greater
            bad = pc.and_(wrong(found, length).fill_null(False), pa.array(self._written(rows, column.name)))
            if pc.any(bad).as_py():
                shown = found.filter(bad)[0].as_py()
                raise RowkindError(
                    "LENGTH_OF_COLUMN", table=self.table.name, column=column.name, type=column.type, length=shown
                )

    def _check_nested(self, rows: pa.RecordBatch) -> None:
        for column in self.table.physical:
            written = rows.column(column.name).filter(pa.array(self._written(rows, column.name)))
            for path in _nulls_inside(written, column.type, column.name):
                raise RowkindError("NULL_IN_NOT_NULL_MEMBER", table=self.table.name, member=path)

    def _written(self, rows: pa.RecordBatch, name: str) -> npt.NDArray[np.bool_]:
        if name in self.table.primary_key or not self.table.upsert:
            return np.ones(rows.num_rows, dtype=bool)
        kinds = rows.column(KIND_COLUMN).to_numpy(zero_copy_only=False)
        return np.isin(kinds, (RowKind.INSERT, RowKind.UPDATE_AFTER))


def _nulls_inside(values: pa.Array, type: DataType, path: str) -> Iterator[str]:
    """The members of a column that are NOT NULL and yet null somewhere; nothing is asked of what is null itself."""
    values = values.drop_null()
    for inner, inner_type, inner_path in _members(values, type, path):
        if not inner_type.nullable and inner.null_count:
            yield inner_path
        yield from _nulls_inside(inner, inner_type, inner_path)


def _members(values: pa.Array, type: DataType, path: str) -> Iterator[tuple[pa.Array, DataType, str]]:
    if type.root is Root.ROW:
        for field, inner in zip(type.fields, values.flatten(), strict=True):
            yield inner, field.type, f"{path}.{field.name}"
    elif type.root is Root.ARRAY and type.element is not None:
        yield values.flatten(), type.element, f"{path}[]"
    elif type.root is Root.MAP and type.key is not None and type.element is not None:
        begin, end = values.offsets[0].as_py(), values.offsets[-1].as_py()
        yield values.keys.slice(begin, end - begin), type.key, f"{path} (key)"
        yield values.items.slice(begin, end - begin), type.element, f"{path} (value)"
