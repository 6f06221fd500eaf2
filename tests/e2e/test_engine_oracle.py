"""Random changelogs through the whole engine: after every wave each result equals batch SQL over the current tables.

One statement set holds the whole corpus, so that two source topics feed every operator at once. Before the last wave
the job is stopped and resumed from its checkpoint.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rowkind.runtime.job import Job
from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))
WAVES = 3
RESUMED_AFTER = 1
CHANGES = 120


@dataclass(frozen=True)
class Case:
    """A query, the columns of its result with the primary key first, and its batch form where that differs."""

    name: str
    columns: str
    key: str
    query: str
    batch: str | None = None


CASES = (
    Case("counts", "k INT, n BIGINT", "k", "SELECT k, COUNT(*) FROM a GROUP BY k"),
    Case(
        "sums",
        "k INT, total INT, average INT, lowest INT, highest INT",
        "k",
        "SELECT k, SUM(v), AVG(v), MIN(v), MAX(v) FROM a GROUP BY k",
        "SELECT k, CAST(SUM(v) AS INT), CAST(TRUNC(AVG(v)) AS INT), MIN(v), MAX(v) FROM a GROUP BY k",
    ),
    Case(
        "distincts",
        "k INT, n BIGINT, texts BIGINT, numbers BIGINT",
        "k",
        "SELECT k, COUNT(*), COUNT(DISTINCT s), COUNT(DISTINCT v) FROM a GROUP BY k",
    ),
    Case(
        "filtered_counts",
        "k INT, n BIGINT, few BIGINT",
        "k",
        "SELECT k, COUNT(*) FILTER (WHERE v > 5), COUNT(DISTINCT s) FILTER (WHERE v < 5) FROM a GROUP BY k",
    ),
    Case("having", "k INT, n BIGINT", "k", "SELECT k, COUNT(*) FROM a GROUP BY k HAVING COUNT(*) > 3"),
    Case("whole", "one INT, n BIGINT, total INT", "one", "SELECT 1, COUNT(*), SUM(v) FROM a"),
    Case("distinct_rows", "k INT, s STRING", "k, s", "SELECT DISTINCT k, s FROM a WHERE s IS NOT NULL"),
    Case("filter", "id INT, k INT, v INT", "id", "SELECT id, k, v FROM a WHERE v > 4"),
    Case(
        "computed_key",
        "g INT, n BIGINT",
        "g",
        "SELECT v / 3, COUNT(*) FROM a WHERE v IS NOT NULL GROUP BY v / 3",
        "SELECT v // 3, COUNT(*) FROM a WHERE v IS NOT NULL GROUP BY v // 3",
    ),
    Case(
        "two_levels",
        "n BIGINT, groups BIGINT",
        "n",
        "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY n",
    ),
    Case("inner", "id INT, v INT, w INT", "id", "SELECT a.id, a.v, b.w FROM a JOIN b ON a.id = b.id"),
    Case("left_join", "id INT, v INT, w INT", "id", "SELECT a.id, a.v, b.w FROM a LEFT JOIN b ON a.id = b.id"),
    Case("right_join", "id INT, v INT, w INT", "id", "SELECT b.id, a.v, b.w FROM a RIGHT JOIN b ON a.id = b.id"),
    Case(
        "full_join",
        "id INT, v INT, w INT",
        "id",
        "SELECT COALESCE(a.id, b.id), a.v, b.w FROM a FULL JOIN b ON a.id = b.id",
    ),
    Case("many_to_many", "x INT, y INT, k INT", "x, y", "SELECT a.id, b.id, a.k FROM a JOIN b ON a.k = b.k"),
    Case("join_with_rest", "x INT, y INT", "x, y", "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k AND a.v < b.w"),
    Case("self_join", "x INT, y INT", "x, y", "SELECT l.id, r.id FROM a l JOIN a r ON l.v = r.id"),
    Case(
        "join_then_group",
        "k INT, total INT",
        "k",
        "SELECT a.k, SUM(b.w) FROM a JOIN b ON a.id = b.id GROUP BY a.k",
        "SELECT a.k, CAST(SUM(b.w) AS INT) FROM a JOIN b ON a.id = b.id GROUP BY a.k",
    ),
    Case("semi", "id INT, v INT", "id", "SELECT id, v FROM a WHERE k IN (SELECT k FROM b)"),
    Case("anti", "id INT, v INT", "id", "SELECT id, v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)"),
    Case(
        "top_two",
        "id INT, k INT, v INT",
        "id",
        "SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM a) "
        "WHERE rn <= 2",
        "SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, id) AS rn "
        "FROM a) WHERE rn <= 2",
    ),
    Case(
        "ranked",
        "k INT, rn BIGINT, id INT",
        "k, rn",
        "SELECT k, rn, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, id) AS rn FROM a) "
        "WHERE rn <= 3 AND k IS NOT NULL",
        "SELECT k, rn, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v NULLS FIRST, id) AS rn FROM a) "
        "WHERE rn <= 3 AND k IS NOT NULL",
    ),
    Case(
        "union_all",
        "k INT, n BIGINT",
        "k",
        "SELECT k, COUNT(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM b) GROUP BY k",
    ),
    Case(
        "union_distinct", "k INT, s STRING", "k, s", "SELECT k, s FROM a WHERE s IS NOT NULL UNION SELECT k, 'b' FROM b"
    ),
)


def test_every_result_equals_batch_sql_after_every_wave(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path
) -> None:
    print(f"ROWKIND_SEED={SEED}")
    rng = random.Random(SEED)
    sources = {"a": topic(partitions=3), "b": topic(partitions=2)}
    sinks = {case.name: topic(partitions=2) for case in CASES}
    tables: dict[str, dict[int, dict[str, Any]]] = {"a": {}, "b": {}}
    lab = labs(str(tmp_path / "checkpoint"))
    job, sent = lab.job(_script(sources, sinks)), 0
    for wave in range(WAVES):
        sent += _change(lab, rng, sources, tables)
        _caught_up(lab, job, sent)
        for case in CASES:
            found, wanted = _materialised(lab, sinks[case.name]), _expected(case, tables)
            assert found == wanted, f"{case.name} after wave {wave}"
        if wave == RESUMED_AFTER:
            job.stop()
            job.wait()
            lab.close()
            lab = labs(str(tmp_path / "checkpoint"))
            job, sent = lab.job(_script(sources, sinks)), 0


def _script(sources: dict[str, str], sinks: dict[str, str]) -> str:
    upsert = "'connector' = 'upsert-kafka', {kafka}, {keyed}"
    text = [
        f"CREATE TABLE a (id INT, k INT, v INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) "
        f"WITH ({upsert}, 'topic' = '{sources['a']}');",
        f"CREATE TABLE b (id INT, k INT, w INT, PRIMARY KEY (id) NOT ENFORCED) "
        f"WITH ({upsert}, 'topic' = '{sources['b']}');",
    ]
    for case in CASES:
        text.append(
            f"CREATE TABLE out_{case.name} ({case.columns}, PRIMARY KEY ({case.key}) NOT ENFORCED) "
            f"WITH ({upsert}, 'topic' = '{sinks[case.name]}');"
        )
    inserts = "".join(f"INSERT INTO out_{case.name} {case.query};\n" for case in CASES)
    return "\n".join(text) + f"\nSET 'pipeline.name' = 'oracle';\nEXECUTE STATEMENT SET BEGIN\n{inserts}END;"


def _change(lab: Lab, rng: random.Random, sources: dict[str, str], tables: dict[str, dict[int, Any]]) -> int:
    """Inserts, updates, deletes, deletes of what is not there, and updates that change nothing."""
    for name, topic in sources.items():
        pairs = []
        for _ in range(CHANGES):
            key, table = rng.randrange(40), tables[name]
            if rng.random() < 0.25:
                table.pop(key, None)
                pairs.append(({"id": key}, None))
                continue
            row = dict(table[key]) if key in table and rng.random() < 0.2 else _row(rng, name, key)
            table[key] = row
            pairs.append(({"id": key}, row))
        lab.put_pairs(topic, pairs)
    return CHANGES * len(sources)


def _row(rng: random.Random, name: str, key: int) -> dict[str, Any]:
    group = rng.randrange(5)
    if name == "b":
        return {"id": key, "k": group, "w": rng.randrange(12)}
    value = None if rng.random() < 0.1 else rng.randrange(12)
    return {"id": key, "k": group, "v": value, "s": None if rng.random() < 0.1 else rng.choice("xyz")}


def _caught_up(lab: Lab, job: Job, sent: int) -> None:
    """All messages are read, and the batch that read the last of them is done."""
    lab.until(lambda: job.progress.rows_in >= sent, job)


def _materialised(lab: Lab, topic: str) -> list[str]:
    rows: dict[str, Any] = {}
    for key, value in lab.pairs(topic):
        if value is None:
            rows.pop(json.dumps(key), None)
        else:
            rows[json.dumps(key)] = value
    return sorted(json.dumps(list(row.values())) for row in rows.values())


def _expected(case: Case, tables: dict[str, dict[int, dict[str, Any]]]) -> list[str]:
    import duckdb

    database = duckdb.connect()
    database.execute("CREATE TABLE a (id INT, k INT, v INT, s TEXT); CREATE TABLE b (id INT, k INT, w INT)")
    for name, columns in (("a", ("id", "k", "v", "s")), ("b", ("id", "k", "w"))):
        rows = [[row[c] for c in columns] for row in tables[name].values()]
        if rows:
            database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
    found = database.execute(case.batch or case.query).fetchall()
    return sorted(json.dumps(list(row)) for row in found)
