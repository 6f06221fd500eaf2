"""An independent look at a topic, in a process of its own: nothing of rowkind is imported here.

`python -m tests.faults.consumer BOOTSTRAP TOPIC …` prints the committed messages of each topic as JSON pairs of key and
value, by partition and offset.
"""

from __future__ import annotations

import json
import subprocess
import sys
from uuid import uuid4

from confluent_kafka import Consumer, TopicPartition


def committed(bootstrap: str, topic: str) -> list[tuple[str | None, str | None]]:
    """Read to the end of every partition; a transaction that is open still ends a partition before it."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"observer-{uuid4().hex}",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 5,
        }
    )
    partitions = sorted(consumer.list_topics(topic, timeout=60).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
    found: dict[int, list[tuple[str | None, str | None]]] = {p: [] for p in partitions}
    ended: set[int] = set()
    while len(ended) < len(partitions):
        for message in consumer.consume(10_000, 0.02):
            error, partition = message.error(), message.partition()
            assert partition is not None
            if error is None:
                found[partition].append((_text(message.key()), _text(message.value())))
            elif error.name() == "_PARTITION_EOF":
                ended.add(partition)
            elif not error.retriable():
                raise SystemExit(f"{topic}: {error}")
    consumer.close()
    return [pair for p in partitions for pair in found[p]]


def _text(payload: bytes | None) -> str | None:
    return None if payload is None else payload.decode()


def observed(bootstrap: str, *topics: str) -> dict[str, list[tuple[str | None, str | None]]]:
    """The same of several topics, seen by another process."""
    command = [sys.executable, "-m", "tests.faults.consumer", bootstrap, *topics]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {topic: [(key, value) for key, value in pairs] for topic, pairs in json.loads(done.stdout).items()}


if __name__ == "__main__":
    print(json.dumps({topic: committed(sys.argv[1], topic) for topic in sys.argv[2:]}))
