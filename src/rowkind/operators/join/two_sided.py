"""What joins of two sides by equal keys have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from rowkind.join_kind import JoinKind
from rowkind.operators.changes import Bools, column_array, kept_columns
from rowkind.operators.join.residual import Residual
from rowkind.operators.join.two_inputs import KEY, TwoInputs


@dataclass(frozen=True)
class Side:
    """One input of a join: its schema, and the columns that must equal the other side's."""

    schema: pa.Schema
    keys: tuple[str, ...]

    @cached_property
    def columns(self) -> pa.Schema:
        """Without the kind; nullable, since a -D may lack columns and an outer join pads."""
        return kept_columns(self.schema)


AnySide = TypeVar("AnySide", bound=Side)


@dataclass(frozen=True)
class TwoSided(Generic[AnySide]):
    """`left <kind> JOIN right ON left.keys = right.keys AND residual`; without keys all rows are in one partition."""

    left: AnySide
    right: AnySide
    kind: JoinKind
    residual: Residual | None = None

    @property
    def sides(self) -> tuple[AnySide, AnySide]:
        return self.left, self.right

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return self.left.schema, self.right.schema

    @property
    def key(self) -> tuple[str, ...]:
        return (KEY,) if self.left.keys else ()

    @cached_property
    def _exchange(self) -> TwoInputs:
        return TwoInputs(self.left.columns, self.right.columns)

    @property
    def exchange_schema(self) -> pa.Schema:
        return self._exchange.schema


def keyed_rows(rows: pa.Table, keys: Sequence[str]) -> Bools:
    """Which rows have no NULL in their key."""
    found = np.ones(rows.num_rows, dtype=bool)
    for name in keys:
        column = column_array(rows, name)
        if column.null_count:
            found &= column.is_valid().to_numpy(zero_copy_only=False)
    return found
