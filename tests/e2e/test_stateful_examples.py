"""The jobs that users start with, of those that keep state: compacted changelogs, entities, latest, top and windows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory
from tests.servers.ktable import ktable

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COMPACTED = {"cleanup.policy": "compact"}

ORDERS = """
    CREATE TABLE orders (id INT, customer STRING, amount DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{orders}', {kafka}, {keyed});
    CREATE TABLE customers (customer STRING, orders BIGINT, total DECIMAL(38, 2), PRIMARY KEY (customer) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{customers}', {kafka}, {keyed},
        'properties.compression.type' = 'lz4');
    INSERT INTO customers SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer;
"""


def order(number: int, customer: str | None, amount: float = 0) -> tuple[Any, Any]:
    value = {"id": number, "customer": customer, "amount": amount}
    return {"id": number}, None if customer is None else value


def test_a_compacted_changelog_is_the_same_table_for_kafka_streams(
    lab: Lab, topic: TopicFactory, tmp_path: Path
) -> None:
    orders, customers = topic(partitions=2, **COMPACTED), topic(partitions=2, **COMPACTED)
    lab.put_pairs(orders, [order(1, "ada", 10), order(2, "ada", 5.5), order(3, "bo", 7), order(4, "cy", 1)])
    job = lab.job(ORDERS, orders=orders, customers=customers)
    lab.until_count(customers, 3, job)
    lab.put_pairs(orders, [order(2, "bo", 5.5), order(4, None)])
    wanted = {"ada": (1, 10.0), "bo": (2, 12.5)}
    with ktable(customers, lab.client.bootstrap, tmp_path) as table:
        lab.until(lambda: dict(totals(table.rows())) == wanted, job)
    assert ({"customer": "cy"}, None) in lab.pairs(customers)  # a delete is a tombstone
    job.stop()
    back = "CREATE TABLE again WITH ('scan.bounded.mode' = 'latest-offset') LIKE customers; SELECT * FROM again;"
    assert lab.job(back).wait(SECONDS)
    assert {row[0]: (row[1], float(row[2])) for _, row in lab.shown} == wanted


def totals(rows: dict[str, str]) -> Iterator[tuple[str, tuple[int, float]]]:
    for key, value in rows.items():
        row = json.loads(value)
        yield json.loads(key)["customer"], (row["orders"], row["total"])


def test_several_streams_become_one_entity(lab: Lab, topic: TopicFactory) -> None:
    profiles, orders, users = topic(**COMPACTED), topic(partitions=2), topic(partitions=2, **COMPACTED)
    lab.put_pairs(profiles, [({"id": 1}, {"id": 1, "name": "Ada"}), ({"id": 2}, {"id": 2, "name": "Bo"})])
    lab.put(orders, {"user_id": 1, "amount": 3}, {"user_id": 1, "amount": 4}, {"user_id": 9, "amount": 1})
    job = lab.job(
        """
        CREATE TABLE profiles (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{profiles}', {kafka}, {keyed});
        CREATE TABLE orders (user_id INT, amount INT)
            WITH ('connector' = 'kafka', 'topic' = '{orders}', {kafka}, {json}, {earliest});
        CREATE TABLE users (id INT, name STRING, spent INT, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{users}', {kafka}, {keyed});
        INSERT INTO users SELECT p.id, p.name, t.spent FROM profiles p
            LEFT JOIN (SELECT user_id, SUM(amount) AS spent FROM orders GROUP BY user_id) t ON p.id = t.user_id;
        """,
        earliest="'scan.startup.mode' = 'earliest-offset'",
        profiles=profiles,
        orders=orders,
        users=users,
    )

    def table() -> dict[int, tuple[str, int | None] | None]:
        return {k["id"]: v and (v["name"], v["spent"]) for k, v in lab.pairs(users)}

    lab.until(lambda: table() == {1: ("Ada", 7), 2: ("Bo", None)}, job)
    lab.put(orders, {"user_id": 2, "amount": 5})
    lab.put_pairs(profiles, [({"id": 1}, {"id": 1, "name": "Ada L."}), ({"id": 9}, {"id": 9, "name": "Di"})])
    lab.until(lambda: table() == {1: ("Ada L.", 7), 2: ("Bo", 5), 9: ("Di", 1)}, job)
    lab.put_pairs(profiles, [({"id": 2}, None)])
    lab.until(lambda: table() == {1: ("Ada L.", 7), 2: None, 9: ("Di", 1)}, job)


def test_latest_per_key_top_three_and_minutes_of_one_log(lab: Lab, topic: TopicFactory) -> None:
    names = {name: topic() for name in ("log", "latest", "top", "minutes")}
    rows = [(i % 3, 10 * i % 7, f"2026-01-01 00:0{i // 10}:{i % 10 * 6:02}") for i in range(30)]
    lab.put(names["log"], *({"device": d, "reading": r, "at": at} for d, r, at in rows))
    lab.finish(
        """
        CREATE TABLE log (device INT, reading INT, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at`)
            WITH ('connector' = 'kafka', 'topic' = '{log}', {kafka}, {json}, {once});
        CREATE TABLE latest (device INT, reading INT, PRIMARY KEY (device) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{latest}', {kafka}, {keyed});
        CREATE TABLE top (device INT, rn BIGINT, reading INT, PRIMARY KEY (device, rn) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{top}', {kafka}, {keyed});
        CREATE TABLE minutes (start TIMESTAMP(3), device INT, n BIGINT, PRIMARY KEY (start, device) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{minutes}', {kafka}, {keyed});
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO latest SELECT device, reading FROM (
                SELECT *, ROW_NUMBER() OVER (PARTITION BY device ORDER BY `at` DESC) AS rn FROM log) WHERE rn = 1;
            INSERT INTO top SELECT device, rn, reading FROM (
                SELECT *, ROW_NUMBER() OVER (PARTITION BY device ORDER BY reading DESC) AS rn FROM log) WHERE rn <= 3;
            INSERT INTO minutes SELECT window_start, device, COUNT(*)
                FROM TABLE(TUMBLE(TABLE log, DESCRIPTOR(`at`), INTERVAL '1' MINUTE))
                GROUP BY window_start, window_end, device;
        END;
        """,
        **names,
    )

    def table(name: str) -> dict[tuple[Any, ...], Any]:
        return {tuple(k.values()): tuple(v.values()) for k, v in lab.pairs(names[name])}

    by_device = {d: [r for device, r, _ in rows if device == d] for d in range(3)}
    assert table("latest") == {(d,): (d, readings[-1]) for d, readings in by_device.items()}
    best = {d: sorted(readings, reverse=True)[:3] for d, readings in by_device.items()}
    assert table("top") == {(d, n): (d, n, r) for d, readings in best.items() for n, r in enumerate(readings, 1)}
    minutes: dict[tuple[str, int], int] = {}
    for device, _, at in rows:
        start = (f"{at[:17]}00", device)
        minutes[start] = minutes.get(start, 0) + 1
    assert table("minutes") == {key: (*key, n) for key, n in minutes.items()}
