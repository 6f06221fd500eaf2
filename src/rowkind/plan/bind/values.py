"""VALUES, and the single row behind a SELECT without FROM."""

from __future__ import annotations

from sqlglot import exp

from rowkind.plan.bind.coercion import coerced, common_types
from rowkind.plan.bind.context import Context
from rowkind.plan.nodes import Node, Values
from rowkind.types import Field


def single_row() -> Values:
    return Values(((),), ())


def bind_values(values: exp.Values, context: Context) -> Node:
    """Rows of literals and expressions; each column takes the common type of its values."""
    trees = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    width = len(trees[0])
    for row, written in zip(trees, values.expressions, strict=True):
        if len(row) != width:
            raise context.error("COLUMN_COUNT", written, what="this row of VALUES", given=len(row), expected=width)
    flat = context.exprs([e for row in trees for e in row], {})
    rows = [flat[i : i + width] for i in range(0, len(flat), width)]
    types = common_types([[e.type for e in row] for row in rows], values, context)
    fields = tuple(Field(f"EXPR${i}", t) for i, t in enumerate(types))
    return Values(
        tuple(tuple(coerced(e, t, {}, context) for e, t in zip(row, types, strict=True)) for row in rows), fields
    )
