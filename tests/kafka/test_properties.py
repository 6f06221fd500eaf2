"""Client properties: every documented key has a fate, and librdkafka takes what is mapped."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from rowkind.connectors.kafka import client_keys, clients
from rowkind.connectors.kafka.client_keys import Client, Fate
from rowkind.connectors.kafka.properties import admin_config, check, consumer_config, masked, producer_config
from rowkind.errors import RowkindError

SERVERS = {"bootstrap.servers": "127.0.0.1:1"}
DOCUMENTED = [line.split() for line in Path(__file__).with_name("client_keys.txt").read_text().splitlines()]
LETTERS = {"c": Client.CONSUMER, "p": Client.PRODUCER, "a": Client.ADMIN}
CONFIGS = {
    Client.CONSUMER: (consumer_config, Consumer),
    Client.PRODUCER: (producer_config, Producer),
    Client.ADMIN: (admin_config, AdminClient),
}
SAMPLES = {
    "acks": "all",
    "client.dns.lookup": "use_all_dns_ips",
    "check.crcs": "true",
    "compression.type": "zstd",
    "delivery.timeout.ms": "90000",
    "enable.idempotence": "true",
    "enable.metrics.push": "false",
    "fetch.max.bytes": "60000000",
    "isolation.level": "read_uncommitted",
    "max.in.flight.requests.per.connection": "5",
    "max.request.size": "2000000",
    "metadata.recovery.strategy": "none",
    "sasl.kerberos.kinit.cmd": "kinit",
    "sasl.oauthbearer.assertion.algorithm": "ES256",
    "sasl.oauthbearer.assertion.claim.jti.include": "true",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
    "ssl.endpoint.identification.algorithm": "",
}
STRUCTURAL = {"ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.truststore.certificates"}


def condition(properties: dict[str, str]) -> RowkindError:
    with pytest.raises(RowkindError) as caught:
        check({**SERVERS, **properties})
    return caught.value


@pytest.mark.parametrize(("name", "letters"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_every_documented_key_has_a_fate(name: str, letters: str) -> None:
    for letter in letters:
        assert client_keys.key_of(name, LETTERS[letter]) is not None


def test_no_key_is_declared_twice_for_a_client() -> None:
    declared = [(key.name, client) for key in client_keys.KEYS for client in key.clients]
    assert len(declared) == len(set(declared))


def test_a_key_without_effect_or_refused_says_why() -> None:
    assert [k.name for k in client_keys.KEYS if k.fate in (Fate.WITHOUT_EFFECT, Fate.REFUSED) and not k.note] == []


@pytest.mark.parametrize("client", list(Client))
def test_librdkafka_takes_every_mapped_key(client: Client) -> None:
    config, kind = CONFIGS[client]
    for key in client_keys.KEYS:
        if client in key.clients and key.fate is Fate.MAPPED and key.name not in STRUCTURAL | {"bootstrap.servers"}:
            sample = SAMPLES.get(key.name, "20000" if key.name.endswith((".ms", ".bytes")) else "5")
            found = config({**SERVERS, key.name: sample})
            kind(found.values, logger=clients._LOG)
            assert set(key.targets) <= found.values.keys()


def test_defaults() -> None:
    consumer, producer = consumer_config(SERVERS).values, producer_config(SERVERS).values
    assert consumer["isolation.level"] == "read_committed"
    assert consumer["auto.offset.reset"] == "error"
    assert consumer["enable.auto.commit"] is False
    assert producer["enable.idempotence"] == "true"
    assert producer["acks"] == "all"
    assert producer["partitioner"] == "murmur2_random"
    assert check(SERVERS) == []


def test_names_and_values_are_translated() -> None:
    given = {
        **SERVERS,
        "buffer.memory": "33554432",
        "fetch.max.wait.ms": "250",
        "request.timeout.ms": "4000",
        "receive.buffer.bytes": "-1",
        "ssl.endpoint.identification.algorithm": " ",
        "compression.type": "lz4",
        "compression.lz4.level": "17",
        "partitioner.ignore.keys": "true",
    }
    producer, consumer = producer_config(given).values, consumer_config(given).values
    assert producer["queue.buffering.max.kbytes"] == "32768"
    assert producer["request.timeout.ms"] == producer["socket.timeout.ms"] == "4000"
    assert producer["compression.level"] == "12"
    assert producer["partitioner"] == "random"
    assert consumer["fetch.wait.max.ms"] == "250"
    assert consumer["socket.timeout.ms"] == "4000"
    assert "request.timeout.ms" not in consumer
    assert consumer["socket.receive.buffer.bytes"] == "0"
    assert consumer["ssl.endpoint.identification.algorithm"] == "none"


def test_a_key_without_effect_is_warned_about_once() -> None:
    warnings = check({**SERVERS, "metric.reporters": "x", "session.timeout.ms": "1", "enable.auto.commit": "false"})
    assert len(warnings) == 2
    assert "metric.reporters" in warnings[0]
    assert "session.timeout.ms" in warnings[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key.serializer", "org.apache.kafka.common.serialization.StringSerializer"),
        ("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
        ("interceptor.classes", "a.B"),
        ("partitioner.class", "a.B"),
        ("transactional.id", "x"),
        ("transaction.two.phase.commit.enable", "true"),
        ("config.providers", "file"),
        ("ssl.cipher.suites", "TLS_AES_128_GCM_SHA256"),
        ("ssl.engine.factory.class", "a.B"),
        ("rdkafka.enable.auto.commit", "true"),
        ("rdkafka.auto.offset.reset", "earliest"),
    ],
)
def test_refused_keys_name_the_alternative(name: str, value: str) -> None:
    error = condition({name: value})
    assert error.condition == "KAFKA_PROPERTY_REFUSED"
    assert error.params["note"]


def test_byte_array_serializers_may_stand() -> None:
    prefix = "org.apache.kafka.common.serialization.ByteArray"
    assert (
        check({**SERVERS, "key.serializer": f"{prefix}Serializer", "key.deserializer": f"{prefix}Deserializer"}) == []
    )


def test_an_unknown_key_names_the_nearest() -> None:
    """Decision 38: one warning, no refusal, whichever clients look at it."""
    (warning,) = check({**SERVERS, "isolation.levle": "read_committed"})
    assert "'properties.isolation.levle' has no effect" in warning
    assert "did you mean 'isolation.level'" in warning
    assert [w.partition(" ")[0] for w in check({**SERVERS, "zookeeper.connect": "x:1"})] == [
        "'properties.zookeeper.connect'"
    ]


def test_native_keys_pass_behind_their_prefix() -> None:
    assert consumer_config({**SERVERS, "rdkafka.queued.min.messages": "7"}).values["queued.min.messages"] == "7"
    (warning,) = check({**SERVERS, "queued.min.messages": "7"})
    assert "'properties.queued.min.messages' has no effect" in warning


def test_a_number_that_is_none() -> None:
    assert condition({"buffer.memory": "much"}).condition == "KAFKA_PROPERTY_VALUE"
    assert condition({"default.api.timeout.ms": "1 min"}).condition == "KAFKA_PROPERTY_VALUE"
    with pytest.raises(RowkindError) as caught:
        clients.open_consumer({**SERVERS, "fetch.min.bytes": "few"})
    assert caught.value.condition == "KAFKA_CLIENT_REFUSED"


def test_settings_that_idempotence_cannot_live_with_switch_it_off_unless_it_was_asked_for() -> None:
    relaxed = producer_config({**SERVERS, "acks": "1"})
    assert relaxed.values["enable.idempotence"] == "false"
    assert len(relaxed.warnings) == 1
    with pytest.raises(RowkindError) as caught:
        clients.open_producer({**SERVERS, "acks": "1", "enable.idempotence": "true"})
    assert caught.value.condition == "KAFKA_CLIENT_REFUSED"


def test_secrets_are_masked_and_scrubbed() -> None:
    secret = {"ssl.keystore.password": "hush1", "sasl.jaas.config": "hush2", "rdkafka.sasl.password": "hush3"}
    assert "hush" not in str(masked({**SERVERS, **secret}))
    assert masked(SERVERS) == SERVERS
    with pytest.raises(RowkindError) as caught:
        clients.open_consumer({**SERVERS, "rdkafka.sasl.oauthbearer.client.secret.x": "hush4"})
    assert "hush4" not in str(caught.value)
    assert "hush" not in repr(consumer_config({**SERVERS, "ssl.key.password": "hush5"}))
