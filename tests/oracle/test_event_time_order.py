"""What waits for time is given in the order of time for each key, so that the last row of a key is its latest."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rowkind.kinds import RowKind
from rowkind.plan.partitioning import partitioned_by
from tests.oracle.duck import Duck
from tests.oracle.engine import PlanEngine
from tests.oracle.planning import job_of
from tests.oracle.sources import Change

APPEND = "WITH ('connector' = 'kafka', {at}, 'format' = 'json', 'scan.startup.mode' = 'earliest-offset')"
TABLES = f"""
CREATE TABLE o (who STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {APPEND};
CREATE TABLE p (who STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {APPEND};
CREATE TABLE rates (who STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (who) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {{at}}, {{keyed}});
CREATE VIEW wo AS SELECT * FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '10' SECOND));
CREATE VIEW wp AS SELECT * FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '10' SECOND));
CREATE TABLE latest (who STRING, at TIMESTAMP(3), PRIMARY KEY (who) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {{at}}, {{keyed}});
CREATE TABLE log (who STRING, at TIMESTAMP(3)) WITH ('connector' = 'kafka', {{at}}, 'format' = 'json');
"""
NUMBERED = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end, who ORDER BY v) AS n"
QUERIES = {
    "window": "SELECT who, window_end FROM wo GROUP BY window_start, window_end, who",
    "window with its time": "SELECT who, window_end FROM wo GROUP BY window_start, window_end, window_time, who",
    "rank": f"SELECT who, window_end FROM (SELECT *, {NUMBERED} FROM wo) WHERE n <= 2",
    "window join": """SELECT wo.who, wo.window_end FROM wo LEFT JOIN wp ON wo.who = wp.who
        AND wo.window_start = wp.window_start AND wo.window_end = wp.window_end AND wp.v > 2""",
    "interval join": """SELECT o.who, p.ts FROM o JOIN p ON o.who = p.who
        AND o.ts BETWEEN p.ts - INTERVAL '3' SECOND AND p.ts""",
    "padded": """SELECT o.who, o.ts FROM o LEFT JOIN p ON o.who = p.who
        AND o.ts BETWEEN p.ts - INTERVAL '3' SECOND AND p.ts AND p.v > 100""",
    "session": """SELECT who, window_end
        FROM TABLE(SESSION(TABLE o PARTITION BY who, DESCRIPTOR(ts), INTERVAL '2' SECOND))
        GROUP BY window_start, window_end, who""",
}
START = datetime(2024, 1, 1)


def rows(rng: random.Random, shuffled: bool = True) -> list[Change]:
    found: list[dict[str, Any]] = [
        {"who": f"c{number % 20}", "v": rng.randrange(5), "ts": START + timedelta(seconds=number * 7 // 20)}
        for number in range(400)
    ]
    if shuffled:
        rng.shuffle(found)
    return [(RowKind.INSERT, row) for row in found]


def given(tmp_path: Path, sink: str, query: str, *batches: dict[str, list[Change]]) -> list[list[tuple[str, Any]]]:
    """What the sink gets in each batch, in order; the last batch ends all time."""
    rng = random.Random(5)
    plan = job_of(f"{TABLES} INSERT INTO {sink} {query};", Duck())
    spread = partitioned_by(plan.sinks[0].input)
    assert spread is not None
    assert set(spread) <= {"who"}, "rows of one key must be in one task, or nobody knows their order"
    engine = PlanEngine(plan, tmp_path, Duck(), rng)
    found = []
    for number, batch in enumerate(batches, 1):
        end = START + timedelta(days=1) if number == len(batches) else None
        engine.batch(
            {name: batch.get(name, []) for name in ("o", "p", "rates")}, dict.fromkeys(["o", "p", "rates"], end)
        )
        found.append([(row["who"], row["at"]) for row in engine._made[plan.sinks[0].input].to_pylist()])
    return found


@pytest.mark.parametrize("sink", ["latest", "log"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_rows_of_a_key_come_by_time(tmp_path: Path, query: str, sink: str) -> None:
    rng = random.Random(3)
    waiting, found = given(tmp_path, sink, query, {"o": rows(rng), "p": rows(rng)}, {})
    times: dict[str, list[datetime]] = {}
    for who, at in [*waiting, *found]:
        times.setdefault(who, []).append(at)
    assert len(times) == 20
    assert all(len(set(of_key)) > 3 for of_key in times.values())
    assert all(of_key == sorted(of_key) for of_key in times.values())


def test_a_temporal_join_keeps_the_order_of_its_left_side(tmp_path: Path) -> None:
    rng = random.Random(3)
    orders = rows(rng)
    rates = [(RowKind.INSERT, {"who": f"c{number}", "rate": 1, "ts": START}) for number in range(20)]
    query = "SELECT o.who, o.ts FROM o JOIN rates FOR SYSTEM_TIME AS OF o.ts ON o.who = rates.who"
    _, _, found = given(tmp_path, "log", query, {"o": orders[:150]}, {"o": orders[150:], "rates": rates}, {})
    for who in {who for who, _ in found}:
        assert [at for name, at in found if name == who] == [row["ts"] for _, row in orders if row["who"] == who]
