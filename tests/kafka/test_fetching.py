"""Messages taken in bulk are the same as those that the client hands out one by one."""

from __future__ import annotations

import os
import random

import pyarrow as pa
import pytest

from rowkind.connectors.kafka.bulk_fetching import BulkFetcher
from rowkind.connectors.kafka.fetching import Event, Fetched, Fetcher, MessageFetcher, ReadFields
from rowkind.connectors.kafka.ranges import Partition
from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = pytest.mark.kafka

SEED = int(os.environ.get("ROWKIND_SEED", "0")) or random.randrange(10**6)
FIELDS = ReadFields(True, True, ("offset", "timestamp", "topic", "partition", "headers", "header-list"))


def payload(rng: random.Random) -> bytes | None:
    return rng.choice([None, b"", rng.randbytes(rng.randrange(1, 40)), rng.randbytes(rng.randrange(1, 4000))])


def headers(rng: random.Random) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((rng.choice(["a", "a", "ü", ""]), payload(rng)) for _ in range(rng.choice([0, 0, 1, 3])))


def all_of(fetcher: Fetcher, count: int, rng: random.Random) -> pa.Table:
    taken: list[Fetched] = []
    while sum(map(len, taken)) < count:
        taken.append(fetcher.fetch(rng.randrange(1, 700), 0.2))
    assert [o for one in taken for o in one.offsets.tolist()] == list(range(count))
    return pa.Table.from_batches([one.rows for one in taken])


@pytest.mark.parametrize("compression", ["none", "lz4"])
def test_bulk_equals_message_by_message(topic: TopicFactory, kafka_client: KafkaClient, compression: str) -> None:
    print(f"ROWKIND_SEED={SEED}")
    rng, name, count = random.Random(SEED), topic(), 3000
    records = [Record(payload(rng), payload(rng), headers=headers(rng)) for _ in range(count)]
    kafka_client.produce(name, records, **{"compression.type": compression})
    found = []
    for kind in (BulkFetcher, MessageFetcher):
        fetcher = kind({"bootstrap.servers": kafka_client.bootstrap}, Partition(name, 0), 0, FIELDS)
        found.append(all_of(fetcher, count, rng))
        fetcher.close()
    assert found[0].schema == found[1].schema
    assert found[0].equals(found[1])


def test_the_end_of_a_partition_is_told(topic: TopicFactory, kafka_client: KafkaClient) -> None:
    name = topic()
    kafka_client.produce(name, [(None, b"x")] * 3)
    fetcher = BulkFetcher({"bootstrap.servers": kafka_client.bootstrap}, Partition(name, 0), 1, FIELDS)
    rows = 0
    events: list[Event] = []
    while not events:
        fetched = fetcher.fetch(10, 0.2)
        rows += len(fetched)
        events += fetched.events
    assert rows == 2
    assert [(e.error.name(), e.offset) for e in events] == [("_PARTITION_EOF", 3)]
    fetcher.close()
