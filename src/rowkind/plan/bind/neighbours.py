"""LAG and LEAD: the value of a row before or after, with an offset and what counts where there is none."""

from __future__ import annotations

from sqlglot import exp

from rowkind.plan.bind.inputs import Inputs
from rowkind.plan.nodes import Call
from rowkind.sql.tree_nodes import type_node

_INSTEAD = "Write LAG(value), LAG(value, 2) or LAG(value, 2, default)."


def is_neighbour(call: exp.Expr) -> bool:
    return isinstance(call, exp.Anonymous) and call.name.upper() in ("LAG", "LEAD")


def bind_neighbour(call: exp.Expr, inputs: Inputs, name: str) -> Call:
    """A resolved call over columns of the input; LEAD is a LAG of a negative offset."""
    context, function = inputs.context, call.name.upper()
    arguments = list(call.expressions)
    if not 1 <= len(arguments) <= 3:
        raise context.unsupported(call, f"{function}() with {len(arguments)} arguments", _INSTEAD)
    value = inputs.column(arguments[0])
    type, columns = value.expr.type.as_nullable(), [value.name]
    if len(arguments) > 2:
        default = inputs.column(exp.Cast(this=arguments[2].copy(), to=type_node(type)))
        columns.append(default.name)
        if not value.expr.type.nullable and not default.expr.type.nullable:
            type = type.not_null()
    offset = _offset(arguments[1], inputs, function) if len(arguments) > 1 else 1
    return Call(name, "LAG", tuple(columns), type, offset=-offset if function == "LEAD" else offset)


def _offset(tree: exp.Expr, inputs: Inputs, function: str) -> int:
    if isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdigit():
        return int(tree.name)
    raise inputs.context.unsupported(tree, f"{function}() with an offset that is no literal", _INSTEAD)
