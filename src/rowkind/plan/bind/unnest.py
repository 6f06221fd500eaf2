"""UNNEST: one row per element of an array, map or multiset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.joins import join_kind
from rowkind.plan.bind.scope import Relation, Scope
from rowkind.plan.bind.values import single_row
from rowkind.plan.nodes import Unnest
from rowkind.types import INT, DataType, Field, Root, map_members


def bind_unnest(left: Scope, join: exp.Join, context: Context) -> Scope:
    """CROSS JOIN UNNEST(…), or LEFT JOIN UNNEST(…) ON TRUE, which keeps rows without elements."""
    item = join.this.this if isinstance(join.this, exp.Lateral) else join.this
    if not isinstance(item, exp.Unnest):
        raise context.unsupported(
            item, "LATERAL with anything but UNNEST", "Join a table or a subquery, or use a scalar function and UNNEST."
        )
    kind, on = join_kind(join), join.args.get("on")
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise context.unsupported(item, f"{kind} JOIN with UNNEST", "Use CROSS JOIN, or LEFT JOIN … ON TRUE.")
    if on is not None and not (isinstance(on.unnest(), exp.Boolean) and on.unnest().this):
        raise context.unsupported(on, "a condition in ON of UNNEST", "Write ON TRUE, and the condition in WHERE.")
    if join.args.get("using") or join.args.get("method"):
        raise context.unsupported(item, "USING or NATURAL with UNNEST", "Use CROSS JOIN UNNEST and WHERE.")
    alias = item.args.get("alias") or join.this.args.get("alias")
    return _unnested(left, item, alias, kind is JoinKind.LEFT, context)


def bind_unnest_alone(item: exp.Unnest, context: Context) -> Scope:
    """FROM UNNEST(…): the elements of a constant."""
    return _unnested(Scope(single_row(), (), context.source), item, item.args.get("alias"), False, context)


def _unnested(left: Scope, item: exp.Unnest, alias: exp.Expr | None, outer: bool, context: Context) -> Scope:
    if len(item.expressions) != 1:
        raise context.unsupported(item, "UNNEST of several collections", "UNNEST them one after the other.")
    collection = context.expr(item.expressions[0], left)
    ordinality = bool(item.args.get("offset"))
    fields = list(_fields(collection.type, item, context))
    if ordinality:
        fields.append(Field("ORDINALITY", INT.not_null()))
    name = alias.name if alias is not None and alias.name else None
    if name is not None and any(r.alias == name for r in left.relations):
        raise context.error("DUPLICATE_ALIAS", item, name=name)
    users = [c.name for c in alias.args.get("columns") or ()] if alias is not None else []
    if users and len(users) != len(fields):
        raise context.error("COLUMN_COUNT", item, what=f"alias '{name}'", given=len(users), expected=len(fields))
    prefix = f"{name or f'${len(left.relations)}'}."
    made = [(user, prefix + user) for user in users or [f.name for f in fields]]
    columns = tuple(
        Field(internal, f.type.as_nullable() if outer else f.type)
        for (_, internal), f in zip(made, fields, strict=True)
    )
    node = Unnest(left.node, collection, columns, ordinality, outer)
    return replace(left, node=node, relations=(*left.relations, Relation(name, tuple(made))))


def _fields(type: DataType, item: exp.Unnest, context: Context) -> Sequence[Field]:
    """The columns that one element makes: the fields of a row, key and value of a map, else the element itself."""
    if type.root is Root.MAP:
        key, value = map_members(type)
        return (Field("KEY", key), Field("VALUE", value))
    if type.root in (Root.ARRAY, Root.MULTISET) and type.element is not None:
        if type.element.root is Root.ROW:
            nullable = type.element.nullable
            return [Field(f.name, f.type.as_nullable() if nullable else f.type) for f in type.element.fields]
        return (Field("EXPR$0", type.element),)
    raise context.error("NOT_A_COLLECTION", item, type=type)
