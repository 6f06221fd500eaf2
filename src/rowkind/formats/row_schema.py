"""The Arrow schema of decoded rows: the table's columns, each of which may turn out NULL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from rowkind.types import DataType, Field, arrow_schema


def relaxed(type: DataType) -> DataType:
    """The type with NOT NULL taken away at every level: no decoder checks it, so a NULL must find its place."""
    return replace(
        type,
        nullable=True,
        element=relaxed(type.element) if type.element else None,
        fields=tuple(Field(f.name, relaxed(f.type), f.comment) for f in type.fields),
    )


def decoded_schema(
    columns: Sequence[Field], metadata: Sequence[str] = (), types: Mapping[str, DataType] | None = None
) -> pa.Schema:
    """Columns, then the named metadata keys of the format as `value.<key>`."""
    extra = tuple(Field(f"value.{key}", (types or {})[key]) for key in metadata)
    return arrow_schema(tuple(Field(c.name, relaxed(c.type)) for c in (*columns, *extra)))
