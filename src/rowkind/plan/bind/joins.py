"""Joins in FROM: equal keys and a residual condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.plan.bind.coercion import coerced
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.intervals import interval_of
from rowkind.plan.bind.predicates import Waiting, conjuncts, filtered
from rowkind.plan.bind.relations import bind_item, qualified
from rowkind.plan.bind.scope import Scope
from rowkind.plan.columns import only_columns, passed
from rowkind.plan.expressions import common_type
from rowkind.plan.nodes import Expr, Filter, Join, Named, Node, Project
from rowkind.plan.time_nodes import IntervalJoin, WindowJoin
from rowkind.plan.windowing import windowing


def bind_join(left: Scope, join: exp.Join, context: Context, waiting: Waiting | None = None) -> Scope:
    """One more relation joined to what is there."""
    if isinstance(join.this, (exp.Unnest, exp.Lateral)):
        from rowkind.plan.bind.unnest import bind_unnest

        return bind_unnest(left, join, context)
    if isinstance(join.this, exp.Table) and join.this.args.get("version"):
        from rowkind.plan.bind.temporal_joins import bind_temporal_join

        return bind_temporal_join(left, join, context)
    kind = join_kind(join)
    if kind is not JoinKind.INNER:
        waiting = None
    right = right_side(left, join, context, waiting)
    if join.args.get("using") or str(join.args.get("method") or "").upper() == "NATURAL":
        from rowkind.plan.bind.using import bind_using

        return bind_using(left, right, join, kind, context)
    both = both_sides(left, right)
    condition = join.args.get("on")
    if condition is not None and condition.find(exp.Query):
        raise context.unsupported(condition, "a subquery in ON", "Put it in WHERE, or join the subquery itself.")
    parts = [both.resolve(p) for p in conjuncts(condition)] if condition is not None else []
    parts += waiting.take(both) if waiting is not None else []
    return replace(both, node=joined(left.node, right.node, kind, parts, context))


def right_side(left: Scope, join: exp.Join, context: Context, waiting: Waiting | None = None) -> Scope:
    """The relation that is joined, its columns named so that they do not clash."""
    right = bind_item(join.this, context)
    if waiting is not None:
        right = filtered(right, waiting.take(right), context)
    right = qualified(right, len(left.relations))
    taken = {r.alias for r in left.relations if r.alias}
    for relation in right.relations:
        if relation.alias in taken:
            raise context.error("DUPLICATE_ALIAS", join.this, name=relation.alias)
    return right


def join_kind(join: exp.Join) -> JoinKind:
    side = str(join.args.get("side") or "").upper()
    return JoinKind(side) if side else JoinKind.INNER


def both_sides(left: Scope, right: Scope) -> Scope:
    """What an ON condition sees: a node that stands for the columns of both."""
    node = Join(left.node, right.node, JoinKind.INNER, (), ())
    return Scope(node, (*left.relations, *right.relations), left.source, {**left.merged, **right.merged})


@dataclass(frozen=True, slots=True)
class Split:
    """A join condition taken apart: pairs of equal expressions, one a side, and the rest."""

    left: tuple[exp.Expr, ...]
    right: tuple[exp.Expr, ...]
    rest: tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class Keyed:
    """Two sides whose key expressions are columns."""

    left: Node
    right: Node
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]


def joined(
    left: Node, right: Node, kind: JoinKind, parts: Sequence[exp.Expr], context: Context, null_aware: bool = False
) -> Node:
    """A join on resolved conditions; key expressions become columns, and the extra ones are dropped above."""
    split = split_condition(parts, left, right)
    keyed = keyed_sides(left, right, split, context)
    if kind is JoinKind.INNER:
        # The rest of an inner join's condition is a filter on what it gives.
        join, rest = _join(keyed, kind, split.rest, context)
        node = Filter(join, _condition(rest, join, context)) if rest else join
    else:
        node = _outer(keyed, kind, split.rest, null_aware, context)
    wanted = left.columns if kind in (JoinKind.SEMI, JoinKind.ANTI) else (*left.columns, *right.columns)
    return only_columns(node, [c.name for c in wanted])


def _join(
    keyed: Keyed, kind: JoinKind, rest: tuple[exp.Expr, ...], context: Context
) -> tuple[Node, tuple[exp.Expr, ...]]:
    """The operator that fits the condition, and the parts of the condition that it leaves."""
    left, right, left_keys, right_keys = keyed.left, keyed.right, keyed.left_keys, keyed.right_keys
    if ends := _window_ends(keyed):
        return WindowJoin(left, right, kind, left_keys, right_keys, *ends), rest
    interval = interval_of(rest, left, right) if kind not in (JoinKind.SEMI, JoinKind.ANTI) else None
    if interval is not None:
        times = (interval.left_time, interval.right_time, interval.lower, interval.upper)
        join = IntervalJoin(left, right, kind, left_keys, right_keys, *times, proctime=interval.proctime)
        return join, interval.rest
    return Join(left, right, kind, left_keys, right_keys), rest


def _outer(keyed: Keyed, kind: JoinKind, rest: tuple[exp.Expr, ...], null_aware: bool, context: Context) -> Node:
    join, rest = _join(keyed, kind, rest, context)
    assert isinstance(join, (Join, WindowJoin, IntervalJoin))
    residual = _condition(rest, Join(keyed.left, keyed.right, JoinKind.INNER, (), ()), context) if rest else None
    if isinstance(join, Join):
        return replace(join, residual=residual, null_aware=null_aware)
    return replace(join, residual=residual)


def _condition(parts: Sequence[exp.Expr], node: Node, context: Context) -> Expr:
    return context.exprs([exp.and_(*parts, copy=True)], {c.name: c.type for c in node.columns})[0]


def _window_ends(keyed: Keyed) -> tuple[str, str] | None:
    """The columns that hold the end of the window, if both sides have windows and these have to be equal."""
    left, right = windowing(keyed.left), windowing(keyed.right)
    if left is None or right is None or left.window.proctime or right.window.proctime:
        return None
    pairs = list(zip(keyed.left_keys, keyed.right_keys, strict=True))
    if not any(a in left.starts and b in right.starts for a, b in pairs):
        return None
    return next(((a, b) for a, b in pairs if a in left.ends and b in right.ends), None)


def split_condition(parts: Sequence[exp.Expr], left: Node, right: Node) -> Split:
    names = {c.name for c in left.columns}, {c.name for c in right.columns}
    pairs, rest = [], []
    for part in parts:
        pair = _equal_sides(part, *names)
        if pair:
            pairs.append(pair)
        else:
            rest.append(part)
    return Split(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), tuple(rest))


def _equal_sides(part: exp.Expr, left: set[str], right: set[str]) -> tuple[exp.Expr, exp.Expr] | None:
    if not isinstance(part, exp.EQ):
        return None
    a, b = ({c.name for c in side.find_all(exp.Column)} for side in (part.this, part.expression))
    if a and b and a <= left and b <= right:
        return part.this, part.expression
    if a and b and a <= right and b <= left:
        return part.expression, part.this
    return None


def keyed_sides(left: Node, right: Node, split: Split, context: Context) -> Keyed:
    """Both sides with the key expressions as columns, each pair in one type."""
    left_exprs = context.exprs(split.left, {c.name: c.type for c in left.columns}) if split.left else []
    right_exprs = context.exprs(split.right, {c.name: c.type for c in right.columns}) if split.right else []
    pairs = [_same_type(a, b, left, right, context) for a, b in zip(left_exprs, right_exprs, strict=True)]
    keyed_left, left_keys = _keyed(left, [a for a, _ in pairs], "$l")
    keyed_right, right_keys = _keyed(right, [b for _, b in pairs], "$r")
    return Keyed(keyed_left, keyed_right, left_keys, right_keys)


def _same_type(a: Expr, b: Expr, left: Node, right: Node, context: Context) -> tuple[Expr, Expr]:
    """Keys of both sides in one type, so that equal values have equal hashes."""
    type = common_type((a.type, b.type))
    if type is None:
        equal = exp.EQ(this=a.tree.copy(), expression=b.tree.copy())
        raise context.error("JOIN_KEY_TYPES", equal, left=a.type, right=b.type)
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
