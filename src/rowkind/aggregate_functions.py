"""Flink's aggregate functions: an entry says all that planner, operators and documentation know of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from rowkind.types import BIGINT, CHARACTERS, NUMERICS, STRING, DataType, Root, array

LAG = "LAG"
"""Not an aggregate, but a call among those OVER a window: the value of one row before. LEAD is one of a row after."""


class Keeps(Enum):
    """Values that state holds beside the accumulators of a group, and what they are for."""

    DISTINCT = "distinct values"
    """Which values there are, and how often: only those that come or go reach the accumulator."""
    EXTREME = "sorted values"
    """Values in their order, and how often each is there: the next one, once the first is taken back."""
    ENDING = "values in order of arrival"
    """The same by arrival."""
    LIST = "all values"
    """Values in order of arrival, of which the result is made as a whole."""


@dataclass(frozen=True, slots=True)
class Takes:
    """What an argument may be, and how errors and documentation say so."""

    words: str
    roots: frozenset[Root]


ANY = Takes("a value", frozenset(Root))
NUMBER = Takes("a number", NUMERICS)
TEXT = Takes("a string", CHARACTERS)
ORDERED = Takes("a value that has an order", ANY.roots - {Root.ARRAY, Root.MULTISET, Root.MAP, Root.ROW})


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One aggregate function.

    `implementation` is `module:name` within `rowkind.operators.aggregate`: what makes the accumulator of a call or, for
    a function that keeps a LIST, the results of lists. All accumulators merge, so each is computed before the exchange
    and after it, in windows and OVER rows too. Those that take back what they were given keep nothing else; DISTINCT is
    done before rows reach them, and the values of a group may be spread over partitions for that.
    """

    name: str
    takes: Takes
    result: Callable[[DataType], DataType]
    implementation: str
    keeps: Keeps | None = None
    """What must be kept so that rows can be taken back: of append-only input only a LIST."""
    last: bool = False
    """Of the values in order: whether the last one is the result, and not the first."""
    optional: bool = False
    """Whether the argument may be `*`: then rows count, whatever they hold."""
    separator: bool = False
    """Whether a second argument separates the values."""
    counts_nulls: bool = False
    """Whether a NULL is a value like any other; otherwise it is left out."""
    never_null: bool = False
    """Whether there is a result though there are no values."""
    synonyms: tuple[str, ...] = ()

    def kept(self, distinct: bool, append_only: bool) -> Keeps | None:
        """What a call keeps beside its accumulator."""
        if self.keeps is None:
            return Keeps.DISTINCT if distinct else None
        return self.keeps if self.keeps is Keeps.LIST or not append_only else None


def _same(argument: DataType) -> DataType:
    return argument.as_nullable()


def _sum(argument: DataType) -> DataType:
    """Flink sums decimals with all digits there are, integers within their own type."""
    if argument.root is Root.DECIMAL:
        return DataType(Root.DECIMAL, precision=38, scale=argument.scale)
    return argument.as_nullable()


def _average(argument: DataType) -> DataType:
    """An average of decimals has six digits of fraction at least; one of integers is an integer, as in Flink."""
    if argument.root is Root.DECIMAL:
        return DataType(Root.DECIMAL, precision=38, scale=max(6, argument.scale or 0))
    return argument.as_nullable()


def _multiset(argument: DataType) -> DataType:
    return DataType(Root.MULTISET, nullable=False, element=argument)


_ENTRIES = (
    AggregateFunction("COUNT", ANY, lambda _: BIGINT.not_null(), "accumulators:count", optional=True, never_null=True),
    AggregateFunction("SUM", NUMBER, _sum, "sums:total"),
    AggregateFunction("AVG", NUMBER, _average, "sums:average"),
    AggregateFunction("MIN", ORDERED, _same, "extremes:extreme", Keeps.EXTREME),
    AggregateFunction("MAX", ORDERED, _same, "extremes:extreme", Keeps.EXTREME, last=True),
    AggregateFunction("STDDEV_POP", NUMBER, _average, "moments:stddev_pop"),
    AggregateFunction("STDDEV_SAMP", NUMBER, _average, "moments:stddev_samp", synonyms=("STDDEV",)),
    AggregateFunction("VAR_POP", NUMBER, _average, "moments:var_pop"),
    AggregateFunction("VAR_SAMP", NUMBER, _average, "moments:var_samp", synonyms=("VARIANCE",)),
    AggregateFunction("FIRST_VALUE", ANY, _same, "endings:ending", Keeps.ENDING),
    AggregateFunction("LAST_VALUE", ANY, _same, "endings:ending", Keeps.ENDING, last=True),
    AggregateFunction("LISTAGG", TEXT, lambda _: STRING, "lists:joined", Keeps.LIST, separator=True),
    AggregateFunction("ARRAY_AGG", ANY, array, "lists:arrays", Keeps.LIST, counts_nulls=True),
    AggregateFunction("COLLECT", ANY, _multiset, "lists:multisets", Keeps.LIST, never_null=True),
)

AGGREGATE_FUNCTIONS: dict[str, AggregateFunction] = {entry.name: entry for entry in _ENTRIES}


def aggregate_function(name: str) -> AggregateFunction | None:
    """The function of this name, in capitals, or of this synonym."""
    return AGGREGATE_FUNCTIONS.get(name) or next((entry for entry in _ENTRIES if name in entry.synonyms), None)


_COLLECTED = "Collect the values with ARRAY_AGG, and write them as JSON with JSON_STRING."

UNSUPPORTED_AGGREGATES: dict[str, str] = {
    "APPROX_COUNT_DISTINCT": "COUNT(DISTINCT …) is exact.",
    "PERCENTILE": "Collect the values with ARRAY_AGG, and take the one at the place: ARRAY_SORT(…)[n].",
    "JSON_ARRAYAGG": _COLLECTED,
    "JSON_OBJECTAGG": _COLLECTED,
    **dict.fromkeys(("SINGLE_VALUE", "INTERSECTION", "FUSION"), "Use MIN, MAX, COLLECT or ARRAY_AGG."),
}
"""Aggregate functions of Flink that rowkind does not have, and what to do instead."""
