"""What operators have in common that keep the rows of one input by partition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from rowkind.operators.changes import KIND_FIELD, kept_columns, plain_columns


@dataclass(frozen=True)
class Partitioned:
    """An operator on one input, whose rows meet where their `partition` columns are equal."""

    input: pa.Schema
    partition: tuple[str, ...]

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.input,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.partition

    @cached_property
    def columns(self) -> pa.Schema:
        return kept_columns(self.input)

    def with_results(self, *results: pa.Field | None) -> pa.Schema:
        """The input's columns, and what the operator adds to them; None adds nothing."""
        return pa.schema([*plain_columns(self.input), *(r for r in results if r is not None), KIND_FIELD])
