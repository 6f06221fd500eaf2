"""Logins, TLS and rights against a real broker, with the properties a Java client would be given."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from rowkind.broker import Broker
from rowkind.connectors.kafka.api_versions import api_versions
from rowkind.connectors.kafka.cluster import Cluster
from rowkind.connectors.kafka.producers import MessageProducer
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import read
from rowkind.errors import RowkindError
from tests.kafka_client import KafkaClient

pytestmark = pytest.mark.kafka

SECURITY = "org.apache.kafka.common.security"
PLAIN = f"{SECURITY}.plain.PlainLoginModule"
SCRAM = f"{SECURITY}.scram.ScramLoginModule"
OAUTH = f"{SECURITY}.oauthbearer.OAuthBearerLoginModule"
PASSWORD = "changeit"


@dataclass(frozen=True)
class Secured:
    """A broker with TLS and logins; the user ann may use the topic `open` only."""

    broker: Broker
    folder: Path

    def tls(self, **more: str) -> dict[str, str]:
        return {
            "bootstrap.servers": self.broker.address("SSL"),
            "security.protocol": "SSL",
            "ssl.truststore.location": str(self.folder / "trust.p12"),
            "ssl.truststore.password": PASSWORD,
            "default.api.timeout.ms": "20000",
            **more,
        }

    def sasl(self, mechanism: str, jaas: str) -> dict[str, str]:
        own = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}
        return {**self.tls(), "bootstrap.servers": self.broker.address("SASL_SSL"), **own}


def keytool(*arguments: object) -> str:
    done = subprocess.run(
        ["keytool", "-J-XX:TieredStopAtLevel=1", *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return done.stdout


def make_stores(folder: Path) -> None:
    common = ["-storepass", PASSWORD, "-storetype", "PKCS12"]
    for name in ("server", "client"):
        identity = ["-alias", name, "-dname", f"CN={name}", "-keyalg", "EC", "-ext", "san=ip:127.0.0.1"]
        keytool("-genkeypair", *identity, "-validity", "30", "-keystore", folder / f"{name}.p12", *common)
        certificate = keytool("-exportcert", "-rfc", "-alias", name, "-keystore", folder / f"{name}.p12", *common)
        (folder / f"{name}.pem").write_text(certificate)
        imported = ["-noprompt", "-alias", name, "-file", folder / f"{name}.pem"]
        keytool("-importcert", *imported, "-keystore", folder / "trust.p12", *common)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("stores")
    make_stores(folder)
    config = {
        "auto.create.topics.enable": "false",
        "ssl.keystore.location": str(folder / "server.p12"),
        "ssl.keystore.password": PASSWORD,
        "ssl.keystore.type": "PKCS12",
        "ssl.truststore.location": str(folder / "trust.p12"),
        "ssl.truststore.password": PASSWORD,
        "ssl.truststore.type": "PKCS12",
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f'{PLAIN} required user_ann="hush hush";',
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
        "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": f'{OAUTH} required unsecuredLoginStringClaim_sub="b";',
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:CN=client",
    }
    with Broker.start(config=config, listeners=("SSL", "SASL_SSL")) as broker:
        prepare(KafkaClient(broker.bootstrap))
        yield Secured(broker, folder)


def prepare(client: KafkaClient) -> None:
    for topic in ("open", "closed"):
        client.create_topic(topic)
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    upsert = UserScramCredentialUpsertion("ann", info, b"hush hush")
    client.admin.alter_user_scram_credentials([upsert])["ann"].result(60)
    everything = ("*", AclOperation.ALL, AclPermissionType.ALLOW)
    right = AclBinding(ResourceType.TOPIC, "open", ResourcePatternType.LITERAL, "User:ann", *everything)
    client.admin.create_acls([right])[right].result(60)


def write_and_read(properties: dict[str, str], topic: str) -> bytes:
    """Write one message and read it back; both clients and the cluster use the same properties."""
    (partition,) = Cluster(properties).partitions([topic])
    assert api_versions(properties), "the versions of a broker come through its login"
    end = Cluster(properties).ends([partition])[partition]
    writer = MessageProducer(properties, topic)
    writer.write(pa.RecordBatch.from_pydict({"value": pa.array([b"%d" % end])}))
    writer.flush()
    (batch,) = read(OffsetRange(topic, 0, end, end + 1), properties)
    value: bytes = batch.column("value")[0].as_py()
    return value


def refusal(properties: dict[str, str], topic: str = "open") -> RowkindError:
    with pytest.raises(RowkindError) as caught:
        write_and_read(properties, topic)
    assert "hush" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("mechanism", "jaas"),
    [
        ("PLAIN", f'{PLAIN} required username="ann" password="hush hush";'),
        ("SCRAM-SHA-512", f'{SCRAM} required username="ann" password="hush hush";'),
        ("OAUTHBEARER", f'{OAUTH} required unsecuredLoginStringClaim_sub="ann";'),
    ],
)
def test_logins(secured: Secured, mechanism: str, jaas: str) -> None:
    assert write_and_read(secured.sasl(mechanism, jaas), "open").isdigit()


def test_a_client_certificate_from_pkcs12(secured: Secured) -> None:
    store = {"ssl.keystore.location": str(secured.folder / "client.p12"), "ssl.keystore.password": PASSWORD}
    assert write_and_read(secured.tls(**store), "closed").isdigit()


def test_a_trust_store_in_pem(secured: Secured) -> None:
    pem = {"ssl.truststore.location": str(secured.folder / "server.pem"), "ssl.truststore.type": "PEM"}
    jaas = f'{PLAIN} required username="ann" password="hush hush";'
    assert write_and_read({**secured.sasl("PLAIN", jaas), **pem}, "open").isdigit()
    text = {"ssl.truststore.certificates": (secured.folder / "server.pem").read_text(), "ssl.truststore.type": "PEM"}
    given = {**secured.sasl("PLAIN", jaas), **text}
    del given["ssl.truststore.location"]
    assert write_and_read(given, "open").isdigit()


@pytest.mark.parametrize(("mechanism", "module"), [("PLAIN", PLAIN), ("SCRAM-SHA-512", SCRAM)])
def test_a_wrong_password(secured: Secured, mechanism: str, module: str) -> None:
    error = refusal(secured.sasl(mechanism, f'{module} required username="ann" password="hush wrong";'))
    assert error.condition == "KAFKA_AUTHENTICATION"


def test_a_certificate_that_is_not_trusted(secured: Secured) -> None:
    given = secured.sasl("PLAIN", f'{PLAIN} required username="ann" password="hush hush";')
    given["ssl.truststore.location"] = str(secured.folder / "client.pem")
    assert refusal(given).condition == "KAFKA_TLS"


def test_plain_text_to_a_port_that_speaks_tls(secured: Secured) -> None:
    given = {"bootstrap.servers": secured.broker.address("SSL"), "default.api.timeout.ms": "1000"}
    assert refusal(given).condition == "KAFKA_UNREACHABLE"


def test_rights(secured: Secured) -> None:
    given = secured.sasl("PLAIN", f'{PLAIN} required username="ann" password="hush hush";')
    assert refusal(given, "closed").condition == "KAFKA_AUTHORIZATION"
    with pytest.raises(RowkindError) as caught:
        list(read(OffsetRange("closed", 0, 0, 1), {**given, "default.api.timeout.ms": "1000"}))
    assert caught.value.condition == "KAFKA_AUTHORIZATION"
    writer = MessageProducer(given, "closed")
    writer.write(pa.RecordBatch.from_pydict({"value": pa.array([b"x"])}))
    with pytest.raises(RowkindError) as caught:
        writer.flush()
    assert caught.value.condition == "KAFKA_AUTHORIZATION"
    with pytest.raises(RowkindError) as caught:
        Cluster(given).create_topic("mine", 1, 1)
    assert caught.value.condition == "KAFKA_AUTHORIZATION"
