"""Access to members of rows, arrays and maps, and CASE."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rowkind import types as t
from rowkind.errors import nearest
from rowkind.plan.expressions.casts import convert, to_common, widened
from rowkind.plan.expressions.common import branch_type
from rowkind.plan.expressions.comparison import comparable
from rowkind.plan.expressions.scope import Scope, failure, rule
from rowkind.plan.expressions.typed import Typed, text
from rowkind.types import DataType, Field, Root, map_members, quote


@rule(exp.Dot)
def _field(scope: Scope, node: exp.Expr) -> Typed:
    value, name = scope.translate(node.this), node.expression.name
    found = next((f for f in value.type.fields if f.name == name), None)
    if found is None:
        suggestion = nearest(name, [f.name for f in value.type.fields])
        raise failure("NO_SUCH_FIELD", node, type=value.type, field=name, suggestion=suggestion)
    type = found.type if not value.nullable else found.type.as_nullable()
    return Typed(f"{value.sql}.{quote(name)}", type)


@rule(exp.Bracket)
def _element(scope: Scope, node: exp.Expr) -> Typed:
    """`array[1]` counts from 1 and is NULL outside; `map['key']` is NULL without the key."""
    value, index = scope.all([node.this, node.expressions[0]])
    if value.root is Root.ARRAY and index.root in t.INTEGERS | {Root.NULL}:
        assert value.type.element
        position = convert(index, t.INT)
        return Typed(f"get({value.sql}, {position.sql} - 1)", value.type.element.as_nullable())
    if value.root is Root.MAP:
        key, member = map_members(value.type)
        found, _ = comparable([index, Typed("", key)], node)
        return Typed(f"try_element_at({value.sql}, {widened(found, key).sql})", member.as_nullable())
    if value.root is Root.ROW and isinstance(index.constant, int) and 0 < index.constant <= len(value.type.fields):
        field = value.type.fields[index.constant - 1]
        type = replace(field.type, nullable=value.nullable or field.type.nullable)
        return Typed(f"{value.sql}.{quote(field.name)}", type)
    raise failure("OPERATOR_TYPES", node, operator="[…]", types=f"{value.type} and {index.type}")


@rule(exp.Tuple)
def _tuple(scope: Scope, node: exp.Expr) -> Typed:
    return row(scope.all(node.expressions))


def row(members: list[Typed]) -> Typed:
    """ROW(a, b) and (a, b); the fields have Flink's names for the nameless."""
    fields = tuple(Field(f"EXPR${i}", m.type) for i, m in enumerate(members))
    inner = ", ".join(f"{text(f.name)}, {m.sql}" for f, m in zip(fields, members, strict=True))
    return Typed(f"named_struct({inner})", DataType(Root.ROW, nullable=False, fields=fields))


@rule(exp.Case)
def _case(scope: Scope, node: exp.Expr) -> Typed:
    subject = scope.translate(node.this) if node.this else None
    conditions = [_condition(scope, subject, branch.this, node) for branch in node.args["ifs"]]
    values = scope.all([branch.args["true"] for branch in node.args["ifs"]])
    default = node.args.get("default")
    values.append(scope.translate(default) if default else Typed("NULL", t.NULL))
    *results, otherwise = to_common(values, branch_type([v.type for v in values]), "NO_COMMON_TYPE", node)
    branches = " ".join(f"WHEN {c} THEN {r.sql}" for c, r in zip(conditions, results, strict=True))
    nullable = any(v.nullable for v in values)
    return Typed(f"CASE {branches} ELSE {otherwise.sql} END", replace(otherwise.type, nullable=nullable))


def _condition(scope: Scope, subject: Typed | None, when: exp.Expr, node: exp.Expr) -> str:
    value = scope.translate(when)
    if subject is not None:
        left, right = comparable([subject, value], node)
        return f"({left.sql} = {right.sql})"
    if value.root not in (Root.BOOLEAN, Root.NULL):
        raise failure("NOT_A_CONDITION", node, type=value.type)
    return value.sql
