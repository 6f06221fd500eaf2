"""Aggregate calls as the planner hands them over: arguments and filters are columns already."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

INVERTIBLE = frozenset({"COUNT", "SUM", "AVG", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP"})
EXTREMES = frozenset({"MIN", "MAX"})
ENDINGS = frozenset({"FIRST_VALUE", "LAST_VALUE"})
COLLECTING = frozenset({"LISTAGG", "ARRAY_AGG", "COLLECT"})
LAG = "LAG"


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """One aggregate of a GROUP BY: `function(DISTINCT argument) FILTER (WHERE filter) AS name`, of the given type.

    `argument` and `filter` name input columns; `filter` is boolean, and NULL counts as false.
    """

    function: str
    argument: str | None
    type: pa.DataType
    name: str
    distinct: bool = False
    filter: str | None = None
    separator: str = ","
    """Of LISTAGG."""
    offset: int = 1
    """Of LAG: so many rows before; LEAD is one after, -1."""
    default: str | None = None
    """Of LAG: the column that counts where there is no such row."""
