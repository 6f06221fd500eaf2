"""`sink.buffer-flush.*`: rows of one sink are held back across batches, in the checkpoint; the others do not wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SCRIPT = """
    CREATE TABLE prices (item STRING, price INT) WITH ('connector' = 'kafka', 'topic' = '{prices}', {kafka}, {json},
        'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE latest (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{latest}', {kafka}, {keyed}, 'sink.buffer-flush.max-rows' = '{rows}',
        'sink.buffer-flush.interval' = '{interval}', {guarantee});
    CREATE TABLE copies (item STRING, price INT) WITH ('connector' = 'kafka', 'topic' = '{copies}', {kafka}, {json});
    BEGIN STATEMENT SET;
    INSERT INTO latest SELECT item, price FROM prices;
    INSERT INTO copies SELECT * FROM prices;
    END;
"""
ONCE = "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{latest}'"


@pytest.mark.parametrize(
    "guarantee", ["'sink.delivery-guarantee' = 'at-least-once'", ONCE], ids=["at-least", "exactly"]
)
def test_held_rows_survive_a_restart_and_other_sinks_do_not_wait(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path, guarantee: str
) -> None:
    prices, latest, copies = topic(), topic(**{"cleanup.policy": "compact"}), topic()
    names = {"prices": prices, "latest": latest, "copies": copies, "guarantee": guarantee.replace("{latest}", latest)}
    lab = labs(str(tmp_path))
    job = lab.job(SCRIPT, rows="1000", interval="1 h", **names)
    for number in range(3):
        lab.put(prices, {"item": "pen", "price": number}, {"item": "ink", "price": number})
        lab.until_count(copies, 2 * number + 2, job)
    job.stop()
    assert job.wait(60)
    assert job.progress.batches >= 3
    assert lab.records(latest) == []
    # started again, with a shorter interval: the time has passed
    again = labs(str(tmp_path))
    job = again.job(SCRIPT, rows="1000", interval="1 ms", **names)
    again.until(lambda: len(again.records(latest)) == 2, job)
    wanted = [({"item": "ink"}, {"item": "ink", "price": 2}), ({"item": "pen"}, {"item": "pen", "price": 2})]
    assert sorted(again.pairs(latest), key=str) == wanted
    assert len(again.records(copies)) == 6
