"""Times and timestamps without the digits that their type does not have."""

from __future__ import annotations

from rowkind.plan.expressions.typed import once
from rowkind.types import DataType, Root


def cut(sql: str, target: DataType) -> str:
    """A time or timestamp without the digits that its type does not have."""
    if target.precision is None or target.precision >= 6:
        return sql
    if target.root is Root.TIME:
        return f"CAST(CAST({sql} AS TIME({target.precision})) AS TIME(6))"
    unit = "1BD" if target.precision == 0 else f"0.{'0' * (target.precision - 1)}1BD"
    return once(sql, lambda value: f"({value} - make_dt_interval(0, 0, 0, extract(SECOND FROM {value}) % {unit}))")
