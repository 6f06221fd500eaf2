"""Upsert keys and changelog modes of nodes, without any SQL."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from rowkind.join_kind import JoinKind
from rowkind.kinds import ChangelogMode
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.columns import only_columns, passed
from rowkind.plan.partitioning import partitioned_by
from rowkind.plan.rules.prune_columns import prune_columns
from rowkind.plan.rules.update_before import update_before
from rowkind.plan.traits import emits, upsert_keys
from rowkind.sql.tree_nodes import type_node
from rowkind.types import BIGINT, INT, STRING, DataType, Field, array

ROWS = ChangelogMode.INSERT_ONLY


def rows(**types: DataType) -> n.Node:
    """New rows only, with no key."""
    return n.Values((), tuple(Field(name, type) for name, type in types.items()))


def keyed(*key: str, **types: DataType) -> n.Node:
    """A row per key that changes."""
    calls = tuple(n.Call(name, "MAX", (name,), type) for name, type in types.items() if name not in key)
    return n.Aggregate(rows(**types), key, calls)


def keys(node: n.Node) -> set[frozenset[str]]:
    return set(upsert_keys(node))


def renamed(node: n.Node, **names: str) -> n.Node:
    return n.Project(node, tuple(n.Named(new, passed(old, node)) for new, old in names.items()))


def key_sets(*texts: str) -> set[frozenset[str]]:
    return {frozenset(text.split()) for text in texts}


ID = BIGINT.not_null()
LEFT = keyed("a", a=ID, x=BIGINT)
RIGHT = keyed("b", b=ID, y=BIGINT)


@pytest.mark.parametrize(
    ("kind", "left_key", "right_key", "expected"),
    [
        (JoinKind.INNER, "x", "y", ("a b",)),
        (JoinKind.INNER, "x", "b", ("a",)),
        (JoinKind.INNER, "a", "b", ("a", "b")),
        (JoinKind.LEFT, "x", "b", ("a",)),
        (JoinKind.LEFT, "a", "y", ("a b",)),
        (JoinKind.RIGHT, "a", "y", ("b",)),
        (JoinKind.RIGHT, "x", "b", ("a b",)),
        (JoinKind.FULL, "a", "b", ("a b",)),
        (JoinKind.SEMI, "x", "y", ("a",)),
        (JoinKind.ANTI, "x", "y", ("a",)),
    ],
)
def test_keys_of_joins(kind: JoinKind, left_key: str, right_key: str, expected: tuple[str, ...]) -> None:
    join = n.Join(LEFT, RIGHT, kind, (left_key,), (right_key,))
    assert keys(join) == key_sets(*expected)


def test_a_full_join_of_nullable_keys_has_none() -> None:
    left, right = keyed("a", a=BIGINT, x=BIGINT), keyed("b", b=BIGINT, y=BIGINT)
    assert keys(n.Join(left, right, JoinKind.FULL, ("x",), ("y",))) == set()
    assert keys(n.Join(left, right, JoinKind.LEFT, ("x",), ("y",))) == key_sets("a b")


def test_an_inner_join_may_name_the_other_sides_column() -> None:
    left = keyed("a", "k", a=ID, k=ID, x=BIGINT)
    assert keys(n.Join(left, RIGHT, JoinKind.INNER, ("k",), ("b",))) == key_sets("a k", "a b")


def test_projections_keep_keys_that_they_pass_on() -> None:
    assert keys(renamed(LEFT, p="a", q="x")) == key_sets("p")
    assert keys(renamed(LEFT, p="a", q="a")) == key_sets("p", "q")
    assert keys(renamed(LEFT, q="x")) == set()


@pytest.mark.parametrize(
    ("given", "wanted", "kept"),
    [(INT, BIGINT, True), (BIGINT, INT, False), (BIGINT, STRING, True), (STRING, INT, False)],
)
def test_casts_keep_keys_unless_two_values_may_become_one(given: DataType, wanted: DataType, kept: bool) -> None:
    node = keyed("a", a=given)
    cast = n.Expr(exp.Cast(this=passed("a", node).tree, to=type_node(wanted)), "CAST(a)", wanted)
    assert keys(n.Project(node, (n.Named("c", cast),))) == (key_sets("c") if kept else set())


def test_keys_of_rankings() -> None:
    top = n.Rank(LEFT, partition=("x",), first=1, last=3)
    assert keys(top) == key_sets("a")
    assert keys(replace(top, rank="rn", rank_type=ID)) == key_sets("a", "x rn")
    assert keys(replace(top, last=1)) == key_sets("a", "x")
    assert keys(replace(top, function="RANK", last=1, rank="rn", rank_type=ID)) == key_sets("a")
    assert keys(n.Rank(rows(x=BIGINT), first=1, last=1)) == key_sets("")


def test_keys_of_sets_and_unnest() -> None:
    other = keyed("a", a=ID, x=BIGINT)
    assert keys(n.SetDifference(LEFT, other, intersect=False, all=True)) == key_sets("a")
    assert frozenset({"a", "x"}) in upsert_keys(n.SetDifference(LEFT, other, intersect=False, all=False))
    numbered = (Field("e", STRING), Field("i", INT))
    collection = n.Expr(passed("x", LEFT).tree, "x", array(STRING))
    assert keys(n.Unnest(LEFT, collection, numbered, ordinality=True)) == key_sets("a i")
    assert keys(n.Unnest(LEFT, collection, numbered[:1])) == set()


def test_what_only_adds_rows() -> None:
    one, other = rows(a=ID, x=BIGINT), rows(b=ID, y=BIGINT)
    assert emits(n.Aggregate(one, ("a",))) is ROWS
    assert emits(n.Aggregate(one, ("a",), (n.Call("c", "COUNT", (), ID),))) is not ROWS
    assert emits(n.Rank(one, last=3)) is ROWS
    assert emits(n.Rank(one, order=(n.Order("x", arrival=True),), last=1)) is ROWS
    assert emits(n.Rank(one, order=(n.Order("x", descending=True, arrival=True),), last=1)) is not ROWS
    assert emits(n.Rank(one, order=(n.Order("x"),), last=1)) is not ROWS
    for kind in JoinKind:
        grows = kind in (JoinKind.INNER, JoinKind.SEMI)
        assert (emits(n.Join(one, other, kind, ("a",), ("b",))) is ROWS) is grows
        assert emits(t.WindowJoin(one, other, kind, ("a",), ("b",), "a", "b")) is ROWS
    assert emits(n.SetDifference(one, other, intersect=True, all=False)) is ROWS
    assert emits(n.SetDifference(one, other, intersect=False, all=False)) is not ROWS
    assert emits(t.TemporalJoin(one, RIGHT, JoinKind.LEFT, ("x",), ("b",), "a", None, proctime=True)) is ROWS


def test_where_rows_of_a_join_are() -> None:
    def spread(kind: JoinKind) -> tuple[str, ...] | None:
        return partitioned_by(n.Join(LEFT, RIGHT, kind, ("x",), ("y",)))

    assert spread(JoinKind.LEFT) == ("x",)
    assert spread(JoinKind.RIGHT) == ("y",)
    assert spread(JoinKind.FULL) is None


def test_readers_of_one_part_keep_sharing_it() -> None:
    """Pruned and told apart together: what two plans have in common is still the same node."""
    shared = n.Rank(keyed("a", a=ID, x=BIGINT, y=BIGINT, z=BIGINT), partition=("a",), order=(n.Order("x"),), last=2)
    first, second = only_columns(shared, ["a", "y"]), only_columns(shared, ["a", "x"])
    pruned = prune_columns([n.Print(first), n.Print(second)])
    parts = [plan.inputs[0].inputs[0] for plan in update_before(pruned)]
    assert parts[0] == parts[1]
    assert [c.name for c in parts[0].columns] == ["a", "x", "y"]


@pytest.mark.parametrize(("key", "needed"), [("b", False), ("y", True)])
def test_old_rows_are_left_out_only_for_the_key_that_pairs_them(key: str, needed: bool) -> None:
    """The right side of a temporal join is read by its join key."""
    (plan,) = update_before([t.TemporalJoin(LEFT, RIGHT, JoinKind.INNER, ("x",), (key,), "a", None, proctime=True)])
    left, right = plan.inputs
    assert isinstance(left, n.Aggregate)
    assert isinstance(right, n.Aggregate)
    assert left.emit_before
    assert right.emit_before is needed
