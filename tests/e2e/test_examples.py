"""The jobs that users start with, as far as they need no state."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from rowkind.errors import RowkindError
from tests.e2e.lab import Lab
from tests.kafka_client import Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PAGEVIEWS = """
    CREATE TABLE pageviews (
        user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP, user_region STRING,
        WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
    ) WITH ('connector' = 'kafka', 'topic' = '{views}', {kafka}, {json});
"""


def test_pageviews_are_read_from_now_on_and_it_says_so(lab: Lab, topic: TopicFactory) -> None:
    """Decisions 2 and 6: neither start mode nor group id; event time on TIMESTAMP without precision."""
    views = topic()
    lab.put(views, {"user_id": 1, "user_region": "before"})
    job = lab.job(PAGEVIEWS + "SELECT user_region, viewtime FROM pageviews;", views=views)
    assert any("earliest-offset" in notice for notice in lab.notices)
    lab.until(lambda: job.progress.batches, job)
    lab.put(views, {"user_id": 1, "viewtime": "2024-01-01 00:00:00.123456", "user_region": "after"})
    lab.until(lambda: lab.shown, job)
    assert [(kind, row[0], str(row[1])) for kind, row in lab.shown] == [("+I", "after", "2024-01-01 00:00:00.123456")]


def test_a_wrong_column_of_pageviews_names_the_right_one(lab: Lab) -> None:
    with pytest.raises(RowkindError, match="user_region") as failed:
        lab.start(PAGEVIEWS + "SELECT region FROM pageviews;", views="v")
    assert failed.value.condition == "UNKNOWN_COLUMN"
    assert "'user_region'" in failed.value.params["suggestion"]


def test_events_with_metadata(lab: Lab, topic: TopicFactory) -> None:
    events, out = topic(), topic()
    lab.client.produce(events, [Record(None, b'{"id":7}', timestamp=1_700_000_000_123)])
    lab.finish(
        """
        SET 'table.local-time-zone' = 'UTC';
        CREATE TABLE events (
            id BIGINT, event_ts TIMESTAMP(3) METADATA FROM 'timestamp', proctime AS PROCTIME(),
            WATERMARK FOR event_ts AS event_ts - INTERVAL '5' SECOND
        ) WITH ('connector' = 'kafka', 'topic' = '{events}', {kafka}, {json}, {once},
            'properties.group.id' = '{events}');
        CREATE TABLE seen (id BIGINT, event_ts TIMESTAMP(3), now_is_later BOOLEAN)
            WITH ('connector' = 'kafka', 'topic' = '{out}', {kafka}, {json});
        INSERT INTO seen SELECT id, event_ts, proctime > event_ts FROM events;
        """,
        events=events,
        out=out,
    )
    assert lab.values(out) == [{"id": 7, "event_ts": "2023-11-14 22:13:20.123", "now_is_later": True}]


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
        CREATE TABLE orders (id BIGINT, amount DECIMAL(10, 2), `at` TIMESTAMP(3))
            WITH ('connector' = 'kafka', 'topic' = '{orders}', {kafka}, {json}, {once});
        CREATE TABLE paid (id BIGINT, amount DECIMAL(10, 2), `at` TIMESTAMP(3))
            WITH ('connector' = 'kafka', 'topic' = '{paid}', {kafka}, {json});
        INSERT INTO paid SELECT id, amount, `at` FROM orders WHERE amount > 0;
        """,
        orders=orders,
        paid=paid,
    )
    texts = sorted(record.value for record in lab.records(paid) if record.value)
    assert texts == [
        b'{"id":1,"amount":12.5,"at":"2024-05-01 10:00:00.123"}',
        b'{"id":3,"amount":7.1,"at":"2024-05-01 10:00:02.5"}',
    ]
    assert (job.status, job.progress.rows_in, job.progress.rows_out) == ("finished", 4, 2)


KEYED = """
    CREATE TABLE {name} (user_id BIGINT, item STRING, n INT) WITH (
        'connector' = 'kafka', 'topic' = '{topic}', {kafka}, 'key.format' = 'json', 'key.fields' = 'user_id',
        'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY', {once});
"""


def test_keyed_events_as_source_and_as_sink(lab: Lab, topic: TopicFactory) -> None:
    events, copy = topic(partitions=3), topic(partitions=4)
    lab.put_pairs(events, [({"user_id": 100 + i % 6}, {"item": f"i{i}", "n": i}) for i in range(60)])
    lab.finish(
        KEYED.replace("{name}", "events").replace("{topic}", events)
        + KEYED.replace("{name}", "copy").replace("{topic}", copy)
        + "INSERT INTO copy SELECT user_id, UPPER(item), n + 1000 FROM events;"
    )
    records = lab.records(copy)
    assert Counter(json.loads(r.key or b"")["user_id"] for r in records) == dict.fromkeys(range(100, 106), 10)
    assert all(set(json.loads(r.value or b"")) == {"item", "n"} for r in records)
    # as the Java client puts these very bytes into four partitions
    expected = {100: 3, 101: 1, 102: 0, 103: 0, 104: 1, 105: 2}
    assert {json.loads(r.key or b"")["user_id"]: r.partition for r in records} == expected
    for user in expected:
        mine = [json.loads(r.value or b"")["n"] for r in records if json.loads(r.key or b"")["user_id"] == user]
        assert mine == sorted(mine)


def test_the_start_of_an_avro_source_is_the_latest_offset(lab: Lab, topic: TopicFactory) -> None:
    """An avro table written by one job and read from its end by another."""
    name = topic()
    table = """
        CREATE TABLE t (id BIGINT NOT NULL, name STRING) WITH (
            'connector' = 'kafka', 'topic' = '{name}', {kafka}, 'format' = 'avro',
            'scan.startup.mode' = 'latest-offset', 'properties.group.id' = '{name}');
    """
    lab.finish(table + "INSERT INTO t VALUES (1, 'early');", name=name)
    job = lab.job("SELECT id, name FROM t;")
    lab.until(lambda: job.progress.batches, job)
    lab.session.sql("INSERT INTO t VALUES (2, 'late'), (3, CAST(NULL AS STRING));").wait()
    lab.until(lambda: len(lab.shown) == 2, job)
    assert lab.shown == [("+I", (2, "late")), ("+I", (3, None))]
