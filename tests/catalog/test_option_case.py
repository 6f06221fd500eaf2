"""Decision 4: keys in other case are read, with a warning; client keys as far as a client knows them."""

from __future__ import annotations

from rowkind.catalog.show import show_create_table
from rowkind.connectors.settings import Side
from rowkind.options.session_values import SessionOptions
from tests.catalog.tables import REMOVED, append, condition, resolve, source, upsert

SHOUTED = {
    "connector": REMOVED,
    "topic": REMOVED,
    "properties.bootstrap.servers": REMOVED,
    "key.format": REMOVED,
    "value.format": REMOVED,
    "CONNECTOR": "upsert-kafka",
    "TOPIC": "T",
    "PROPERTIES.BOOTSTRAP.SERVERS": "localhost:9092",
    "PROPERTIES.COMPRESSION.TYPE": "lz4",
    "KEY.FORMAT": "plain",
    "VALUE.FORMAT": "plain",
}


def test_a_recipe_in_capitals_is_read_and_every_key_is_named() -> None:
    table, warnings = resolve(upsert(SHOUTED), SessionOptions(), Side.SINK)
    assert (table.connector, table.topics) == ("upsert-kafka", ("T",))
    assert table.properties == {"bootstrap.servers": "localhost:9092", "compression.type": "lz4"}
    assert [w.split("'")[3] for w in warnings] == [key for key, value in SHOUTED.items() if value]
    assert "read as 'properties.bootstrap.servers'" in warnings[2]


def test_a_client_key_that_nobody_knows_keeps_its_case() -> None:
    assert source(append({"PROPERTIES.My.Own": "1"})).properties["My.Own"] == "1"


def test_native_keys_are_folded() -> None:
    found = source(append({"PROPERTIES.RDKAFKA.QUEUED.MIN.MESSAGES": "1"})).properties
    assert found["rdkafka.queued.min.messages"] == "1"


def test_a_client_key_in_two_cases() -> None:
    assert condition(append({"Properties.Bootstrap.Servers": "x:1"})) == "OPTION_GIVEN_TWICE"


def test_a_secret_in_capitals_is_not_shown() -> None:
    assert "hush" not in show_create_table(append({"PROPERTIES.SSL.KEY.PASSWORD": "hush"}))
