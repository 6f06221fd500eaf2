"""The two traits of a plan node: the changelog mode it emits, and its upsert keys."""

from __future__ import annotations

from functools import singledispatch

from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n

Key = frozenset[str]

INSERT_ONLY, UPSERT, RETRACT = ChangelogMode.INSERT_ONLY, ChangelogMode.UPSERT, ChangelogMode.RETRACT


@singledispatch
def emits(node: n.Node) -> ChangelogMode:
    """Which kinds of rows a node hands on."""
    modes = {emits(i) for i in node.inputs}
    if modes <= {INSERT_ONLY}:
        return INSERT_ONLY
    return UPSERT if UPSERT in modes else RETRACT


@emits.register
def _(node: n.Scan) -> ChangelogMode:
    return node.table.changelog


@emits.register(n.Normalize)
@emits.register(n.Aggregate)
@emits.register(n.Rank)
def _(node: n.Normalize | n.Aggregate | n.Rank) -> ChangelogMode:
    if isinstance(node, n.Aggregate) and not node.calls and node.keys and emits(node.input) is INSERT_ONLY:
        return INSERT_ONLY
    return RETRACT if node.emit_before else UPSERT


@emits.register
def _(node: n.Join) -> ChangelogMode:
    inputs = {emits(node.left), emits(node.right)}
    if inputs == {INSERT_ONLY} and node.kind in (n.JoinKind.INNER, n.JoinKind.SEMI):
        return INSERT_ONLY
    return RETRACT if node.emit_before else UPSERT


@emits.register
def _(node: n.SinkMaterialize) -> ChangelogMode:
    return UPSERT


@singledispatch
def upsert_keys(node: n.Node) -> frozenset[Key]:
    """Sets of columns, each of which identifies a row of the node's current table; the empty set: one row at most."""
    return frozenset()


@upsert_keys.register
def _(node: n.Scan) -> frozenset[Key]:
    key = node.table.primary_key
    return frozenset({frozenset(key)}) if key else frozenset()


@upsert_keys.register(n.Filter)
@upsert_keys.register(n.WatermarkAssigner)
def _(node: n.Filter | n.WatermarkAssigner) -> frozenset[Key]:
    return upsert_keys(node.input)


@upsert_keys.register
def _(node: n.Normalize) -> frozenset[Key]:
    return frozenset({frozenset(node.key)})


@upsert_keys.register
def _(node: n.Project) -> frozenset[Key]:
    names: dict[str, list[str]] = {}
    for made in node.expressions:
        if made.expr.column is not None:
            names.setdefault(made.expr.column, []).append(made.name)
    return frozenset(frozenset(names[c][0] for c in key) for key in upsert_keys(node.input) if key <= names.keys())


@upsert_keys.register
def _(node: n.Aggregate) -> frozenset[Key]:
    return frozenset({frozenset(node.keys)})


@upsert_keys.register
def _(node: n.Rank) -> frozenset[Key]:
    below = {key | frozenset(node.partition) for key in upsert_keys(node.input)} | upsert_keys(node.input)
    if node.function == "ROW_NUMBER" and node.last == node.first:
        return frozenset({*below, frozenset(node.partition)})
    if node.function == "ROW_NUMBER" and node.rank is not None:
        return frozenset({*below, frozenset((*node.partition, node.rank))})
    return frozenset(below)


@upsert_keys.register
def _(node: n.Join) -> frozenset[Key]:
    left, right = upsert_keys(node.left), upsert_keys(node.right)
    if node.kind in (n.JoinKind.SEMI, n.JoinKind.ANTI):
        return left
    both = {a | b for a in left for b in right}
    if any(key <= set(node.right_keys) for key in right) and node.kind in (n.JoinKind.INNER, n.JoinKind.LEFT):
        both |= left
    if any(key <= set(node.left_keys) for key in left) and node.kind in (n.JoinKind.INNER, n.JoinKind.RIGHT):
        both |= right
    return frozenset(both)


@upsert_keys.register
def _(node: n.SinkMaterialize) -> frozenset[Key]:
    return frozenset({frozenset(node.key)})


def smallest_key(node: n.Node) -> tuple[str, ...] | None:
    """The upsert key with the fewest columns, in column order; None where the node has none."""
    keys = upsert_keys(node)
    if not keys:
        return None
    best = min(keys, key=lambda k: (len(k), sorted(k)))
    return tuple(c.name for c in node.columns if c.name in best)
