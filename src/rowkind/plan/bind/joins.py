"""Joins in FROM: equal keys and a residual condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind.plan.bind.coercion import coerced
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.relations import bind_item, passed, qualified
from rowkind.plan.bind.scope import Scope
from rowkind.plan.bind.select import conjuncts
from rowkind.plan.expressions import common_type
from rowkind.plan.nodes import Expr, Join, JoinKind, Named, Node, Project


def bind_join(left: Scope, join: exp.Join, context: Context) -> Scope:
    """One more relation joined to what is there."""
    if isinstance(join.this, (exp.Unnest, exp.Lateral)) or _is_unnest(join.this):
        from rowkind.plan.bind.unnest import bind_unnest

        return bind_unnest(left, join, context)
    if isinstance(join.this, exp.Table) and join.this.args.get("version"):
        from rowkind.plan.bind.temporal import bind_temporal_join

        return bind_temporal_join(left, join, context)
    right = qualified(bind_item(join.this, context), context, join.this)
    for relation in right.relations:
        if any(r.alias == relation.alias for r in left.relations):
            raise context.error("DUPLICATE_ALIAS", join.this, name=relation.alias)
    kind = join_kind(join, context)
    both = both_sides(left, right)
    if join.args.get("using") or str(join.args.get("method") or "").upper() == "NATURAL":
        from rowkind.plan.bind.using import bind_using

        return bind_using(left, right, join, kind, context)
    condition = join.args.get("on")
    parts = [both.resolve(p) for p in conjuncts(condition)] if condition is not None else []
    node = joined(left.node, right.node, kind, parts, context)
    return Scope(node, both.relations, context.source, both.merged)


def join_kind(join: exp.Join, context: Context) -> JoinKind:
    side = str(join.args.get("side") or "").upper()
    if side:
        return JoinKind(side)
    kind = str(join.args.get("kind") or "").upper()
    if kind in ("", "INNER", "CROSS", "OUTER"):
        return JoinKind.FULL if kind == "OUTER" else JoinKind.INNER
    raise context.unsupported(join, f"{kind} JOIN", "Use INNER, LEFT, RIGHT, FULL or CROSS JOIN, IN or EXISTS.")


def both_sides(left: Scope, right: Scope) -> Scope:
    """What an ON condition sees: a node that stands for the columns of both."""
    node = Join(left.node, right.node, JoinKind.INNER, (), ())
    return Scope(node, (*left.relations, *right.relations), left.source, {**left.merged, **right.merged})


@dataclass(frozen=True, slots=True)
class _Split:
    """A join condition taken apart: pairs of equal expressions, one a side, and the rest."""

    left: tuple[exp.Expr, ...]
    right: tuple[exp.Expr, ...]
    rest: tuple[exp.Expr, ...]


def joined(
    left: Node,
    right: Node,
    kind: JoinKind,
    parts: Sequence[exp.Expr],
    context: Context,
    null_aware: bool = False,
) -> Node:
    """A join on resolved conditions; key expressions become columns, and the extra ones are dropped above."""
    split = _split(parts, left, right)
    left_exprs = context.exprs(split.left, {c.name: c.type for c in left.columns}) if split.left else []
    right_exprs = context.exprs(split.right, {c.name: c.type for c in right.columns}) if split.right else []
    pairs = [_same_type(a, b, left, right, context) for a, b in zip(left_exprs, right_exprs, strict=True)]
    keyed_left, left_keys = _keyed(left, [a for a, _ in pairs], "$l")
    keyed_right, right_keys = _keyed(right, [b for _, b in pairs], "$r")
    types = {c.name: c.type for c in (*left.columns, *right.columns)}
    residual = context.exprs([exp.and_(*split.rest, copy=True)], types)[0] if split.rest else None
    join = Join(keyed_left, keyed_right, kind, left_keys, right_keys, residual, null_aware)
    wanted = left.columns if kind in (JoinKind.SEMI, JoinKind.ANTI) else (*left.columns, *right.columns)
    if [c.name for c in join.columns] == [c.name for c in wanted]:
        return join
    return Project(join, tuple(Named(c.name, passed(c.name, join)) for c in wanted))


def _split(parts: Sequence[exp.Expr], left: Node, right: Node) -> _Split:
    names = {c.name for c in left.columns}, {c.name for c in right.columns}
    pairs, rest = [], []
    for part in parts:
        pair = _equal_sides(part, *names)
        if pair:
            pairs.append(pair)
        else:
            rest.append(part)
    return _Split(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), tuple(rest))


def _equal_sides(part: exp.Expr, left: set[str], right: set[str]) -> tuple[exp.Expr, exp.Expr] | None:
    if not isinstance(part, exp.EQ):
        return None
    a, b = ({c.name for c in side.find_all(exp.Column)} for side in (part.this, part.expression))
    if a and b and a <= left and b <= right:
        return part.this, part.expression
    if a and b and a <= right and b <= left:
        return part.expression, part.this
    return None


def _same_type(a: Expr, b: Expr, left: Node, right: Node, context: Context) -> tuple[Expr, Expr]:
    """Keys of both sides in one type, so that equal values have equal hashes."""
    type = common_type((a.type, b.type))
    if type is None:
        return a, b
    sides = []
    for expr, node in ((a, left), (b, right)):
        wanted = replace(type, nullable=expr.type.nullable)
        sides.append(coerced(expr, wanted, {c.name: c.type for c in node.columns}, context))
    return sides[0], sides[1]


def _keyed(node: Node, keys: Sequence[Expr], prefix: str) -> tuple[Node, tuple[str, ...]]:
    """The node with its key expressions as columns, and their names."""
    if all(k.column is not None for k in keys):
        return node, tuple(str(k.column) for k in keys)
    kept = tuple(Named(c.name, passed(c.name, node)) for c in node.columns)
    made = tuple(Named(f"{prefix}{i}", k) for i, k in enumerate(keys) if k.column is None)
    names = tuple(k.column or f"{prefix}{i}" for i, k in enumerate(keys))
    return Project(node, (*kept, *made)), names


def _is_unnest(item: exp.Expr) -> bool:
    return isinstance(item, exp.Alias) and isinstance(item.this, exp.Unnest)
