"""What an end-to-end test works with: a session on real Kafka and Spark, what it said, and what it showed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkind.broker.process import wait_until
from rowkind.runtime.driver.job import Job
from rowkind.runtime.driver.session import Answer, Selection, Session
from tests.kafka_client import KafkaClient, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 180
"""A deadline for what must happen; a loaded machine is slow."""

ONCE = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"
SHORT = {"once": ONCE, "json": "'format' = 'json'", "keyed": "'key.format' = 'json', 'value.format' = 'json'"}
"""Options that most tables of the tests share: `{once}` reads what is there and ends."""

Shown = tuple[str, tuple[Any, ...]]


@dataclass
class Lab:
    """One session of a test. In its scripts `{kafka}` stands for the option that reaches the broker."""

    spark: SparkSession
    client: KafkaClient
    checkpoint: str | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the session."""
    notices: list[str] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = Session(
            self.spark,
            self.checkpoint,
            notify=self.notices.append,
            show=lambda _, rows: self.shown.extend(rows),
            **self.more,
        )

    def start(self, script: str, **names: str) -> Answer:
        """Run a script; the answer is that of its last statement."""
        return self.session.sql(self.filled(script, **names))

    def filled(self, script: str, **names: str) -> str:
        names["kafka"] = f"'properties.bootstrap.servers' = '{self.client.bootstrap}'"
        for name, value in (names | SHORT).items():
            script = script.replace(f"{{{name}}}", value)
        return script

    def job(self, script: str, **names: str) -> Job:
        """Run a script whose last statement starts a job."""
        answer = self.start(script, **names)
        job = answer.job if isinstance(answer, Selection) else answer
        assert isinstance(job, Job)
        return job

    def finish(self, script: str, **names: str) -> Job:
        """Run a script whose jobs are bounded, and wait for their ends."""
        self.start(script, **names)
        for job in self.session.jobs:
            assert job.wait(SECONDS), f"{job.name} did not end"
        return self.session.jobs[-1]

    def close(self) -> None:
        self.session.stop()

    def put(self, topic: str, *values: object, key: Any = None) -> None:
        """Write values as json messages without a key, or all with one key."""
        self.client.produce(topic, [(key, json.dumps(value)) for value in values])

    def put_pairs(self, topic: str, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Write keys and values as json; None stays null."""
        self.client.produce(topic, [(_text(key), _text(value)) for key, value in pairs])

    def values(self, topic: str) -> list[Any]:
        """The values of a topic, parsed, by partition and offset."""
        return [_parsed(record.value) for record in self.client.consume_all(topic)]

    def pairs(self, topic: str) -> list[tuple[Any, Any]]:
        """Keys and values of a topic, parsed, by partition and offset."""
        return [(_parsed(record.key), _parsed(record.value)) for record in self.client.consume_all(topic)]

    def records(self, topic: str) -> list[Record]:
        return self.client.consume_all(topic)

    def until(self, condition: Any, job: Job | None = None) -> None:
        """Wait for a condition; a job that fails meanwhile fails the test with its error."""

        def holds() -> bool:
            if job is not None and job.error is not None:
                raise job.error
            return bool(condition())

        assert wait_until(holds, SECONDS), "it did not happen"

    def until_count(self, topic: str, count: int, job: Job | None = None) -> None:
        """Wait until a topic holds so many messages."""
        self.until(lambda: sum(self.client.end_offsets(topic).values()) >= count, job)


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, separators=(",", ":"))


def _parsed(payload: bytes | None) -> Any:
    return None if payload is None else json.loads(payload)
