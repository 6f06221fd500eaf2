"""COALESCE and its like, conversions of every type, and value constructors."""

from __future__ import annotations

from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.casts import to_common
from rowkind.plan.expressions.common import branch_type, common_type
from rowkind.plan.expressions.comparison import comparable
from rowkind.plan.expressions.functions.call import Call, Function, mapped, special
from rowkind.plan.expressions.structure import row
from rowkind.plan.expressions.typed import Typed, any_nullable, text
from rowkind.types import Root


def _alike(call: Call, values: list[Typed]) -> list[Typed]:
    return to_common(values, common_type([v.type for v in values]), "NO_COMMON_TYPE", call.node)


def _members(call: Call, values: list[Typed]) -> list[Typed]:
    return to_common(values, branch_type([v.type for v in values]), "NO_COMMON_TYPE", call.node)


def _coalesce(call: Call, args: list[Typed]) -> Typed:
    values = _alike(call, args)
    type = replace(values[0].type, nullable=all(v.nullable for v in args))
    return Typed(f"coalesce({', '.join(v.sql for v in values)})", type)


def _ifnull(call: Call, args: list[Typed]) -> Typed:
    found = _coalesce(call, args)
    if all(arg.root is Root.CHAR for arg in args):
        # Of two texts of fixed length the longer one gives the type.
        found = found.with_type(replace(found.type, root=Root.CHAR))
    return found.with_type(replace(found.type, nullable=args[0].nullable and args[1].nullable))


def _nullif(call: Call, args: list[Typed]) -> Typed:
    left, right = comparable(list(args), call.node)
    return Typed(f"IF({left.sql} = {right.sql}, NULL, {args[0].sql})", args[0].type.as_nullable())


def _if(call: Call, args: list[Typed]) -> Typed:
    yes, no = _alike(call, args[1:])
    return Typed(f"IF({args[0].sql}, {yes.sql}, {no.sql})", replace(yes.type, nullable=any_nullable(args)))


def _extreme(function: str) -> Function:
    """Flink gives NULL when any value is; Spark leaves NULLs out."""

    def body(call: Call, args: list[Typed]) -> Typed:
        values = _alike(call, args)
        found = f"{function.lower()}({', '.join(v.sql for v in values)})" if len(values) > 1 else values[0].sql
        unknown = " OR ".join(f"{v.sql} IS NULL" for v in values if v.nullable)
        sql = f"IF({unknown}, NULL, {found})" if unknown else found
        return Typed(sql, replace(values[0].type, nullable=any_nullable(args)))

    return special(function, "any, any*", body)


def _typeof(call: Call, args: list[Typed]) -> Typed:
    return Typed(text(str(args[0].type)), t.STRING)


def _array(call: Call, args: list[Typed]) -> Typed:
    values = _members(call, args)
    element = replace(values[0].type, nullable=any_nullable(args))
    return Typed(f"array({', '.join(v.sql for v in values)})", t.array(element).not_null())


def _map(call: Call, args: list[Typed]) -> Typed:
    keys, values = _members(call, args[::2]), _members(call, args[1::2])
    key = replace(keys[0].type, nullable=any_nullable(keys))
    value = replace(values[0].type, nullable=any_nullable(values))
    type = t.map_of(key, value).not_null()
    if not any_nullable(keys):
        members = ", ".join(f"{k.sql}, {v.sql}" for k, v in zip(keys, values, strict=True))
        return Typed(f"map({members})", type)
    entries = ", ".join(f"named_struct('k', {k.sql}, 'v', {v.sql})" for k, v in zip(keys, values, strict=True))
    # Spark's maps have no NULL key, and would end the job.
    return Typed(f"map_from_entries(filter(array({entries}), __e -> __e.k IS NOT NULL))", type)


CONDITIONAL: tuple[Function, ...] = (
    special("COALESCE", "any, any*", _coalesce),
    special("IFNULL", "any, any", _ifnull),
    special("NULLIF", "any, any", _nullif),
    special("IF", "bool, any, any", _if),
    _extreme("GREATEST"),
    _extreme("LEAST"),
    special("TYPEOF", "any, bool?", _typeof),
    mapped("CURRENT_DATABASE", "", t.STRING.not_null(), "'default_database'"),
)

CONSTRUCTORS: tuple[Function, ...] = (
    special("ROW", "any, any*", lambda call, args: row(args)),
    special("ARRAY", "any, any*", _array),
    special("MAP", "any, any, any*", _map),
)
