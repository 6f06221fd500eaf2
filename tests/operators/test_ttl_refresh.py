"""What is seen again lives on: a TTL counts from the last time that a row or a value came, changed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.join_kind import JoinKind
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.distinct import two_stages
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.join.not_in import NotIn
from rowkind.operators.join.regular_join import Join
from rowkind.operators.join.sides import JoinSide, Multiplicity
from rowkind.operators.materialize import Materialize
from rowkind.operators.set.intersect_except import SetDifference
from tests.operators.harness import Change, Engine, delta_of

TTL = 1000
KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)
INPUT = pa.schema([("g", pa.string()), ("x", pa.int64()), KIND])
OTHER = pa.schema([("h", pa.string()), ("y", pa.int64()), KIND])


def add(g: str, x: int, names: tuple[str, str] = ("g", "x")) -> Change:
    return RowKind.INSERT, dict(zip(names, (g, x), strict=True))


def take(g: str, x: int, names: tuple[str, str] = ("g", "x")) -> Change:
    return RowKind.DELETE, dict(zip(names, (g, x), strict=True))


def again(g: str, x: int, names: tuple[str, str] = ("g", "x")) -> list[Change]:
    return [(RowKind.UPDATE_BEFORE, take(g, x, names)[1]), (RowKind.UPDATE_AFTER, add(g, x, names)[1])]


def run(engine: Engine, clock_ms: int, *inputs: list[Change]) -> list[tuple[Any, ...]]:
    schemas = engine.operators[0].input_schemas
    given = [*inputs, *([] for _ in range(len(schemas) - len(inputs)))]
    deltas = [delta_of(changes, schema) for changes, schema in zip(given, schemas, strict=True)]
    found = engine.batch(*deltas, clock_ms=clock_ms).to_pylist()
    return [(RowKind(row.pop(KIND_COLUMN)).symbol, *row.values()) for row in found]


@pytest.mark.parametrize("unchanged", [True, False], ids=["taken back and given again", "given once more"])
def test_the_values_of_max(tmp_path: Path, unchanged: bool) -> None:
    largest = AggregateCall("MAX", "x", pa.int64(), "m")
    engine = Engine([Aggregate(INPUT, ("g",), (largest,), ttl_ms=TTL)], tmp_path)
    run(engine, 0, [add("a", 1), add("a", 9)])
    for clock in (900, 1800, 2700):
        run(engine, clock, [*again("a", 1), *again("a", 9)] if unchanged else [add("a", 1), add("a", 9)])
    back = [take("a", 9)] * (1 if unchanged else 4)
    assert run(engine, 2800, back) == [("-U", "a", 9), ("+U", "a", 1)], "1 was seen 100 ms ago"


def test_values_inside_count_distinct(tmp_path: Path) -> None:
    distinct = AggregateCall("COUNT", "x", pa.int64(), "n", distinct=True)
    engine = Engine(list(two_stages(Aggregate(INPUT, ("g",), (distinct,), ttl_ms=TTL))), tmp_path)
    run(engine, 0, [add("a", 1), add("a", 2)])
    for clock in (900, 1800, 2700):
        run(engine, clock, [*again("a", 1), *again("a", 2)])
    assert run(engine, 2800, [add("a", 1)])[-1] == ("+U", "a", 2), "1 was there already"
    assert run(engine, 2900, [take("a", 2)])[-1] == ("+U", "a", 1)


@pytest.mark.parametrize("rows", [Multiplicity.ONE_PER_KEY, Multiplicity.DISTINCT, Multiplicity.ANY])
@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI])
def test_rows_of_a_join(tmp_path: Path, rows: Multiplicity, kind: JoinKind) -> None:
    sides = JoinSide(INPUT, ("g",), rows, TTL), JoinSide(OTHER, ("h",), rows, TTL)
    engine = Engine([Join(*sides, kind)], tmp_path)
    names = ("h", "y")
    run(engine, 0, [add("a", 1)], [add("b", 1, names)])
    for clock in (900, 1800, 2700):
        run(engine, clock, again("a", 1), again("b", 1, names))
    other = () if kind.filters else ("a", 5)
    assert ("+I", "a", 1, *other) in run(engine, 2800, [], [add("a", 5, names)])
    mine = () if kind.filters else ("b", 1)
    assert run(engine, 2900, [add("b", 6)]) == [("+I", "b", 6, *mine)]
    assert not engine.counters["retractions_without_state"]


def test_rows_of_not_in(tmp_path: Path) -> None:
    engine = Engine([NotIn(INPUT, OTHER, "g", "h", ttl_ms=TTL)], tmp_path)
    names = ("h", "y")
    run(engine, 0, [add("a", 1)], [add("b", 1, names)])
    for clock in (900, 1800, 2700):
        run(engine, clock, again("a", 1), again("b", 1, names))
    assert run(engine, 2800, [add("b", 2)]) == []
    assert run(engine, 2900, [], [add("a", 1, names)]) == [("-D", "a", 1)]


def test_rows_of_intersect(tmp_path: Path) -> None:
    engine = Engine([SetDifference(INPUT, OTHER, intersect=True, all=False, ttl_ms=TTL)], tmp_path)
    names = ("h", "y")
    run(engine, 0, [add("a", 1)])
    for clock in (900, 1800, 2700):
        run(engine, clock, again("a", 1))
    assert run(engine, 2800, [], [add("a", 1, names)]) == [("+I", "a", 1)]


@pytest.mark.parametrize("identity", [None, ("x",)], ids=["by content", "by key"])
def test_rows_of_a_sink(tmp_path: Path, identity: tuple[str, ...] | None) -> None:
    engine = Engine([Materialize(INPUT, ("g",), identity, ttl_ms=TTL)], tmp_path)
    run(engine, 0, [add("a", 1)])
    for clock in (900, 1800, 2700):
        run(engine, clock, again("a", 1))
    assert run(engine, 2800, [take("a", 1)]) == [("-D", "a", 1)]
