"""Aggregate functions: which names are aggregates, and the types of their results, as in Flink."""

from __future__ import annotations

from sqlglot import exp

from rowkind.types import BIGINT, STRING, DataType, Root, array

_SAME = frozenset({"MIN", "MAX", "FIRST_VALUE", "LAST_VALUE"})
_AVERAGE = frozenset({"AVG", "STDDEV_POP", "STDDEV_SAMP", "STDDEV", "VAR_POP", "VAR_SAMP", "VARIANCE"})
SYNONYMS = {"STDDEV": "STDDEV_SAMP", "VARIANCE": "VAR_SAMP"}
AGGREGATES = _SAME | _AVERAGE | {"COUNT", "SUM", "LISTAGG", "COLLECT", "ARRAY_AGG"}


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a tree node is an aggregate call (without its FILTER)."""
    return isinstance(node, exp.Anonymous) and node.name.upper() in AGGREGATES


def result_type(function: str, argument: DataType | None) -> DataType:
    """The type of an aggregate over an argument of the given type."""
    if function == "COUNT":
        return BIGINT.not_null()
    assert argument is not None
    if function == "LISTAGG":
        return STRING
    if function == "COLLECT":
        return DataType(Root.MULTISET, nullable=False, element=argument)
    if function == "ARRAY_AGG":
        return array(argument)
    if argument.root is Root.DECIMAL and function == "SUM":
        return DataType(Root.DECIMAL, precision=38, scale=argument.scale)
    if argument.root is Root.DECIMAL and function in _AVERAGE:
        return DataType(Root.DECIMAL, precision=38, scale=max(6, argument.scale or 0))
    return argument.as_nullable()
