"""An independent look at a keyed topic, in a process of its own: nothing of rowkind is imported here.

`python -m tests.e2e.observer BOOTSTRAP TOPIC PARTITIONS` prints one JSON object about the messages that are there.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any

from confluent_kafka import Consumer, TopicPartition


def murmur2(data: bytes) -> int:
    """Kafka's hash of a key, written anew from the algorithm's description."""
    length, mask = len(data), 0xFFFFFFFF
    h = (0x9747B28C ^ length) & mask
    for i in range(0, length - length % 4, 4):
        k = int.from_bytes(data[i : i + 4], "little")
        k = (k * 0x5BD1E995) & mask
        k ^= k >> 24
        k = (k * 0x5BD1E995) & mask
        h = ((h * 0x5BD1E995) & mask) ^ k
    tail = data[length - length % 4 :]
    for i in reversed(range(len(tail))):
        h ^= tail[i] << (8 * i)
    if tail:
        h = (h * 0x5BD1E995) & mask
    h ^= h >> 13
    h = (h * 0x5BD1E995) & mask
    return h ^ (h >> 15)


def partition_of(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def is_replayed(sequence: list[int], count: int) -> bool:
    """Whether a key's numbers are 0, 1, … count - 1, where at any time the last ones may be written again.

    Each number is the next new one, or steps back to one that was there and goes on from it.
    """
    newest = -1
    before = -1
    for number in sequence:
        if number > before + 1 or number < 0:
            return False
        newest, before = max(newest, number), number
    return newest == count - 1 and before == newest


def observe(bootstrap: str, topic: str, partitions: int) -> dict[str, Any]:
    """Count messages, check the partition of every key, and the order of the numbers of every key."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"observer-{topic}",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 4_000_000,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 5,
        }
    )
    consumer.assign([TopicPartition(topic, p, 0) for p in range(partitions)])
    sequences: dict[bytes, list[int]] = defaultdict(list)
    places: dict[bytes, int] = {}
    messages, open_ = 0, partitions
    wrong = 0
    while open_:
        for message in consumer.consume(10_000, 0.2):
            if (error := message.error()) is not None:
                assert error.name() == "_PARTITION_EOF", error
                open_ -= 1
                continue
            key, value, place = message.key(), message.value(), message.partition()
            assert key is not None
            assert value is not None
            assert place is not None
            messages += 1
            # the value is {"k":…,"n":<number>,"up":…}: the number alone is needed, of three million
            start = value.index(b'"n":') + 4
            sequences[key].append(int(value[start : value.index(b",", start)]))
            if places.setdefault(key, place) != place:
                wrong += 1
    consumer.close()
    misplaced = sum(partition_of(key, partitions) != place for key, place in places.items())
    longest = max(map(len, sequences.values()), default=0)
    counts = {max(s) + 1 for s in sequences.values()}
    return {
        "messages": messages,
        "keys": len(sequences),
        "misplaced": misplaced + wrong,
        "rows_per_key": sorted(counts),
        "longest": longest,
        "in_order": sum(s == list(range(len(s))) for s in sequences.values()),
        "replayed": sum(is_replayed(s, max(counts)) for s in sequences.values()),
        "sample": sorted(k.decode() for k in list(sequences)[:3]),
    }


if __name__ == "__main__":
    print(json.dumps(observe(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
