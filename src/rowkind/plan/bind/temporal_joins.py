"""Temporal joins: FOR SYSTEM_TIME AS OF the time of the left row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind.errors import RowkindError
from rowkind.join_kind import JoinKind
from rowkind.plan.attributes import TimeAttribute, rowtime_of, time_attribute
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.joins import both_sides, join_kind, keyed_sides, right_side, split_condition
from rowkind.plan.bind.predicates import conjuncts
from rowkind.plan.bind.scope import Scope
from rowkind.plan.columns import only_columns
from rowkind.plan.nodes import Expr, Filter, Join
from rowkind.plan.time_nodes import TemporalJoin
from rowkind.plan.traits import upsert_keys


def bind_temporal_join(left: Scope, join: exp.Join, context: Context) -> Scope:
    """Each row of the left side with the version of the table that was valid at its time."""
    table, kind = join.this, join_kind(join)
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise context.unsupported(table, f"{kind} JOIN FOR SYSTEM_TIME AS OF", "Use JOIN or LEFT JOIN.")
    left_time, attribute = _time(left, table, context)
    right = right_side(left, join, context)
    if join.args.get("on") is None:
        raise _no_key(right, table, context)
    right_time = rowtime_of(right.node)
    if attribute is TimeAttribute.ROWTIME and right_time is None:
        raise context.error("TEMPORAL_JOIN_WITHOUT_WATERMARK", table, table=table.name)
    both = both_sides(left, right)
    sides = _sides(left, right, [both.resolve(p) for p in conjuncts(join.args["on"])], table, context)
    proctime = attribute is TimeAttribute.PROCTIME
    residual = sides.residual
    node = TemporalJoin(
        sides.join.left,
        sides.join.right,
        kind,
        sides.join.left_keys,
        sides.join.right_keys,
        left_time,
        None if proctime else right_time,
        residual if kind is JoinKind.LEFT else None,
        proctime,
    )
    made = Filter(node, residual) if residual is not None and kind is JoinKind.INNER else node
    return replace(both, node=only_columns(made, [c.name for c in both.node.columns]))


@dataclass(frozen=True, slots=True)
class _Sides:
    """The two sides joined on the table's key; everything else that ON says is the residual."""

    join: Join
    residual: Expr | None


def _sides(left: Scope, right: Scope, parts: Sequence[exp.Expr], table: exp.Table, context: Context) -> _Sides:
    split = split_condition(parts, left.node, right.node)
    keyed = keyed_sides(left.node, right.node, split, context)
    keys = [key for key in upsert_keys(right.node) if key and key <= set(keyed.right_keys)]
    if not keys:
        raise _no_key(right, table, context)
    key = min(keys, key=lambda k: (len(k), sorted(k)))
    chosen = sorted({keyed.right_keys.index(name) for name in key})
    join = Join(
        keyed.left,
        keyed.right,
        JoinKind.INNER,
        tuple(keyed.left_keys[i] for i in chosen),
        tuple(keyed.right_keys[i] for i in chosen),
    )
    others = [i for i in range(len(split.left)) if i not in chosen]
    rest: list[exp.Expr] = [exp.EQ(this=split.left[i].copy(), expression=split.right[i].copy()) for i in others]
    rest += split.rest
    types = {c.name: c.type for c in join.columns}
    return _Sides(join, context.exprs([exp.and_(*rest, copy=True)], types)[0] if rest else None)


def _time(left: Scope, table: exp.Table, context: Context) -> tuple[str, TimeAttribute]:
    written = table.args["version"].expression
    resolved = left.resolve(written)
    attribute = time_attribute(left.node, resolved.name) if isinstance(resolved, exp.Column) else None
    if attribute is None:
        raise context.error("TEMPORAL_JOIN_TIME", written)
    return resolved.name, attribute


def _no_key(right: Scope, table: exp.Table, context: Context) -> RowkindError:
    keys = sorted(upsert_keys(right.node), key=lambda k: (len(k), sorted(k)))
    shown = ", ".join(sorted(name.rpartition(".")[2] for name in keys[0])) if keys else "none"
    return context.error("TEMPORAL_JOIN_KEY", table, table=table.name, key=shown)
