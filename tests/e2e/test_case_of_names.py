"""Columns whose names differ in case only are different columns, wherever they go; Spark's own default is otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

ROWS = 200
"""Enough for formats to read whole batches at once."""
TABLES = """
    CREATE TABLE s (id INT, ID INT, `Id` STRING, r ROW<x INT, X INT>, ts TIMESTAMP(3), t AS id + ID, T AS id - ID,
            `offset` BIGINT METADATA VIRTUAL, `Offset` INT METADATA FROM 'partition' VIRTUAL,
            WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
        WITH ('connector' = 'kafka', 'topic' = '{source}', {kafka}, {once}, {json});
    CREATE TABLE u (id INT, ID INT, v INT, V INT, PRIMARY KEY (ID) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{upsert}', {kafka}, {keyed}, 'scan.bounded.mode' = 'latest-offset');
    CREATE VIEW w AS SELECT id AS a, ID AS A, `Id` AS aA FROM s;
"""


@pytest.fixture
def topics(lab: Lab, topic: TopicFactory) -> dict[str, str]:
    source, upsert = topic(), topic()
    when = "2026-01-01 00:00:00"
    lab.put(
        source,
        *({"id": i % 3, "ID": i, "Id": f"t{i}", "r": {"x": i, "X": -i}, "ts": when} for i in range(ROWS)),
    )
    lab.put_pairs(upsert, [({"ID": i % 2}, {"id": i, "ID": i % 2, "v": i, "V": -i}) for i in range(6)])
    return {"source": source, "upsert": upsert}


QUERIES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("SELECT ID, id, `Id`, r.X, r.x, t, T, `offset`, `Offset` FROM s WHERE ID = 199",
     [(199, 1, "t199", -199, 199, 200, -198, 199, 0)]),
    ("SELECT a, COUNT(*) AS A, MAX(A) AS aA, MIN(aA) AS aa FROM w GROUP BY a",
     [(0, 67, 198, "t0"), (1, 67, 199, "t1"), (2, 66, 197, "t101")]),
    ("SELECT id, ID, v + V, v AS x, V AS X FROM u WHERE v > 4", [(5, 1, 0, 5, -5)]),
    ("SELECT l.id, l.ID, s.ID, s.`Id` FROM u AS l JOIN s ON l.ID = s.id AND l.id > s.ID",
     [(4, 0, 0, "t0"), (4, 0, 3, "t3"), (5, 1, 1, "t1"), (5, 1, 4, "t4")]),
    ("SELECT id, ID FROM s WHERE ID < 3 INTERSECT SELECT id, ID FROM s WHERE ID > 1", [(2, 2)]),
    ("SELECT id, ID FROM (SELECT id, ID, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ID DESC) AS Rn FROM s) "
     "WHERE Rn = 1", [(0, 198), (1, 199), (2, 197)]),
    ("SELECT id, COUNT(ID) AS ID FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
     "GROUP BY id, window_start, window_end", [(0, 67), (1, 67), (2, 66)]),
]  # fmt: skip


def test_names_that_differ_in_case_in_queries(lab: Lab, topics: dict[str, str]) -> None:
    lab.start(TABLES, **topics)
    for query, rows in QUERIES:
        lab.shown.clear()
        lab.finish(f"{query};")
        changed = {"+I", "+U"}
        assert sorted(values for kind, values in lab.shown if kind in changed) == rows, query


def test_names_that_differ_in_case_in_sinks(lab: Lab, topics: dict[str, str], topic: TopicFactory) -> None:
    names = {name: topic() for name in ("kept", "spread", "avro")}
    lab.finish(
        TABLES
        + """
        CREATE TABLE kept (id INT, ID INT, PRIMARY KEY (ID) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
            'topic' = '{kept}', {kafka}, {keyed}, 'value.fields-include' = 'EXCEPT_KEY');
        CREATE TABLE spread (id INT, ID INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
            'topic' = '{spread}', {kafka}, {keyed}, 'sink.parallelism' = '3');
        CREATE TABLE rows_ (id INT, ID INT, `Id` STRING) WITH ('connector' = 'kafka', 'topic' = '{avro}', {kafka},
            {once}, 'format' = 'avro', 'sink.parallelism' = '2');
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO kept SELECT CAST(SUM(ID) AS INT), id FROM s GROUP BY id;
            INSERT INTO kept (ID, id) VALUES (7, 8);
            INSERT INTO spread (ID, id) SELECT id, ID FROM u;
            INSERT INTO rows_ SELECT id, ID, `Id` FROM s WHERE ID < 2;
        END;""",
        **topics, **names,
    )  # fmt: skip
    kept = [(0, 6633), (1, 6700), (2, 6567), (7, 8)]
    assert sorted(lab.pairs(names["kept"]), key=json.dumps) == [({"ID": k}, {"id": v}) for k, v in kept]
    final = {key["id"]: value for key, value in lab.pairs(names["spread"])}
    assert final[0] == {"id": 0, "ID": 4}
    assert final[1] == {"id": 1, "ID": 5}
    lab.finish("SELECT `Id`, ID, id FROM rows_;")
    assert sorted(values for _, values in lab.shown) == [("t0", 0, 0), ("t1", 1, 1)]
