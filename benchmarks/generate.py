"""Seeded rows for the workloads, written to Kafka as fast as the client can."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable

import numpy as np
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

CHUNK = 200_000
BROKER_JVM = ["-XX:TieredStopAtLevel=4", "-Xmx2g"]
"""A broker that is compiled in full: it is to be no bottleneck."""

Message = tuple[bytes | None, bytes | None]
"""Key and value."""


def create(bootstrap: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()


def pageviews(rng: np.random.Generator, rows: int, regions: int, users: int) -> list[Message]:
    """97-byte JSON rows of the pageviews example."""
    user = rng.integers(0, users, rows)
    page = rng.integers(0, 100_000, rows)
    region = rng.integers(0, regions, rows)
    seconds = rng.integers(0, 86_400, rows)
    return [
        (
            None,
            b'{"user_id":%d,"page_id":%d,"viewtime":"2026-01-01 %02d:%02d:%02d","user_region":"region-%d"}'
            % (u, p, s // 3600, s // 60 % 60, s % 60, r),
        )
        for u, p, r, s in zip(user.tolist(), page.tolist(), region.tolist(), seconds.tolist(), strict=True)
    ]


def upserts(rng: np.random.Generator, rows: int, keys: int, groups: int) -> list[Message]:
    """Inserts and updates of keyed rows, one in twenty a delete."""
    key = rng.integers(0, keys, rows)
    group = rng.integers(0, groups, rows)
    amount = rng.integers(0, 1_000, rows)
    gone = rng.random(rows) < 0.05
    return [
        (b'{"id":%d}' % k, None if d else b'{"id":%d,"grp":"group-%d","amount":%d}' % (k, g, a))
        for k, g, a, d in zip(key.tolist(), group.tolist(), amount.tolist(), gone.tolist(), strict=True)
    ]


KINDS = {"pageviews": pageviews, "upserts": upserts}


def producer(bootstrap: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 50,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 1_000_000,
            "partitioner": "murmur2_random",
        }
    )


def send(to: Producer, topic: str, messages: Iterable[Message]) -> None:
    for key, value in messages:
        while True:
            try:
                to.produce(topic, value, key)
                break
            except BufferError:
                to.poll(0.05)
    to.poll(0)


def fill(bootstrap: str, topic: str, kind: str, rows: int, partitions: int, seed: int, *shape: int) -> float:
    """Create a topic and fill it; the seconds it took."""
    create(bootstrap, topic, partitions)
    started, rng, to = time.monotonic(), np.random.default_rng(seed), producer(bootstrap)
    for at in range(0, rows, CHUNK):
        send(to, topic, KINDS[kind](rng, min(CHUNK, rows - at), *shape))
    to.flush()
    return time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("rows", type=int)
    parser.add_argument("shape", type=int, nargs="*")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    shape = (given.bootstrap, given.topic, given.kind, given.rows, given.partitions, given.seed, *given.shape)
    print(json.dumps({"topic": given.topic, "rows": given.rows, "seed": given.seed, "seconds": fill(*shape)}))


if __name__ == "__main__":
    main()
