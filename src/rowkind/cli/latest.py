"""An upsert topic as any Kafka consumer sees it: the last value of every key, without rowkind's own reader."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self

from confluent_kafka import Consumer, KafkaException, TopicPartition

NOT_THERE_YET = ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION", "LEADER_NOT_AVAILABLE")


@dataclass
class LatestByKey:
    """Reads partition 0 of a topic of json keys and values as it grows; a tombstone removes its key."""

    bootstrap: str
    topic: str
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: int = 0

    def __enter__(self) -> Self:
        quiet = {"log_level": 0, "enable.auto.commit": False, "group.id": "rowkind-demo", "fetch.wait.max.ms": 50}
        self._consumer = Consumer({"bootstrap.servers": self.bootstrap, **quiet})
        self._consumer.assign([TopicPartition(self.topic, 0, 0)])
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def read(self, seconds: float = 0.1) -> None:
        """Take in what has arrived, waiting a moment for it."""
        for message in self._consumer.consume(1000, timeout=seconds):
            if error := message.error():
                if error.name() not in NOT_THERE_YET:
                    raise KafkaException(error)
            else:
                self._take(message.key(), message.value())

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        self.messages += 1
        name = next(iter(json.loads(key or b"{}").values()), "")
        if value is None:
            self.rows.pop(name, None)
        else:
            self.rows[name] = json.loads(value)
