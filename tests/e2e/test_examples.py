"""The jobs that users start with, as far as they need no state."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_filter_and_append(lab: Lab, topic: TopicFactory) -> None:
    orders, paid = topic(partitions=2), topic()
    lab.put(
        orders,
        {"id": 1, "amount": 12.5, "at": "2024-05-01 10:00:00.123"},
        {"id": 2, "amount": 0, "at": "2024-05-01 10:00:01"},
        {"id": 3, "amount": "7.10", "at": "2024-05-01 10:00:02.5"},
        {"id": 4, "amount": -1, "at": None},
    )
    job = lab.finish(
        """
        CREATE TABLE orders (id BIGINT, amount DECIMAL(10, 2), `at` TIMESTAMP(3)) WITH (
            'connector' = 'kafka', 'topic' = '{orders}', {kafka}, 'format' = 'json',
            'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
        CREATE TABLE paid (id BIGINT, amount DECIMAL(10, 2), `at` TIMESTAMP(3)) WITH (
            'connector' = 'kafka', 'topic' = '{paid}', {kafka}, 'format' = 'json');
        INSERT INTO paid SELECT id, amount, `at` FROM orders WHERE amount > 0;
        """,
        orders=orders,
        paid=paid,
    )
    assert sorted(lab.values(paid), key=lambda v: v["id"]) == [
        {"id": 1, "amount": 12.5, "at": "2024-05-01 10:00:00.123"},
        {"id": 3, "amount": 7.1, "at": "2024-05-01 10:00:02.5"},
    ]
    assert (job.status, job.progress.rows_in, job.progress.rows_out) == ("finished", 4, 2)
