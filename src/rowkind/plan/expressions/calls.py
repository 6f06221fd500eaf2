"""Function calls: Flink's by the table of functions, all others as Spark knows them."""

from __future__ import annotations

from sqlglot import exp

from rowkind import types as t
from rowkind.plan.expressions.functions.all import FUNCTIONS, REFUSED
from rowkind.plan.expressions.functions.call import Call
from rowkind.plan.expressions.scope import Scope, failure, rule
from rowkind.plan.expressions.typed import Typed
from rowkind.sql import JsonCall
from rowkind.types import quote


@rule(exp.Var)
def _word(scope: Scope, node: exp.Expr) -> Typed:
    """A keyword among the arguments, such as the unit of TIMESTAMPADD."""
    return Typed(node.name, t.NULL, constant=node.name)


@rule(exp.Anonymous, exp.Extract, JsonCall)
def _call(scope: Scope, node: exp.Expr) -> Typed:
    name = "EXTRACT" if isinstance(node, exp.Extract) else str(node.this)
    if name.upper() in REFUSED:
        raise failure("FUNCTION_NOT_SUPPORTED", node, function=name, instead=REFUSED[name.upper()])
    nodes = [node.this, node.expression] if isinstance(node, exp.Extract) else list(node.expressions)
    function = FUNCTIONS.get(name.upper())
    if function is None:
        return _spark_call(scope, name, scope.all(nodes))
    return function.apply(Call(function.name, scope, node, tuple(nodes)))


def _spark_call(scope: Scope, name: str, args: list[Typed]) -> Typed:
    """A function of Spark's or a registered UDF: passed on as it is, typed by Spark."""
    path = ".".join(quote(part) for part in name.split("."))
    sql = f"{path}({', '.join(a.sql for a in args)})"
    return Typed(sql, scope.type_by_spark(sql))
