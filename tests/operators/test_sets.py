"""INTERSECT, EXCEPT and NOT IN against DuckDB over the current rows, after every batch of random changelogs."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from rowkind.kinds import RowKind
from rowkind.operators.changes import STALE
from rowkind.operators.join.not_in import NotIn
from rowkind.operators.set.intersect_except import SetDifference
from tests.operators.harness import Engine, Row, delta_of
from tests.operators.tables import KIND, Bag, Changing, identity
from tests.seeds import seeds

LEFT = pa.schema([("a", pa.string()), ("b", pa.int32()), KIND])
RIGHT = pa.schema([("x", pa.string()), ("y", pa.int32()), KIND])
DUCK = duckdb.connect(config={"threads": 1})


def row(rng: random.Random, schema: pa.Schema, nulls: float) -> Row:
    text = None if rng.random() < nulls else rng.choice(["", "a", "b", "c"])
    return dict(zip(schema.names, (text, rng.choice([None, 1, 2])), strict=False))


def answer(tables: list[Changing], query: str) -> Counter[tuple[Any, ...]]:
    for name, table, schema in zip("lr", tables, (LEFT, RIGHT), strict=True):
        DUCK.register(name, pa.Table.from_pylist(table.rows, schema.remove(2)))
    return Counter(identity(found) for found in DUCK.sql(query).to_arrow_table().to_pylist())


@pytest.mark.parametrize("seed", seeds(10))
def test_intersect_and_except(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    sets = SetDifference(LEFT, RIGHT, rng.random() < 0.5, rng.random() < 0.5)
    query = f"FROM l {'INTERSECT' if sets.intersect else 'EXCEPT'} {'ALL ' if sets.all else ''}FROM r"
    engine = Engine([sets], tmp_path, rng.choice([1, 2, 3]), rng)
    tables = [Changing(rng, partial(row, rng, schema, 0.2)) for schema in (LEFT, RIGHT)]
    bag = Bag()
    for _ in range(rng.randrange(2, 7)):
        changes = [table.changes(rng.choice([0, 1, 5, 25])) for table in tables]
        deltas = [delta_of(c, schema) for c, schema in zip(changes, (LEFT, RIGHT), strict=True)]
        bag.apply(engine.batch(*deltas, tasks=rng.choice([1, 2, 4])))
        assert bag.rows == answer(tables, query), query
    assert not engine.counters[STALE]


@pytest.mark.parametrize("seed", seeds(12))
def test_not_in(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    engine = Engine([NotIn(LEFT, RIGHT, "a", "x")], tmp_path, 2, rng)
    left = Changing(rng, lambda: row(rng, LEFT, 0.2))
    right = Changing(rng, lambda: row(rng, RIGHT, rng.choice([0.0, 0.0, 0.2])))
    bag = Bag()
    for _ in range(rng.randrange(3, 9)):
        if right.rows and rng.random() < 0.3:
            changes, right.rows = [(RowKind.DELETE, gone) for gone in right.rows], []
        else:
            changes = right.changes(rng.choice([0, 0, 1, 2]))
        delta = delta_of(left.changes(rng.choice([0, 1, 5])), LEFT)
        bag.apply(engine.batch(delta, delta_of(changes, RIGHT), tasks=rng.choice([1, 2])))
        assert bag.rows == answer([left, right], "FROM l SELECT * WHERE a NOT IN (FROM r SELECT x)")
    assert not engine.counters[STALE]
