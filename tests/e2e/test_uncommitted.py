"""Rows of an exactly-once sink before its transaction ends: for read_uncommitted readers they are there already."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rowkind.broker.process import wait_until
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


class Held:
    """A partitioner that waits before the row that names a file, until the file is there."""

    def open(self, task: int, tasks: int) -> None:
        pass

    def partition(self, row: Any, key: Any, value: Any, topic: str, partitions: Sequence[int]) -> int:
        if row["gate"] is not None:
            assert wait_until(Path(row["gate"]).exists, SECONDS)
        return partitions[0]


def ids(records: list[Record]) -> list[int]:
    return sorted(json.loads(record.value or b"")["id"] for record in records)


def test_uncommitted_rows_are_seen_early_and_committed_ones_all_at_once(
    lab: Lab, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, gate = topic(partitions=2), topic(), tmp_path / "gate"
    lab.client.produce(source, [Record(None, json.dumps({"id": i}).encode(), partition=0) for i in range(5)])
    lab.client.produce(source, [Record(None, json.dumps({"id": 5, "gate": str(gate)}).encode(), partition=1)])
    job = lab.job(
        """
        CREATE TABLE given (id INT, gate STRING)
            WITH ('connector' = 'kafka', 'topic' = '{source}', {kafka}, {json}, {once});
        CREATE TABLE paid (id INT, gate STRING) WITH ('connector' = 'kafka', 'topic' = '{target}', {kafka}, {json},
            'sink.partitioner' = 'tests.e2e.test_uncommitted:Held', 'sink.delivery-guarantee' = 'exactly-once',
            'sink.transactional-id-prefix' = '{target}');
        CREATE TABLE committed WITH ({once}) LIKE paid;
        CREATE TABLE uncommitted WITH ({once}, 'properties.isolation.level' = 'read_uncommitted') LIKE paid;
        INSERT INTO paid SELECT * FROM given;
        """,
        source=source,
        target=target,
    )
    try:
        # another client, and a table of rowkind's own
        lab.until(lambda: ids(lab.client.consume_all(target, committed=False)) == [0, 1, 2, 3, 4], job)
        assert ids(lab.client.consume_all(target, settled=False)) == []
        assert select(lab, "uncommitted") == [0, 1, 2, 3, 4]
        assert select(lab, "committed") == []
    finally:
        gate.touch()
    assert job.wait(SECONDS)
    assert ids(lab.client.consume_all(target)) == [0, 1, 2, 3, 4, 5]
    assert select(lab, "committed") == [0, 1, 2, 3, 4, 5]


def select(lab: Lab, table: str) -> list[int]:
    lab.shown.clear()
    assert lab.job(f"SELECT id FROM {table};").wait(SECONDS)
    return sorted(row[0] for _, row in lab.shown)
