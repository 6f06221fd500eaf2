"""Joins against DuckDB over the current rows, after every batch of random changelogs."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sqlglot

from rowkind.join_kind import JoinKind
from rowkind.operators.changes import STALE, Bools
from rowkind.operators.join.regular_join import DUPLICATE, Join
from rowkind.operators.join.residual_sql import duck_residual
from rowkind.operators.join.sides import JoinSide, Multiplicity
from tests.operators.harness import Engine, Row, Table, delta_of
from tests.operators.tables import KIND, Bag, Changing, identity, removals_first
from tests.seeds import seeds

LEFT = pa.schema([("lk", pa.string()), ("lj", pa.int32()), ("lid", pa.int64()), ("lv", pa.decimal128(9, 2)), KIND])
RIGHT = pa.schema([("rid", pa.int64()), ("rk", pa.string()), ("rj", pa.int32()), ("rv", pa.decimal128(9, 2)), KIND])
DUCK = duckdb.connect(config={"threads": 1})
SQL = {JoinKind.SEMI: "SEMI JOIN", JoinKind.ANTI: "ANTI JOIN"}


@dataclass(frozen=True)
class Less:
    """`lv < rv`, by Arrow."""

    columns: tuple[str, ...] = ("lv", "rv")

    def evaluate(self, pairs: pa.Table) -> Bools:
        less = pc.fill_null(pc.less(pairs.column("lv"), pairs.column("rv")), False)
        return np.asarray(less.to_numpy())


LESS = duck_residual(sqlglot.parse_one("lv < rv"), {f.name: f.type for schema in (LEFT, RIGHT) for f in schema})


@dataclass
class Case:
    """One random join with its two tables."""

    rng: random.Random

    def __post_init__(self) -> None:
        rng = self.rng
        self.kind = rng.choice(list(JoinKind))
        self.keys = rng.choice([0, 1, 1, 2])
        self.residual = rng.choice([None, None, None, Less(), LESS])
        self.multiplicity = [rng.choice(list(Multiplicity)) for _ in range(2)]
        self.nulls = rng.random() < 0.7
        self.names = (("lk", "lj")[: self.keys], ("rk", "rj")[: self.keys])
        ids = ("lid", "rid")
        self.unique = [
            {Multiplicity.ONE_PER_KEY: self.names[at], Multiplicity.DISTINCT: (ids[at],)}.get(self.multiplicity[at])
            for at in (0, 1)
        ]
        self.tables = [
            Changing(
                rng,
                partial(self.row, prefix),
                self.unique[at],
                self.multiplicity[at] is Multiplicity.APPEND_ONLY,
            )
            for at, prefix in enumerate("lr")
        ]
        self.upserts = [
            self.multiplicity[at] is Multiplicity.ONE_PER_KEY and not self.nulls and rng.random() < 0.5 for at in (0, 1)
        ]

    def row(self, prefix: str) -> Row:
        rng, none = self.rng, [None] if self.nulls else []
        values = {
            "k": rng.choice([*none, "", "a", "b", "c", "a longer key"]),
            "j": rng.choice([*none, 1, 2]),
            "id": rng.randrange(12),
            "v": rng.choice([None, Decimal("0.00"), Decimal("1.50"), Decimal("-2.25")]),
        }
        columns = (LEFT if prefix == "l" else RIGHT).names[:-1]
        return {name: values[name[1:]] for name in columns}

    def upsert_key(self) -> tuple[str, ...] | None:
        """What identifies an output row."""
        left, right = self.unique
        if self.kind.filters:
            return left
        if left is None or right is None:
            return None
        if self.kind in (JoinKind.INNER, JoinKind.LEFT) and self.multiplicity[1] is Multiplicity.ONE_PER_KEY:
            return left
        return (*left, *right)

    def operator(self) -> Join:
        sides = [
            JoinSide(schema, keys, rows)
            for schema, keys, rows in zip((LEFT, RIGHT), self.names, self.multiplicity, strict=True)
        ]
        key = self.upsert_key() if self.rng.random() < 0.8 else None
        before = key is None or self.rng.random() < 0.6
        join = Join(sides[0], sides[1], self.kind, self.residual, key, before)
        copy: Join = pickle.loads(pickle.dumps(join))
        assert copy == join
        return copy

    def expected(self) -> Counter[tuple[Any, ...]]:
        for name, table, schema in zip("lr", self.tables, (LEFT, RIGHT), strict=True):
            DUCK.register(name, pa.Table.from_pylist(table.rows, schema.remove(len(schema) - 1)))
        terms = [f"{a} = {b}" for a, b in zip(*self.names, strict=True)] + (["lv < rv"] if self.residual else [])
        condition = " AND ".join(terms or ["TRUE"])
        how = SQL.get(self.kind, f"{self.kind} JOIN")
        rows = DUCK.sql(f"SELECT * FROM l {how} r ON {condition}").to_arrow_table().to_pylist()
        return Counter(identity(row) for row in rows)


@pytest.mark.parametrize("seed", seeds(20))
def test_random_changelogs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    case = Case(rng)
    join = case.operator()
    engine = Engine([join], tmp_path, rng.choice([1, 2, 3]), rng)
    bag = Bag() if join.update_before else None
    table = Table(join.upsert_key, upsert=not join.update_before) if join.upsert_key is not None else None
    for _ in range(rng.randrange(2, 6)):
        sizes = [rng.choice([0, 1, 4, 15]) for _ in range(2)]
        changes = [
            source.upserts(size) if upserts else source.changes(size)
            for source, size, upserts in zip(case.tables, sizes, case.upserts, strict=True)
        ]
        deltas = [delta_of(c, schema) for c, schema in zip(changes, (LEFT, RIGHT), strict=True)]
        out = engine.batch(*deltas, tasks=rng.choice([1, 2, 4]))
        expected = case.expected()
        if bag is not None:
            bag.apply(out)
            assert bag.rows == expected, f"{join.kind}"
        if table is not None:
            table.apply(removals_first(out))
            assert Counter(identity(row) for row in table.rows.values()) == expected, f"{join.kind}"
    assert not engine.counters[STALE]
    assert not engine.counters[DUPLICATE]
