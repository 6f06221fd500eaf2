"""Aggregate calls as the planner hands them over: arguments and filters are columns already."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from rowkind.aggregate_functions import AGGREGATE_FUNCTIONS, LAG, AggregateFunction, Keeps


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

    @property
    def entry(self) -> AggregateFunction:
        """What the function is. LAG is none."""
        return AGGREGATE_FUNCTIONS[self.function]

    @property
    def by_values(self) -> bool:
        """Whether equal values reach the accumulator once."""
        return self.entry.kept(self.distinct, append_only=True) is Keeps.DISTINCT

    @property
    def field(self) -> pa.Field:
        """The column of the results."""
        return pa.field(self.name, self.type, self.function == LAG or not self.entry.never_null)
