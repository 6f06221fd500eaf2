"""The Flink SQL front end: text in, statements out. Imports no Spark."""

from rowkind.sql.datatypes import parse_type
from rowkind.sql.dialect import Flink, render
from rowkind.sql.errors import pointer
from rowkind.sql.literals import IntervalLength, interval_length
from rowkind.sql.script import parse_expression, parse_query, parse_script
from rowkind.sql.tree_nodes import JoinedTables, JsonCall, WindowTable, type_of
from rowkind.sql.variables import substitute

__all__ = [
    "Flink",
    "IntervalLength",
    "JoinedTables",
    "JsonCall",
    "WindowTable",
    "interval_length",
    "parse_expression",
    "parse_query",
    "parse_script",
    "parse_type",
    "pointer",
    "render",
    "substitute",
    "type_of",
]
