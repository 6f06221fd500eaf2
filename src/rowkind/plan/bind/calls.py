"""Aggregate calls: their arguments as columns, with DISTINCT and FILTER."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rowkind.aggregate_functions import AggregateFunction, aggregate_function
from rowkind.plan.bind.inputs import Inputs
from rowkind.plan.expressions.functions.call import Parameters
from rowkind.plan.expressions.scope import failure
from rowkind.plan.nodes import Call
from rowkind.sql.tree_nodes import is_aggregate
from rowkind.types import BIGINT, DataType


def bind_call(written: exp.Expr, inputs: Inputs, name: str) -> Call:
    """A resolved call, with the FILTER around it, over columns of the input."""
    condition, call = None, written
    while not isinstance(call, exp.Anonymous):
        if isinstance(call, exp.Filter):
            condition = call.expression.this
        call = call.this
    function = aggregate_function(call.name.upper())
    assert function is not None
    arguments, distinct = list(call.expressions), False
    if arguments and isinstance(arguments[0], exp.Distinct):
        arguments, distinct = arguments[0].expressions + arguments[1:], True
    _check_number(function, call, arguments)
    if isinstance(arguments[0], exp.Star):
        arguments = []
    separator = _separator(function, arguments, inputs)
    arguments = arguments[:1]
    nested = next((e for a in arguments for e in a.walk() if is_aggregate(e)), None)
    if nested is not None:
        raise inputs.context.unsupported(nested, "an aggregate inside an aggregate", "Aggregate in a subquery first.")
    types = [inputs.context.exprs([a], inputs.scope.types)[0].type for a in arguments]
    _check_types(function, call, types)
    if function.optional and not distinct and not any(type.nullable for type in types):
        arguments = []
    columns = [inputs.column(a) for a in arguments]
    filtered = inputs.column(condition).name if condition is not None else None
    type = function.result(types[0] if types else BIGINT)
    return Call(name, function.name, tuple(c.name for c in columns), type, distinct, filtered, separator=separator)


def _check_number(function: AggregateFunction, call: exp.Expr, arguments: Sequence[exp.Expr]) -> None:
    """One argument, `*` for some, two where values are separated. Flink, too, counts one column at most."""
    parameters = Parameters.of("any, any?" if function.separator else "any")
    star = any(isinstance(argument, exp.Star) for argument in arguments)
    if not parameters.accepts(len(arguments)) or (star and not function.optional):
        found = "*" if star else len(arguments)
        raise failure("FUNCTION_ARGUMENT_COUNT", call, function=function.name, expected=parameters.words, found=found)


def _check_types(function: AggregateFunction, call: exp.Expr, types: Sequence[DataType]) -> None:
    for type in types:
        if type.root not in function.takes.roots:
            raise failure(
                "FUNCTION_ARGUMENT",
                call,
                function=function.name,
                position=1,
                expected=function.takes.words,
                found=type,
            )


def _separator(function: AggregateFunction, arguments: Sequence[exp.Expr], inputs: Inputs) -> str | None:
    if len(arguments) < 2:
        return None
    written = arguments[1]
    if not isinstance(written, exp.Literal) or not written.is_string:
        feature = f"{function.name} with a separator that is not a literal"
        raise inputs.context.unsupported(written, feature, "Write the separator as a string.")
    return str(written.this)
