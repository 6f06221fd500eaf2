"""The first row of a key by event time, given once, against a plain model; and what the planner makes of it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, ChangelogMode, RowKind
from rowkind.operators.contract import END_OF_TIME
from rowkind.operators.rank.first_row import FirstRow
from rowkind.operators.timers import LATE
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits
from rowkind.runtime.driver.job_plan import JobPlan
from tests.operators.harness import Engine, Row, delta_of, entries_left
from tests.operators.tables import KIND
from tests.oracle.duck import Duck
from tests.oracle.planning import job_of
from tests.seeds import seeds

INPUT = pa.schema([("k", pa.string()), ("ts", pa.timestamp("us")), ("id", pa.int64()), KIND])
START = datetime(2024, 1, 1)
RANK = pa.field("n", pa.int64())


def row(k: str, second: int, id: int) -> Row:
    return {"k": k, "ts": START + timedelta(seconds=second), "id": id}


def mark(second: int) -> int:
    return int((START - datetime(1970, 1, 1)) / timedelta(microseconds=1)) + second * 1_000_000


def given(engine: Engine, rows: list[Row], watermark: int | None, clock_ms: int = 0) -> list[tuple[str, int]]:
    delta = delta_of([(RowKind.INSERT, each) for each in rows], INPUT)
    found = engine.batch(delta, watermark=watermark, clock_ms=clock_ms).to_pylist()
    assert {each[KIND_COLUMN] for each in found} <= {RowKind.INSERT}
    return [(each["k"], each["id"]) for each in found]


def test_the_earliest_row_is_given_when_time_has_passed_it(tmp_path: Path) -> None:
    engine = Engine([FirstRow(INPUT, ("k",), "ts", RANK)], tmp_path)
    assert given(engine, [row("a", 0, 1)], mark(50)) == [("a", 1)], "before the first watermark nothing is late"
    rows = [
        row("b", 101, 14),
        row("b", 99, 13),
        row("b", 99, 15),
        row("b", 100, 12),
        row("c", 101, 11),
        row("d", 10, 9),
    ]
    assert given(engine, rows, mark(50)) == []
    assert engine.counters[LATE] == 1
    assert given(engine, [], mark(102)) == [("b", 13), ("c", 11)]
    assert given(engine, [row("b", 300, 2), row("c", 301, 2), row("d", 299, 5)], mark(302)) == [("d", 5)]
    assert entries_left(engine) == {"given": 4}


def test_of_one_batch_rows_come_by_time(tmp_path: Path) -> None:
    engine = Engine([FirstRow(INPUT, ("k",), "ts")], tmp_path, partitions=1)
    rows = [row(f"k{number}", (number * 7) % 20, number) for number in range(20)]
    times = [rows[id]["ts"] for _, id in given(engine, rows, END_OF_TIME)]
    assert times == sorted(times)
    assert len(times) == 20


def test_what_has_been_given_is_forgotten_by_the_ttl_but_no_row_that_waits(tmp_path: Path) -> None:
    engine = Engine([FirstRow(INPUT, ("k",), "ts", ttl_ms=1000)], tmp_path)
    assert given(engine, [row("a", 1, 1)], mark(2)) == [("a", 1)]
    assert given(engine, [row("a", 5, 2)], mark(6), clock_ms=500) == []
    assert given(engine, [row("a", 10, 3)], mark(6), clock_ms=5000) == []
    assert given(engine, [], mark(20), clock_ms=9000) == [("a", 3)]


@pytest.mark.parametrize("seed", seeds(6))
def test_random_rows(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    engine = Engine([FirstRow(INPUT, ("k",), "ts")], tmp_path, rng.choice([1, 3]), rng)
    watermark: int | None = None
    waiting: dict[str, Row] = {}
    done: set[str] = set()
    for number in range(8):
        rows = [
            row(rng.choice("abcdefgh"), number * 5 + rng.randrange(-8, 20), rng.randrange(10**6))
            for _ in range(rng.choice([0, 1, 8]))
        ]
        for each in rows:
            late = watermark is not None and mark(0) + int((each["ts"] - START) / timedelta(microseconds=1)) < watermark
            if not late and each["k"] not in done:
                held = waiting.get(each["k"])
                waiting[each["k"]] = each if held is None or each["ts"] < held["ts"] else held
        watermark = mark(number * 5) if number < 7 else END_OF_TIME
        ready = {
            k: each for k, each in waiting.items() if number == 7 or each["ts"] <= START + timedelta(seconds=number * 5)
        }
        found = given(engine, rows, watermark)
        assert sorted(found) == sorted((k, each["id"]) for k, each in ready.items())
        done |= ready.keys()
        waiting = {k: each for k, each in waiting.items() if k not in ready}


TABLES = """
    CREATE TABLE s (k STRING, id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'kafka', {at}, 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE log (k STRING, id BIGINT) WITH ('connector' = 'kafka', {at}, 'format' = 'json');
    CREATE TABLE numbered (k STRING, id BIGINT, n BIGINT) WITH ('connector' = 'kafka', {at}, 'format' = 'json');
"""


def first(order: str, sink: str = "log", columns: str = "k, id") -> JobPlan:
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS n FROM s"
    return job_of(f"{TABLES} INSERT INTO {sink} SELECT {columns} FROM ({ranked}) WHERE n = 1;", Duck())


@pytest.mark.parametrize("order", ["ts", "ts ASC"])
def test_the_first_row_by_time_goes_into_an_append_table(order: str) -> None:
    plan = first(order)
    (rank,) = (node for node in plan.operators if isinstance(node, n.Rank))
    assert emits(rank) is ChangelogMode.INSERT_ONLY
    assert plan.group(rank) == (0,), "it follows the watermark of the table"
    (numbered,) = first(order, "numbered", "k, id, n").sinks
    assert [c.name for c in numbered.input.columns] == ["k", "id", "n"]


@pytest.mark.parametrize("order", ["ts DESC", "ts, id", "id"])
def test_others_may_change(order: str) -> None:
    with pytest.raises(RowkindError) as refused:
        first(order)
    assert refused.value.condition == "UPDATES_INTO_APPEND_SINK"
