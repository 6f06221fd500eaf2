"""A stateful exactly-once job for many small batches, under churn of keys and kills of its workers: nothing may grow.

`python -m tests.faults.soak --batches 300` prints one JSON object, writes it and a drawing of it into `docs`, and fails
when something grew with the batches, or when the results are not those of a model.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkind.broker import Broker
from rowkind.broker.process import wait_until
from rowkind.runtime.driver.job import Job
from rowkind.runtime.driver.session import Session
from rowkind.runtime.driver.spark import start_spark
from tests.faults.drawing import Panel, drawing
from tests.faults.processes import children, kill, memory, open_files, workers
from tests.kafka_client import KafkaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIVE, FRESH, GROUPS = 2000, 200, 40
"""Keys that live at a time, keys that come and go with a batch, and groups that they are counted in."""
KILL_EVERY = 5
"""Batches from the kill of one worker to that of the next: they are renewed all the time."""
ENTRIES = 100
"""A checkpoint keeps what the last batches read and left: these files are not counted."""
SECONDS = 300
MB = 1024 * 1024

SCRIPT = """
CREATE TABLE orders (id INT, kind INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
    'topic' = 'orders', 'properties.bootstrap.servers' = '{broker}', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE totals (kind INT, orders BIGINT, amount INT, PRIMARY KEY (kind) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = '{broker}',
    'key.format' = 'json', 'value.format' = 'json',
    'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'soak');
INSERT INTO totals SELECT kind, COUNT(*), SUM(amount) FROM orders GROUP BY kind;
"""

ROOM = {
    "driver, Python (MB)": 30,
    "driver, Java heap after gc (MB)": 0,
    "largest worker (MB)": 40,
    "open files": 30,
    "files in the checkpoint": 40,
    "seconds a batch": 1.0,
}
"""What is watched, and how much it may grow over the whole run beside a tenth of itself: chance is not a slope."""


@dataclass
class Churn:
    """Orders that come and go: `rows` is what the source holds now."""

    client: KafkaClient
    rows: dict[int, dict[str, int]] = field(default_factory=dict)
    sent: int = 0

    def wave(self) -> None:
        """New keys, changes of some that live, deletes of the oldest."""
        first = max(self.rows, default=-1) + 1
        put = {i: {"id": i, "kind": i % GROUPS, "amount": i % 97} for i in range(first, first + FRESH)}
        changed = [i for i in self.rows if i % 10 == first // FRESH % 10]
        put |= {i: {**self.rows[i], "amount": self.rows[i]["amount"] + 1} for i in changed}
        gone = sorted(self.rows)[: max(0, len(self.rows) + FRESH - LIVE)]
        self.rows |= put
        for i in gone:
            del self.rows[i]
        messages: list[tuple[str, str | None]] = [
            (_key(i), json.dumps(row)) for i, row in put.items() if i in self.rows
        ]
        messages += [(_key(i), None) for i in gone]
        self.client.produce("orders", messages)
        self.sent += len(messages)

    @property
    def totals(self) -> dict[int, tuple[int, int]]:
        counts, amounts = Counter(r["kind"] for r in self.rows.values()), Counter[int]()
        for row in self.rows.values():
            amounts[row["kind"]] += row["amount"]
        return {kind: (count, amounts[kind]) for kind, count in counts.items()}


def _key(id: int) -> str:
    return json.dumps({"id": id})


def my_workers() -> list[int]:
    mine = set(children(os.getpid()))
    return [pid for pid in workers(os.getsid(0)) if pid in mine]


def one_of(job: Job, chance: random.Random) -> list[int]:
    """A worker, as soon as there is one."""
    found: list[int] = []

    def there() -> bool:
        if job.error is not None:
            raise job.error
        found[:] = my_workers()
        return bool(found)

    assert wait_until(there, SECONDS), "no worker has come"
    return [chance.choice(found)]


def measured(spark: SparkSession, checkpoint: Path, entries: int, seconds: float) -> dict[str, float]:
    runtime = spark._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    spark._jvm.java.lang.System.gc()  # type: ignore[union-attr]
    forked, mine = my_workers(), os.getpid()
    values = (
        memory(mine),
        (runtime.totalMemory() - runtime.freeMemory()) / MB,
        max(map(memory, forked), default=0.0),
        open_files([mine, *children(mine)]),
        sum(len(names) for _, _, names in os.walk(checkpoint)) - entries,
        seconds,
    )
    return dict(zip(ROOM, map(float, values), strict=True))


def slope(values: list[float]) -> float:
    """The median of the slopes between any two points: single outliers do not move it."""
    pairs = combinations(enumerate(values), 2)
    return statistics.median((b - a) / (j - i) for (i, a), (j, b) in pairs)


def grown(name: str, values: list[float]) -> float:
    """By how much a series has grown over its length, behind what it takes to warm up; 0 when it is within its room."""
    steady = values[len(values) // 4 :]
    growth = slope(steady) * len(steady)
    return growth if growth > ROOM[name] + statistics.median(steady) / 10 else 0.0


def soaked(batches: int, broker: Broker, folder: Path) -> tuple[list[dict[str, float]], dict[str, Any]]:
    client = KafkaClient(broker.bootstrap)
    for topic in ("orders", "totals"):
        client.create_topic(topic, partitions=2, **{"cleanup.policy": "compact"})
    checkpoint, spark = folder / "checkpoint", start_spark("local[2,4]", {"spark.driver.memory": "1g"})
    session = Session(spark, str(checkpoint), notify=lambda note: print(note, file=sys.stderr))
    churn, points, kills, chance = Churn(client), [], 0, random.Random(1)
    session.sql(SCRIPT.format(broker=broker.bootstrap))
    job = session.jobs[-1]
    for number in range(batches):
        began = time.monotonic()
        churn.wave()
        if number % KILL_EVERY == KILL_EVERY - 1:
            kill(one_of(job, chance))
            kills += 1
        _read(job, churn.sent)
        if number % max(1, batches // 100) == 0:
            entries = 2 * min(job.progress.batches, ENTRIES)
            points.append(measured(spark, checkpoint, entries, time.monotonic() - began))
    job.stop()
    job.wait()
    totals = {r.key: r.value for r in client.consume_all("totals")}
    found = {json.loads(k or b"")["kind"]: _total(v) for k, v in totals.items() if v is not None}
    spark.stop()
    result = {"batches": job.progress.batches, "rows": churn.sent, "workers killed": kills}
    return points, {**result, "wrong groups": sorted(set(found.items()) ^ set(churn.totals.items()))}


def _read(job: Job, rows: int) -> None:
    def done() -> bool:
        if job.error is not None:
            raise job.error
        return job.progress.rows_in >= rows

    assert wait_until(done, SECONDS), f"{job.progress.rows_in} of {rows} rows were read"


def _total(value: bytes) -> tuple[int, int]:
    row = json.loads(value)
    return row["orders"], row["amount"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Broker.start(config={"auto.create.topics.enable": "false"}) as broker:
        points, result = soaked(given.batches, broker, Path(folder))
    series = {name: [point[name] for point in points] for name in ROOM}
    growth = {name: round(g, 2) for name, values in series.items() if (g := grown(name, values))}
    medians = {name: round(statistics.median(values[len(values) // 4 :]), 2) for name, values in series.items()}
    found = {**result, "minutes": round((time.monotonic() - started) / 60, 1), "medians": medians, "grown": growth}
    print(json.dumps(found), flush=True)
    (given.out / "soak.json").write_text(json.dumps({**found, "series": series}) + "\n")
    panels = [Panel(name, values) for name, values in series.items()]
    (given.out / "soak.svg").write_text(drawing(panels, f"{result['batches']} batches"))
    raise SystemExit(1 if growth or result["wrong groups"] else 0)


if __name__ == "__main__":
    main()
