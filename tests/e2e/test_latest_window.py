"""The latest window of each key is what an upsert table ends with, however many windows close at once."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SCRIPT = """
    CREATE TABLE orders (who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
    CREATE TABLE latest (who STRING, at STRING, n BIGINT, PRIMARY KEY (who) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{o}', {kafka}, {keyed});
    CREATE TABLE log (who STRING, at STRING) WITH ('connector' = 'kafka', 'topic' = '{l}', {kafka}, {json});
    CREATE VIEW windows AS SELECT who, CAST(window_end AS STRING) AS at, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, who;
    EXECUTE STATEMENT SET BEGIN
        INSERT INTO latest SELECT * FROM windows;
        INSERT INTO log SELECT who, at FROM windows;
    END;
"""


def test_the_latest_window_wins(lab: Lab, topic: TopicFactory) -> None:
    source, sink, log = topic(partitions=1), topic(), topic(partitions=1)
    customers = [f"c{number}" for number in range(20)]
    rows = [{"who": who, "ts": f"2024-01-01 10:{minute:02}:30"} for minute in range(10) for who in customers]
    lab.put(source, *rows)
    lab.finish(SCRIPT, s=source, o=sink, l=log)
    latest = {key["who"]: value["at"] for key, value in lab.pairs(sink)}
    assert latest == dict.fromkeys(customers, "2024-01-01 10:10:00.000")
    written = lab.values(log)
    for who in customers:
        times = [row["at"] for row in written if row["who"] == who]
        assert times == sorted(times)
        assert len(times) == 10
