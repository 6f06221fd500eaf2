"""Plan nodes as the operators that run them."""

from __future__ import annotations

from functools import singledispatch

import pyarrow as pa

from rowkind.catalog.types import Field, arrow_type
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, ChangelogMode
from rowkind.operators.aggregate import Aggregate
from rowkind.operators.calls import AggregateCall
from rowkind.operators.contract import Operator
from rowkind.operators.distinct import sharded
from rowkind.operators.normalize import Normalize
from rowkind.plan import nodes as n
from rowkind.plan.explain import described
from rowkind.plan.traits import emits

FILTER = "__filter"
"""The column that tells a Normalize which rows pass the filter that was pushed into it."""


@singledispatch
def operators_for(node: n.Node, ttl_ms: int) -> tuple[Operator, ...]:
    """The operators of a stateful node, to be run one behind the other."""
    raise RowkindError("OPERATOR_NOT_YET_SUPPORTED", operator=described(node))


@operators_for.register
def _(node: n.Aggregate, ttl_ms: int) -> tuple[Operator, ...]:
    append_only = emits(node.input) is ChangelogMode.INSERT_ONLY
    calls = tuple(_call(call) for call in node.calls)
    made = Aggregate(input_schema(node.input), node.keys, calls, append_only, node.emit_before, ttl_ms)
    return sharded(made)


@operators_for.register
def _(node: n.Normalize, ttl_ms: int) -> tuple[Operator, ...]:
    schema, condition = input_schema(node.input), None
    if node.filter is not None:
        condition = FILTER
        schema = schema.insert(len(schema) - 1, pa.field(FILTER, pa.bool_()))
    return (Normalize(schema, node.key, condition, node.emit_before, ttl_ms),)


def _call(call: n.Call) -> AggregateCall:
    argument = call.arguments[0] if call.arguments else None
    separator = call.separator if call.separator is not None else ","
    return AggregateCall(
        call.function, argument, arrow_type(call.type), call.name, call.distinct, call.filter, separator
    )


def input_schema(node: n.Node) -> pa.Schema:
    """A node's changelog as its consumer sees it: every column may be null."""
    return pa.schema([*(_field(c) for c in node.columns), pa.field(KIND_COLUMN, pa.int8())])


def _field(column: Field) -> pa.Field:
    return pa.field(column.name, arrow_type(column.type))
