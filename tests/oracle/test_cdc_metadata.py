"""Metadata of change events: an old row (-U) comes with the metadata of the event that replaces it, as in Flink."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from rowkind.kinds import RowKind
from rowkind.plan import nodes as n
from rowkind.runtime.driver.job_plan import JobPlan
from tests.oracle.duck import Duck
from tests.oracle.engine import PlanEngine
from tests.oracle.planning import job_of
from tests.oracle.sources import Change

SOURCE = """CREATE TABLE s (id INT, name STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp'{key})
    WITH ('connector' = 'kafka', {at}, 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');"""
SINK = "CREATE TABLE o ({columns}) WITH ('connector' = 'upsert-kafka', {at}, {keyed});"
KEY = ", PRIMARY KEY (id) NOT ENFORCED"
COPY = ("id INT, name STRING, ts TIMESTAMP_LTZ(3), PRIMARY KEY (id) NOT ENFORCED", "SELECT id, name, ts FROM s")
BY_NAME = ("name STRING, ts TIMESTAMP_LTZ(3), PRIMARY KEY (name) NOT ENFORCED", "SELECT name, ts FROM s")


def grouped(call: str) -> tuple[str, str]:
    return BY_NAME[0], f"SELECT name, {call} FROM s GROUP BY name"


def at(second: int) -> datetime:
    return datetime(2024, 1, 1, 0, 0, second)


def insert(id: int, name: str, second: int) -> list[Change]:
    return [(RowKind.INSERT, {"id": id, "name": name, "ts": at(second)})]


def delete(id: int, name: str, second: int) -> list[Change]:
    return [(RowKind.DELETE, {"id": id, "name": name, "ts": at(second)})]


def update(id: int, old: str, new: str, second: int) -> list[Change]:
    """As decoders give it: both rows have what the event says of itself."""
    rows = {"id": id, "name": old, "ts": at(second)}, {"id": id, "name": new, "ts": at(second)}
    return [(RowKind.UPDATE_BEFORE, rows[0]), (RowKind.UPDATE_AFTER, rows[1])]


def job(columns: str, query: str, key: str) -> JobPlan:
    script = SOURCE.replace("{key}", key) + SINK.replace("{columns}", columns) + f"INSERT INTO o {query};"
    return job_of(script, Duck())


def seen(tmp_path: Path, made: tuple[str, str], key: str, *batches: list[Change]) -> list[list[Any]]:
    """What the sink holds after each batch."""
    engine = PlanEngine(job(*made, key), tmp_path, Duck(), random.Random(1))
    found = []
    for batch in batches:
        engine.batch({"s": batch}, {})
        found.append(sorted((*row[:-1], int(row[-1][-2:])) for row in engine.rows("o")))
    return found


@pytest.mark.parametrize("key", ["", KEY], ids=["no key", "key"])
@pytest.mark.parametrize(
    "made",
    [COPY, BY_NAME, grouped("MAX(ts)"), grouped("LAST_VALUE(ts)")],
    ids=["copy", "by another key", "max", "last"],
)
def test_a_change_of_metadata_alone_arrives(tmp_path: Path, made: tuple[str, str], key: str) -> None:
    found = seen(tmp_path, made, key, insert(1, "a", 1), update(1, "a", "a", 2), update(1, "a", "a", 3))
    assert [row[-1] for rows in found for row in rows] == [1, 2, 3]


@pytest.mark.parametrize("key", ["", KEY], ids=["no key", "key"])
@pytest.mark.parametrize("made", [COPY, grouped("MAX(ts)")], ids=["copy", "max"])
def test_and_within_one_batch(tmp_path: Path, made: tuple[str, str], key: str) -> None:
    ((row,),) = seen(tmp_path, made, key, [*insert(1, "a", 1), *update(1, "a", "a", 2), *update(1, "a", "a", 3)])
    assert row[-1] == 3


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (BY_NAME, [("a", 1)]),
        (grouped("MAX(ts)"), [("a", 1)]),
        (grouped("MIN(ts)"), [("a", 1)]),
        ((BY_NAME[0], "SELECT l.name, MAX(l.ts) FROM s AS l JOIN s AS r ON l.id = r.id GROUP BY l.name"), [("a", 1)]),
    ],
    ids=["by another key", "max", "min", "join"],
)
def test_by_its_key_a_row_is_taken_back_with_the_metadata_it_had(
    tmp_path: Path, made: tuple[str, str], expected: list[Any]
) -> None:
    found = seen(
        tmp_path, made, KEY, [*insert(1, "a", 1), *insert(2, "a", 2)], update(2, "a", "a", 3), delete(2, "a", 4)
    )
    assert found[-1] == expected


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        (COPY, False),
        ((COPY[0], COPY[1] + " WHERE name <> 'x'"), False),
        (BY_NAME, True),
        (grouped("MAX(ts)"), True),
        (
            ("name STRING, n BIGINT, PRIMARY KEY (name) NOT ENFORCED", "SELECT name, COUNT(*) FROM s GROUP BY name"),
            False,
        ),
    ],
    ids=["a pipe by key", "a filter", "another key", "an aggregate", "an aggregate of nothing but columns"],
)
def test_rows_are_kept_only_where_metadata_must_be_taken_back(made: tuple[str, str], kept: bool) -> None:
    (sink,) = job(*made, KEY).sinks
    assert any(isinstance(node, n.Normalize) for node in n.walk(sink)) == kept
