"""Secrets never show: not in SHOW CREATE TABLE, DESCRIBE, reprs, EXPLAIN or errors."""

from __future__ import annotations

import pytest

from rowkind.catalog.show import describe, show_create_table
from rowkind.connectors.kafka.properties import consumer_config
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.sql import parse_script
from rowkind.sql.statements import CreateTable
from tests.catalog.tables import resolve

SECRETS = {
    "properties.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter2";'
    ),
    "properties.ssl.keystore.password": "hunter2",
    "properties.ssl.truststore.password": "hunter2",
    "properties.ssl.key.password": "hunter2",
    "properties.sasl.oauthbearer.client.credentials.client.secret": "hunter2",
    "avro-confluent.basic-auth.user-info": "u:hunter2",
    "avro-confluent.bearer-auth.token": "hunter2",
    "avro-confluent.ssl.truststore.password": "hunter2",
    "avro-confluent.url": "http://u:hunter2@registry:8081",
}

LOGIN = {"properties.security.protocol": "SASL_SSL", "properties.sasl.mechanism": "PLAIN"}


def ddl(**changes: str) -> str:
    options = {
        "connector": "kafka",
        "topic": "t",
        "properties.bootstrap.servers": "localhost:9092",
        "scan.startup.mode": "earliest-offset",
        "format": "avro-confluent",
        **SECRETS,
        **changes,
    }
    written = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE t (id BIGINT) WITH ({written})"


def created(text: str) -> CreateTable:
    (statement,) = parse_script(text)
    assert isinstance(statement, CreateTable)
    return statement


def test_a_definition_shows_none() -> None:
    statement = created(ddl())
    table = statement.definition
    for shown in (show_create_table(table), str(describe(table)), repr(table)):
        assert "hunter2" not in shown
    assert show_create_table(table).count("****") == len(SECRETS)


@pytest.mark.parametrize("side", Side)
def test_a_resolved_table_shows_none(side: Side) -> None:
    assert "hunter2" not in repr(resolve(created(ddl()).definition, SessionOptions(), side))


@pytest.mark.parametrize(
    "changes",
    [
        {**LOGIN, "properties.sasl.jaas.config": "hunter2 required"},
        {"avro-confluent.basic-auth.user-inf": "hunter2"},
        {**LOGIN, "properties.ssl.keystore.type": "JKS", "properties.ssl.keystore.location": "k.jks"},
        {"avro-confluent.url": "u:hunter2@registry"},
    ],
)
def test_an_error_shows_none(changes: dict[str, str]) -> None:
    table = created(ddl(**changes)).definition
    with pytest.raises(RowkindError) as caught:
        consumer_config(resolve(table, SessionOptions(), Side.SOURCE)[0].properties)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(caught.value)


def test_a_warning_shows_none() -> None:
    table = created(ddl(**{"properties.sasl.jass.config": "hunter2"})).definition
    properties = resolve(table, SessionOptions(), Side.SOURCE)[0].properties
    (warning,) = consumer_config(properties).warnings
    assert "sasl.jass.config" in warning
    assert "hunter2" not in warning


def test_the_line_of_a_mistake_is_shown_without_them() -> None:
    text = "CREATE TABLE t (id INT) WITH ('properties.ssl.key.password' = 'hunter2' 'topic' = 'x')"
    with pytest.raises(RowkindError) as caught:
        parse_script(text)
    assert "hunter2" not in str(caught.value)
    assert "'properties.ssl.key.password' = '*******' 'topic' = 'x'" in str(caught.value)
