"""Aggregate calls: their arguments as columns, with DISTINCT and FILTER."""

from __future__ import annotations

from sqlglot import exp

from rowkind.aggregate_functions import SYNONYMS, is_aggregate, result_type
from rowkind.plan.bind.inputs import Inputs
from rowkind.plan.nodes import Call
from rowkind.types import BIGINT


def bind_call(written: exp.Expr, inputs: Inputs, name: str) -> Call:
    """A resolved call, with the FILTER around it, over columns of the input."""
    condition, call = None, written
    while not isinstance(call, exp.Anonymous):
        if isinstance(call, exp.Filter):
            condition = call.expression.this
        call = call.this
    function = SYNONYMS.get(call.name.upper(), call.name.upper())
    arguments, distinct = list(call.expressions), False
    if arguments and isinstance(arguments[0], exp.Distinct):
        arguments, distinct = arguments[0].expressions + arguments[1:], True
    if arguments and isinstance(arguments[0], exp.Star):
        arguments = []
    separator = None
    if function == "LISTAGG" and len(arguments) == 2:
        *arguments, written_separator = arguments
        if not isinstance(written_separator, exp.Literal) or not written_separator.is_string:
            raise inputs.context.unsupported(
                written_separator, "LISTAGG with a separator that is no literal", "Write the separator as a string."
            )
        separator = str(written_separator.this)
    nested = next((e for a in arguments for e in a.walk() if is_aggregate(e)), None)
    if nested is not None:
        raise inputs.context.unsupported(nested, "an aggregate inside an aggregate", "Aggregate in a subquery first.")
    types = [inputs.context.exprs([a], inputs.scope.types)[0].type for a in arguments]
    if function == "COUNT" and not distinct and not any(type.nullable for type in types):
        arguments = []
    columns = [inputs.column(a) for a in arguments]
    filtered = inputs.column(condition).name if condition is not None else None
    type = result_type(function, types[0] if types else BIGINT)
    return Call(name, function, tuple(c.name for c in columns), type, distinct, filtered, separator=separator)
