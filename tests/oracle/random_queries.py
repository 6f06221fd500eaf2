"""Queries made at random over the tables of the corpus, in words that DuckDB understands as well.

A relation is grown from the tables step by step: filtered, joined, grouped, combined with another. Its columns have a
kind each, so that only like is compared with like. The result goes into a table of changes, where rows may repeat.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.oracle.corpus import Case

Columns = tuple[tuple[str, str], ...]
"""Names and kinds: `key` is of the run's random type, `number` an integer, `text` a string."""

TABLES: dict[str, Columns] = {
    "a": (("id", "number"), ("k", "key"), ("v", "number"), ("s", "text")),
    "b": (("id", "number"), ("k", "key"), ("w", "number")),
    "d": (("k", "key"), ("v", "number"), ("s", "text")),
}
STEPS = 4
ROWS = 3
"""Relations of so many joins at most: each may multiply the rows."""
_NUMBERS = ("COUNT({})", "COUNT(DISTINCT {})", "SUM(CAST({} AS BIGINT))", "MIN({})", "MAX({})")
_TESTS = {
    "number": ("{} > 3", "{} <> 5", "{} IS NULL", "{} BETWEEN 2 AND 8"),
    "text": ("{} <> 'x'", "{} = 'y'", "{} IS NOT NULL", "UPPER({}) = 'ZZ'"),
    "key": ("{} IS NOT NULL", "{} IS NULL"),
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A query so far, its columns, and how many tables are joined in it."""

    sql: str
    columns: Columns
    joined: int = 1

    def of_kind(self, kind: str) -> list[str]:
        return [name for name, its in self.columns if its == kind]


def random_cases(rng: random.Random, count: int) -> list[Case]:
    return [Case(f"random_{number}", None, sql, sql) for number in range(count) for sql in [random_query(rng)]]


def random_query(rng: random.Random) -> str:
    """One query."""
    found = _table(rng)
    for _ in range(rng.randrange(1, STEPS + 1)):
        found = rng.choice(_GROWTH)(rng, found)
    return found.sql


def _table(rng: random.Random) -> Relation:
    name = rng.choice(list(TABLES))
    return Relation(f"SELECT * FROM {name}", TABLES[name])


def _test(rng: random.Random, columns: Sequence[tuple[str, str]], prefix: str = "") -> str:
    name, kind = rng.choice(columns)
    test = rng.choice(_TESTS[kind]).format(f"{prefix}{name}")
    return f"NOT ({test})" if rng.random() < 0.2 else test


def _filtered(rng: random.Random, below: Relation) -> Relation:
    tests = [_test(rng, below.columns) for _ in range(rng.randrange(1, 3))]
    where = rng.choice((" AND ", " OR ")).join(tests)
    return Relation(f"SELECT * FROM ({below.sql}) t WHERE {where}", below.columns, below.joined)


def _projected(rng: random.Random, below: Relation) -> Relation:
    kept = rng.sample(below.columns, rng.randrange(1, len(below.columns) + 1))
    made = [name for name, _ in kept]
    columns = tuple((f"p{at}", kind) for at, (_, kind) in enumerate(kept))
    if numbers := below.of_kind("number"):
        number = rng.choice(numbers)
        made.append(f"CASE WHEN {_test(rng, below.columns)} THEN CAST({number} AS BIGINT) + 1 ELSE 0 END")
        columns = (*columns, (f"p{len(kept)}", "number"))
    select = ", ".join(f"{sql} AS p{at}" for at, sql in enumerate(made))
    distinct = "DISTINCT " if rng.random() < 0.3 else ""
    return Relation(f"SELECT {distinct}{select} FROM ({below.sql}) t", columns, below.joined)


def _joined(rng: random.Random, below: Relation) -> Relation:
    other = _filtered(rng, _table(rng)) if rng.random() < 0.4 else _table(rng)
    kinds = [kind for kind in ("number", "text", "key") if below.of_kind(kind) and other.of_kind(kind)]
    if below.joined >= ROWS or not kinds:
        return _filtered(rng, below)
    kind = rng.choice(kinds)
    on = f"l.{rng.choice(below.of_kind(kind))} = r.{rng.choice(other.of_kind(kind))}"
    if rng.random() < 0.3:
        on += f" AND {_test(rng, [c for c in other.columns if c[1] != 'text'], 'r.')}"  # no functions there
    sides = [*((f"l.{n}", k) for n, k in below.columns), *((f"r.{n}", k) for n, k in other.columns)]
    kept = rng.sample(sides, min(len(sides), 4))
    select = ", ".join(f"{sql} AS j{at}" for at, (sql, _) in enumerate(kept))
    how = rng.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    sql = f"SELECT {select} FROM ({below.sql}) l {how} ({other.sql}) r ON {on}"
    return Relation(sql, tuple((f"j{at}", kind) for at, (_, kind) in enumerate(kept)), below.joined + 1)


def _grouped(rng: random.Random, below: Relation) -> Relation:
    keys = rng.sample(below.columns, rng.randrange(1, min(2, len(below.columns)) + 1))
    calls = ["COUNT(*)"]
    for number in below.of_kind("number")[:2]:
        call = rng.choice(_NUMBERS).format(number)
        calls.append(f"{call} FILTER (WHERE {_test(rng, below.columns)})" if rng.random() < 0.3 else call)
    select = [f"{name} AS g{at}" for at, (name, _) in enumerate(keys)]
    select += [f"{call} AS g{at}" for at, call in enumerate(calls, len(keys))]
    names = ", ".join(name for name, _ in keys)
    having = f" HAVING COUNT(*) > {rng.randrange(1, 4)}" if rng.random() < 0.3 else ""
    columns = tuple((f"g{at}", kind) for at, (_, kind) in enumerate(keys))
    columns += tuple((f"g{at}", "number") for at in range(len(keys), len(keys) + len(calls)))
    return Relation(f"SELECT {', '.join(select)} FROM ({below.sql}) t GROUP BY {names}{having}", columns, below.joined)


def _member(rng: random.Random, below: Relation) -> Relation:
    other = _table(rng)
    kinds = [kind for kind in ("number", "text", "key") if below.of_kind(kind) and other.of_kind(kind)]
    if not kinds:
        return _filtered(rng, below)
    kind = rng.choice(kinds)
    inner = f"SELECT {rng.choice(other.of_kind(kind))} FROM ({other.sql}) o WHERE {_test(rng, other.columns)}"
    where = f"{rng.choice(below.of_kind(kind))} IN ({inner})"
    return Relation(f"SELECT * FROM ({below.sql}) t WHERE {where}", below.columns, below.joined)


def _combined(rng: random.Random, below: Relation) -> Relation:
    """With rows of its own kind, so that columns fit: the same relation, filtered otherwise."""
    one, two = _filtered(rng, below), _filtered(rng, below)
    how = rng.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
    sql = f"SELECT * FROM ({one.sql} {how} {two.sql}) t"
    return Relation(sql, below.columns, below.joined)


_GROWTH: tuple[Callable[[random.Random, Relation], Relation], ...] = (
    _filtered,
    _projected,
    _joined,
    _joined,
    _grouped,
    _grouped,
    _member,
    _combined,
)
