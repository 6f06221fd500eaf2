"""`scan.on-error`: a message that cannot be read stops the job, is passed over, or goes to the dead-letter topic."""

from __future__ import annotations

import json

import pytest

from rowkind.errors import RowkindError
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

EVENTS = """
    CREATE TABLE events (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{events}', {kafka}, {once},
        'key.format' = 'json', 'key.fields' = 'id', 'value.format' = '{format}', 'value.fields-include' = 'EXCEPT_KEY',
        'scan.on-error' = '{on_error}'{more});
"""
USERS = """
    CREATE TABLE users (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{users}', {kafka}, {keyed}, 'scan.bounded.mode' = 'latest-offset',
        'scan.on-error' = 'dead-letter', 'scan.dead-letter.topic' = '{dead}');
"""
HEADERS = (("trace", b"7"), ("trace", None), ("other", b"\xff"))
BAD_VALUE = Record(b'{"id":2}', b'{"name": ', headers=HEADERS)
BAD_KEY = Record(b"two", b'{"name":"b"}')
BAD_BOTH = Record(b"\xff\x00", b"\x00\xff")


def good(id: int, name: str) -> Record:
    return Record(json.dumps({"id": id}).encode(), json.dumps({"name": name}).encode())


def said(record: Record) -> dict[str, str]:
    """What rowkind adds to a message's headers."""
    return {name[8:]: (value or b"").decode() for name, value in record.headers if name.startswith("rowkind.")}


def test_a_job_stops_at_the_first_bad_message(lab: Lab, topic: TopicFactory) -> None:
    events = topic()
    lab.client.produce(events, [good(1, "a"), BAD_KEY])
    job = lab.job(EVENTS + "SELECT * FROM events;", events=events, on_error="fail", more="", format="json")
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert failed.value.condition == "UNDECODABLE_MESSAGE"
    assert {k: failed.value.params[k] for k in ("role", "offset", "payload")} == {
        "role": "key", "offset": 1, "payload": "two",
    }  # fmt: skip


def test_bad_messages_are_passed_over_and_counted(lab: Lab, topic: TopicFactory) -> None:
    events = topic()
    lab.client.produce(events, [good(1, "a"), BAD_VALUE, BAD_KEY, good(3, "c")])
    job = lab.finish(EVENTS + "SELECT * FROM events;", events=events, on_error="skip", more="", format="json")
    assert lab.shown == [("+I", (1, "a")), ("+I", (3, "c"))]
    assert job.progress.counts["events.messages-set-aside"] == 2
    assert job.progress.counts["events.rows-read"] == 4


def test_bad_messages_go_to_the_dead_letter_topic_as_they_were(lab: Lab, topic: TopicFactory) -> None:
    events, dead = topic(partitions=2), topic()
    sent = [r._replace(partition=1) for r in (good(1, "a"), BAD_VALUE, BAD_KEY, BAD_BOTH, good(3, "c"))]
    lab.client.produce(events, sent)
    more = ", 'scan.dead-letter.topic' = '{dead}'"
    job = lab.finish(
        EVENTS.replace("{more}", more) + "SELECT * FROM events;",
        events=events, dead=dead, on_error="dead-letter", format="json",
    )  # fmt: skip
    assert lab.shown == [("+I", (1, "a")), ("+I", (3, "c"))]
    assert job.progress.counts["events.messages-set-aside"] == 3
    letters = lab.records(dead)
    assert [(r.key, r.value) for r in letters] == [(r.key, r.value) for r in (BAD_VALUE, BAD_KEY, BAD_BOTH)]
    assert letters[0].headers[: len(HEADERS)] == HEADERS
    for offset, (letter, role) in enumerate(zip(letters, ("value", "key", "value"), strict=True), 1):
        found = said(letter)
        assert (found["topic"], found["partition"], found["offset"], found["role"]) == (events, "1", str(offset), role)
        assert found["reason"]


def test_an_upsert_table_keeps_tombstones_and_diverts_what_is_bad(lab: Lab, topic: TopicFactory) -> None:
    users, dead = topic(partitions=1, **{"cleanup.policy": "compact"}), topic()
    bad_tombstone = Record(b"two", None)
    whole = [Record(b'{"id":%d}' % i, b'{"id":%d,"name":"n"}' % i) for i in (1, 2)]
    lab.client.produce(users, [*whole, BAD_VALUE, Record(b'{"id":1}', None), bad_tombstone])
    job = lab.finish(USERS + "SELECT COUNT(*) FROM users;", users=users, dead=dead)
    assert lab.shown[-1][1] == (1,)
    assert [(r.key, r.value, said(r)["role"]) for r in lab.records(dead)] == [
        (BAD_VALUE.key, BAD_VALUE.value, "value"), (b"two", None, "key"),
    ]  # fmt: skip
    assert job.progress.counts["users.messages-set-aside"] == 2
    assert job.progress.counts["users.tombstones-read"] == 2


def test_a_change_event_is_diverted_whole(lab: Lab, topic: TopicFactory) -> None:
    events, dead = topic(), topic()
    row = {"id": 1, "name": "a"}
    half = {"data": [row, {"id": 2, "name": ["x"]}, None], "type": "INSERT"}
    strange = {"data": [row], "type": "ALTER"}
    messages = [{"data": [row, row], "type": "INSERT"}, half, strange, {"data": [row], "type": "DELETE"}]
    lab.put(events, *messages)
    table = """
        CREATE TABLE events (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{events}', {kafka}, {once},
            'format' = 'canal-json', 'scan.on-error' = 'dead-letter', 'scan.dead-letter.topic' = '{dead}');
    """
    lab.finish(table + "SELECT * FROM events;", events=events, dead=dead)
    assert lab.shown == [("+I", (1, "a")), ("+I", (1, "a")), ("-D", (1, "a"))]
    assert lab.values(dead) == [half, strange]
    assert all(said(r)["reason"].startswith("Corrupt Canal JSON message") for r in lab.records(dead))
