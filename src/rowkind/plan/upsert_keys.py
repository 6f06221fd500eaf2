"""Upsert keys: the sets of columns by which a node's rows can be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import product

from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.types import BINARIES, CHARACTERS, INTEGERS, TIMESTAMPS, DataType, Root

Key = frozenset[str]

_WIDER = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT)


@singledispatch
def upsert_keys(node: n.Node) -> frozenset[Key]:
    """Sets of columns, each of which identifies a row of the node's current table; the empty set: one row at most."""
    return frozenset()


@upsert_keys.register
def _(node: n.Scan) -> frozenset[Key]:
    key = node.table.primary_key
    return frozenset({frozenset(key)}) if key else frozenset()


@upsert_keys.register
def _(node: n.Values) -> frozenset[Key]:
    return frozenset({frozenset[str]()}) if len(node.rows) == 1 else frozenset()


@upsert_keys.register(n.Filter)
@upsert_keys.register(n.WatermarkAssigner)
@upsert_keys.register(t.Over)
def _(node: n.Unary) -> frozenset[Key]:
    return upsert_keys(node.input)


@upsert_keys.register
def _(node: n.Normalize) -> frozenset[Key]:
    return frozenset({frozenset(node.key)})


@upsert_keys.register
def _(node: n.Project) -> frozenset[Key]:
    names: dict[str, list[str]] = {}
    for made in node.expressions:
        source = identified(made.expr, node.input)
        if source is not None:
            names.setdefault(source, []).append(made.name)
    return frozenset(
        frozenset(choice)
        for key in upsert_keys(node.input)
        if key <= names.keys()
        for choice in product(*(names[column] for column in key))
    )


def identified(expr: n.Expr, below: n.Node) -> str | None:
    """The column whose different values an expression keeps apart: itself, or a cast that loses nothing."""
    if expr.column is not None or not isinstance(expr.tree, exp.Cast):
        return expr.column
    inner = expr.tree.this
    if not isinstance(inner, exp.Column) or isinstance(expr.tree, exp.TryCast):
        return None
    return inner.name if _lossless(below.column(inner.name).type, expr.type) else None


def _lossless(given: DataType, wanted: DataType) -> bool:
    for family in (CHARACTERS, BINARIES):
        if given.root in family and wanted.root in family:
            return given.root is wanted.root and (given.length or 0) <= (wanted.length or 0)
    if given.root in INTEGERS:
        if wanted.root in INTEGERS:
            return _WIDER.index(given.root) <= _WIDER.index(wanted.root)
        return wanted.root is Root.VARCHAR and (wanted.length or 0) >= 20
    if given.root in TIMESTAMPS:
        return given.root is wanted.root and (given.precision or 0) <= (wanted.precision or 0)
    return given.as_nullable() == wanted.as_nullable()


@upsert_keys.register(n.Aggregate)
@upsert_keys.register(t.WindowAggregate)
def _(node: n.Aggregate | t.WindowAggregate) -> frozenset[Key]:
    return frozenset({frozenset(node.keys)})


@upsert_keys.register(n.Rank)
@upsert_keys.register(t.WindowRank)
def _(node: n.Rank | t.WindowRank) -> frozenset[Key]:
    keys = set(upsert_keys(node.input))
    if isinstance(node, t.WindowRank) or node.function == "ROW_NUMBER":
        if node.last == node.first:
            keys.add(frozenset(node.partition))
        if node.rank is not None:
            keys.add(frozenset((*node.partition, node.rank)))
    return _smallest(keys)


@upsert_keys.register(n.Join)
@upsert_keys.register(t.WindowJoin)
@upsert_keys.register(t.IntervalJoin)
def _(node: n.Join | t.WindowJoin | t.IntervalJoin) -> frozenset[Key]:
    left, right = upsert_keys(node.left), upsert_keys(node.right)
    if node.kind.filters:
        return left
    found = {a | b for a in left for b in right if node.kind is not JoinKind.FULL or _told_apart(node, a, b)}
    if node.kind in (JoinKind.INNER, JoinKind.LEFT) and unique_by(node.right, node.right_keys):
        found |= left
    if node.kind in (JoinKind.INNER, JoinKind.RIGHT) and unique_by(node.left, node.left_keys):
        found |= right
    if node.kind is JoinKind.INNER:
        found |= set(_substituted(found, node.left_keys, node.right_keys))
    return _smallest(found)


def _smallest(keys: set[Key]) -> frozenset[Key]:
    """Without the keys that contain another one: wherever they survive, so does the smaller."""
    return frozenset(key for key in keys if not any(other < key for other in keys))


def unique_by(node: n.Node, columns: Sequence[str]) -> bool:
    """Whether no two rows of a node agree in all of the columns."""
    return any(key <= set(columns) for key in upsert_keys(node))


def _told_apart(node: n.Node, a: Key, b: Key) -> bool:
    """Rows that a FULL JOIN pads on the left never look like rows that it pads on the right.

    They would if both keys could be all NULL: one row because its key is, the other because it is padded.
    """
    left, right = node.inputs
    return any(not left.column(c).type.nullable for c in a) or any(not right.column(c).type.nullable for c in b)


def _substituted(keys: set[Key], left: Sequence[str], right: Sequence[str]) -> Iterator[Key]:
    """Keys with one side's join column in the place of the other's, which it equals."""
    for a, b in zip(left, right, strict=True):
        for key in keys:
            if a in key:
                yield key - {a} | {b}
            if b in key:
                yield key - {b} | {a}


@upsert_keys.register
def _(node: t.TemporalJoin) -> frozenset[Key]:
    return upsert_keys(node.left)


@upsert_keys.register
def _(node: n.SetDifference) -> frozenset[Key]:
    """What is left of the left rows; without ALL no row stands there twice."""
    keys = set(upsert_keys(node.left))
    if node.intersect:
        keys |= upsert_keys(node.right)
    return frozenset(keys if node.all else {*keys, frozenset(c.name for c in node.columns)})


@upsert_keys.register
def _(node: n.Unnest) -> frozenset[Key]:
    """An element is told by its number, or by its key in a map."""
    if node.ordinality:
        told = node.made[-1].name
    elif node.collection.type.root is Root.MAP:
        told = node.made[0].name
    else:
        return frozenset()
    return frozenset(key | {told} for key in upsert_keys(node.input))


@upsert_keys.register
def _(node: t.WindowAssign) -> frozenset[Key]:
    if node.window.kind in (t.WindowKind.TUMBLE, t.WindowKind.SESSION):
        return upsert_keys(node.input)
    return frozenset(key | {t.WINDOW_START, t.WINDOW_END} for key in upsert_keys(node.input))


@upsert_keys.register(n.SinkMaterialize)
@upsert_keys.register(n.SinkBuffer)
def _(node: n.SinkMaterialize | n.SinkBuffer) -> frozenset[Key]:
    return frozenset({frozenset(node.key)})


def smallest_key(node: n.Node) -> tuple[str, ...] | None:
    """The upsert key with the fewest columns, in column order; None where the node has none."""
    keys = upsert_keys(node)
    if not keys:
        return None
    best = min(keys, key=lambda k: (len(k), sorted(k)))
    return tuple(c.name for c in node.columns if c.name in best)
