"""Tree nodes of Flink SQL that sqlglot has no like of."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from rowkind.aggregate_functions import aggregate_function
from rowkind.types import DataType


class WindowTable(exp.Expression):
    """A window table function: TUMBLE, HOP, CUMULATE or SESSION over a table.

    `this` is the input (exp.Table or exp.Subquery), `function` the name, `timecol` the column in DESCRIPTOR (an
    exp.Column), `size`, `slide`, `step`, `gap` and `offset` exp.Interval or other expressions as the function takes
    them, `partition_by` the columns of SESSION's PARTITION BY, `alias` an exp.TableAlias.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "function": True,
        "timecol": True,
        "size": False,
        "slide": False,
        "step": False,
        "gap": False,
        "offset": False,
        "partition_by": False,
        "alias": False,
    }

    @property
    def function(self) -> str:
        return str(self.args["function"])


class JoinedTables(exp.Expression):
    """Joins that belong together before the rest, as in `a JOIN (b JOIN c ON …) ON …`: `this` and `joins`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "joins": True}


class JsonCall(exp.Expression):
    """JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT, JSON_ARRAY and the aggregates, with their clauses.

    `this` is the name in upper case, `expressions` the arguments: input and path, the elements of an array, or
    an exp.Tuple of key and value per member of an object. The clauses, where given: `returning` (exp.DataType),
    `on_empty` and `on_error` (exp.Var NULL, ERROR, TRUE, FALSE, UNKNOWN, EMPTY_ARRAY, EMPTY_OBJECT, or the default),
    `wrapper` (WITHOUT, CONDITIONAL, UNCONDITIONAL), `on_null` (NULL or ABSENT).
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "expressions": False,
        "returning": False,
        "on_empty": False,
        "on_error": False,
        "wrapper": False,
        "on_null": False,
    }


def type_node(type: DataType) -> exp.DataType:
    """A type in a tree; `type_of` gives it back."""
    node = exp.DataType(this=exp.DType.USERDEFINED, kind=str(type))
    node.meta["type"] = type
    return node


def type_of(node: exp.Expr) -> DataType:
    """The type of a CAST, of a DATE, TIME or TIMESTAMP literal, or of RETURNING."""
    target = node.args["to"] if isinstance(node, exp.Cast) else node
    found = target.meta["type"]
    assert isinstance(found, DataType)
    return found


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a tree node is an aggregate call (without its FILTER)."""
    return isinstance(node, exp.Anonymous) and aggregate_function(node.name.upper()) is not None
