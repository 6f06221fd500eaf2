"""What a broker can do is asked at the start: one that is too old is refused by name, with what to switch off."""

from __future__ import annotations

import pytest

from rowkind.connectors.kafka import api_versions as a
from rowkind.connectors.kafka.sink_topics import needs
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from tests.runtime.tables import APPEND, table

PROPERTIES = {"bootstrap.servers": "old:1"}
ALL = (a.READING, a.WRITING, a.IDEMPOTENCE, a.ZSTD, a.BROKER_DEFAULTS, a.EXACTLY_ONCE)
KAFKA_0_10 = {"Produce": 2, "Fetch": 3, "ListOffsets": 1, "OffsetFetch": 2, "CreateTopics": 1}
KAFKA_1_1 = {**KAFKA_0_10, "Produce": 5, "Fetch": 7, "ListOffsets": 2, "InitProducerId": 0, "CreateTopics": 2}


@pytest.mark.kafka
def test_the_newest_broker_meets_every_need(kafka: str) -> None:
    found = a.api_versions({"bootstrap.servers": kafka})
    assert found["Fetch"] >= 17
    a.check_broker("t", PROPERTIES, ALL, found)


@pytest.mark.parametrize(
    ("need", "found", "request_"),
    [
        (a.READING, KAFKA_0_10, "Fetch"),
        (a.WRITING, KAFKA_0_10, "Produce"),
        (a.IDEMPOTENCE, KAFKA_0_10, "InitProducerId"),
        (a.ZSTD, KAFKA_1_1, "Produce"),
        (a.BROKER_DEFAULTS, KAFKA_1_1, "CreateTopics"),
        (a.EXACTLY_ONCE, KAFKA_1_1, "InitProducerId"),
    ],
)
def test_a_need_that_is_not_met_is_named(need: a.Need, found: dict[str, int], request_: str) -> None:
    with pytest.raises(RowkindError) as refused:
        a.check_broker("t", PROPERTIES, [need], found)
    assert refused.value.condition == "BROKER_TOO_OLD"
    assert refused.value.params["request"] == request_
    assert need.instead in str(refused.value)


def test_of_a_broker_that_told_nothing_nothing_is_asked() -> None:
    a.check_broker("t", PROPERTIES, ALL, {})


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [a.WRITING, a.IDEMPOTENCE, a.BROKER_DEFAULTS]),
        ({"topic": "there"}, [a.WRITING, a.IDEMPOTENCE]),
        ({"sink.topic.partitions": "1", "sink.topic.replication-factor": "1"}, [a.WRITING, a.IDEMPOTENCE]),
        ({"topic": "there", "properties.enable.idempotence": "false"}, [a.WRITING]),
        ({"topic": "there", "properties.acks": "1"}, [a.WRITING]),
        ({"topic": "there", "properties.compression.type": "zstd"}, [a.WRITING, a.IDEMPOTENCE, a.ZSTD]),
        (
            {"topic": "there", "sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "p"},
            [a.WRITING, a.IDEMPOTENCE, a.EXACTLY_ONCE],
        ),
    ],
)
def test_a_sink_needs_what_its_options_ask_for(options: dict[str, str], wanted: list[a.Need]) -> None:
    sink = table("id INT", {**APPEND, **options}, Side.SINK)
    assert list(needs(sink, {"there"})) == wanted
