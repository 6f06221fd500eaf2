"""How the rows of two inputs travel through one exchange."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Ints, column_array
from rowkind.state.hashing import KeyHashes

SIDE, KEY, WEIGHT = "__side", "__key", "__weight"


def places(delta: pa.Table, order: int) -> Ints:
    """Where rows are among those of their input, from 1 on: with a sign they may travel as weights."""
    return order + 1 + np.arange(delta.num_rows)


@dataclass(frozen=True)
class TwoInputs:
    """The exchange schema: which input, a hash of the key to partition by, the weight, and the columns of both.

    Columns of the same type share a place, since most of a row's cost in a shuffle is the number of its columns.
    """

    left: pa.Schema
    right: pa.Schema

    @cached_property
    def places(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """For each input the exchange column of each of its columns."""
        types: list[pa.DataType] = []
        return self._placed(self.left, types), self._placed(self.right, types)

    @staticmethod
    def _placed(columns: pa.Schema, types: list[pa.DataType]) -> tuple[str, ...]:
        free = list(range(len(types)))
        places = []
        for field in columns:
            place = next((at for at in free if types[at] == field.type), None)
            if place is None:
                place = len(types)
                types.append(field.type)
            else:
                free.remove(place)
            places.append(f"__c{place}")
        return tuple(places)

    @cached_property
    def schema(self) -> pa.Schema:
        types = {
            place: field.type
            for columns, places in zip((self.left, self.right), self.places, strict=True)
            for field, place in zip(columns, places, strict=True)
        }
        fixed = [(SIDE, pa.int8()), (KEY, pa.int64()), (WEIGHT, pa.int64())]
        return pa.schema([*fixed, *sorted(types.items(), key=lambda item: int(item[0][3:]))])

    def pack(self, side: int, rows: pa.Table, keys: KeyHashes, weights: Ints) -> pa.Table:
        """Rows of one input; of a table with more columns only its own travel."""
        names = (self.left, self.right)[side].names
        columns = {place: rows.column(name) for name, place in zip(names, self.places[side], strict=True)}
        columns |= {
            SIDE: pa.array(np.full(len(weights), side, dtype=np.int8)),
            KEY: pa.array(keys.h1.view(np.int64)),
            WEIGHT: pa.array(weights),
        }
        arrays = [columns.get(f.name, pa.nulls(len(weights), f.type)) for f in self.schema]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def unpack(self, exchanged: pa.Table, side: int) -> tuple[pa.Table, Ints]:
        """The rows of one input, and their weights."""
        schema = (self.left, self.right)[side]
        sides = column_array(exchanged, SIDE).to_numpy()
        rows = pa.array(np.flatnonzero(sides == side))
        columns = [column_array(exchanged, place).take(rows) for place in self.places[side]]
        weights = column_array(exchanged, WEIGHT).take(rows).to_numpy()
        return pa.Table.from_arrays(columns, schema=schema), np.asarray(weights)
