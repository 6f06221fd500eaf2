"""Whether a small batch takes longer on a large state: 1,000 changed keys on 100,000 keys and on 10,000,000.

A running job counts and sums per key, into an upsert topic. Changes of 1,000 random keys are sent, and the time is
taken until their results are in the topic; then the next ones. Prints one JSON line a size, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable

import numpy as np
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

from benchmarks.generate import BROKER_JVM, CHUNK, Message, create, producer, send
from rowkind.broker import Broker
from rowkind.runtime.driver.job import Job
from rowkind.runtime.driver.session import Session
from rowkind.runtime.driver.spark import start_spark

PARTITIONS = 4
SCRIPT = """
CREATE TABLE events (id BIGINT, amount BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'events-{keys}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE totals (id BIGINT, n BIGINT, total BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'totals-{keys}', 'properties.bootstrap.servers' = '{servers}',
  'key.format' = 'json', 'value.format' = 'json');
INSERT INTO totals SELECT id, COUNT(*), SUM(amount) FROM events GROUP BY id;
"""


def events(ids: Iterable[int]) -> list[Message]:
    return [(None, b'{"id":%d,"amount":%d}' % (key, key % 1000)) for key in ids]


class Results:
    """The upsert topic, by how many messages it has."""

    def __init__(self, servers: str, topic: str) -> None:
        self._client = Consumer({"bootstrap.servers": servers, "group.id": "growth"})
        self._partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]

    def count(self) -> int:
        return sum(self._client.get_watermark_offsets(p, cached=False)[1] for p in self._partitions)

    def until(self, count: int) -> None:
        while self.count() < count:
            time.sleep(0.01)


def seconds_per_batch(servers: str, spark: SparkSession, keys: int, changed: int, batches: int) -> list[float]:
    for topic in ("events", "totals"):
        create(servers, f"{topic}-{keys}", PARTITIONS)
    to, results, rng = producer(servers), Results(servers, f"totals-{keys}"), np.random.default_rng(1)
    for first in range(0, keys, CHUNK):
        send(to, f"events-{keys}", events(range(first, min(first + CHUNK, keys))))
    to.flush()
    job = Session(spark, notify=lambda _: None).sql(SCRIPT.format(servers=servers, keys=keys))
    assert isinstance(job, Job)
    results.until(keys)
    taken = []
    for _ in range(batches):
        chosen, before, started = rng.choice(keys, changed, replace=False), results.count(), time.monotonic()
        send(to, f"events-{keys}", events(chosen.tolist()))
        to.flush()
        results.until(before + changed)
        taken.append(time.monotonic() - started)
    job.stop()
    job.wait()
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--changed", type=int, default=1_000)
    parser.add_argument("--batches", type=int, default=40)
    given = parser.parse_args()
    medians = []
    with Broker.start(jvm=BROKER_JVM) as broker:
        spark = start_spark()
        for keys in given.keys:
            taken = seconds_per_batch(broker.bootstrap, spark, keys, given.changed, given.batches)
            medians.append(statistics.median(taken))
            found = {"keys": keys, "changed": given.changed, "batches": given.batches}
            print(json.dumps({**found, "median": round(medians[-1], 3), "most": round(max(taken), 3)}), flush=True)
        spark.stop()
    print(json.dumps({"ratio": round(medians[-1] / medians[0], 2)}))


if __name__ == "__main__":
    main()
