"""SASL and TLS settings, without a broker."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rowkind.connectors.kafka import jaas
from rowkind.connectors.kafka.clients import open_consumer
from rowkind.connectors.kafka.security import security_settings
from rowkind.errors import RowkindError

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


def sasl(mechanism: str, text: str, **more: str) -> dict[str, str]:
    return {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": text, **more}


def refusal(properties: dict[str, str]) -> str:
    with pytest.raises(RowkindError) as caught:
        security_settings(properties)
    return caught.value.condition


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f'{PLAIN} required username="ann" password="s3 cret";', {"username": "ann", "password": "s3 cret"}),
        (f"{PLAIN}\n  required\n  username = ann password='a\"b';\n", {"username": "ann", "password": 'a"b'}),
        (f'{PLAIN} required username="a\\"n" password="x;y=z";', {"username": 'a"n', "password": "x;y=z"}),
        (f'{PLAIN} REQUIRED username="" password=";";', {"username": "", "password": ";"}),
    ],
)
def test_jaas(text: str, options: dict[str, str]) -> None:
    assert jaas.parse(text) == jaas.LoginModule("PlainLoginModule", options)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hush",
        f"{PLAIN} required hush=hush",
        f'{PLAIN} required password="hush;',
        f'{PLAIN} perhaps password="hush";',
        f"{PLAIN} required password hush;",
        f"{PLAIN} required password=hush; {PLAIN} required;",
    ],
)
def test_malformed_jaas_is_named_and_not_shown(text: str) -> None:
    with pytest.raises(RowkindError) as caught:
        jaas.parse(text)
    assert caught.value.condition == "KAFKA_JAAS_MALFORMED"
    assert "hush" not in str(caught.value)
    assert "hush" not in repr(jaas.parse(f'{PLAIN} required password="hush";'))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "scram-sha-512"])
def test_name_and_password(mechanism: str) -> None:
    module = PLAIN if mechanism == "PLAIN" else SCRAM
    found = security_settings(sasl(mechanism, f'{module} required username="ann" password="x";'))
    assert found["security.protocol"] == "sasl_ssl"
    assert found["sasl.mechanism"] == mechanism.upper()
    assert (found["sasl.username"], found["sasl.password"]) == ("ann", "x")


def test_oauth_client_credentials() -> None:
    text = f'{OAUTH} required clientId="me" clientSecret="x" scope="kafka" extension_org="o1";'
    url = {"sasl.oauthbearer.token.endpoint.url": "https://login.example/token"}
    found = security_settings(sasl("OAUTHBEARER", text, **url))
    assert found["sasl.oauthbearer.method"] == "oidc"
    assert found["sasl.oauthbearer.client.id"] == "me"
    assert found["sasl.oauthbearer.client.secret"] == "x"
    assert found["sasl.oauthbearer.scope"] == "kafka"
    assert found["sasl.oauthbearer.extensions"] == "org=o1"
    open_consumer({"bootstrap.servers": "127.0.0.1:1", **sasl("OAUTHBEARER", text, **url)})


def test_oauth_token_without_a_signature() -> None:
    found = security_settings(sasl("OAUTHBEARER", f'{OAUTH} required unsecuredLoginStringClaim_sub="ann";'))
    assert found["enable.sasl.oauthbearer.unsecure.jwt"] == "true"
    assert found["sasl.oauthbearer.config"] == "principal=ann"


def test_refusals() -> None:
    assert refusal({"security.protocol": "TLS"}) == "KAFKA_PROPERTY_VALUE"
    assert refusal(sasl("AWS_MSK_IAM", "x.IAMLoginModule required;")) == "KAFKA_PROPERTY_VALUE"
    assert refusal(sasl("PLAIN", f'{SCRAM} required username="a" password="b";')) == "KAFKA_JAAS_MODULE"
    assert refusal(sasl("PLAIN", f'{PLAIN} required username="a";')) == "KAFKA_JAAS_MALFORMED"
    assert refusal({"security.protocol": "SASL_SSL"}) == "KAFKA_KERBEROS_MISSING"
    handler = {"sasl.login.callback.handler.class": "com.example.Mine"}
    assert refusal(sasl("OAUTHBEARER", f"{OAUTH} required;", **handler)) == "KAFKA_PROPERTY_REFUSED"


def keytool(*arguments: object) -> str:
    done = subprocess.run(["keytool", *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def key_store(path: Path, kind: str) -> Path:
    identity = ["-alias", "k", "-dname", "CN=localhost", "-keyalg", "EC", "-storepass", "changeit"]
    keytool("-genkeypair", *identity, "-keystore", path, "-storetype", kind, "-validity", "30")
    return path


def test_stores(tmp_path: Path) -> None:
    store = key_store(tmp_path / "store", "PKCS12")  # as Java: a PKCS12 file may be declared JKS, or nothing
    pem = tmp_path / "ca.pem"
    pem.write_text(keytool("-list", "-rfc", "-keystore", store, "-storepass", "changeit"))
    given = {
        "security.protocol": "SSL",
        "ssl.keystore.location": str(store),
        "ssl.keystore.type": "JKS",
        "ssl.keystore.password": "changeit",
        "ssl.truststore.location": str(store),
        "ssl.truststore.password": "changeit",
    }
    found = security_settings(given)
    assert found["ssl.keystore.location"] == str(store)
    assert found["ssl.keystore.password"] == "changeit"
    assert found["ssl.ca.pem"].startswith("-----BEGIN CERTIFICATE-----")
    open_consumer({"bootstrap.servers": "127.0.0.1:1", **given})
    with_pem = security_settings({"security.protocol": "SSL", "ssl.truststore.location": str(pem)})
    assert with_pem["ssl.ca.location"] == str(pem)
    assert refusal({**given, "ssl.truststore.password": "wrong!"}) == "KAFKA_STORE_UNREADABLE"
    assert refusal({**given, "ssl.keystore.location": str(tmp_path / "none")}) == "KAFKA_STORE_UNREADABLE"


def test_a_java_key_store_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    store = key_store(tmp_path / "old.jks", "JKS")
    given = {"security.protocol": "SSL", "ssl.keystore.location": str(store), "ssl.keystore.password": "changeit"}
    with pytest.raises(RowkindError) as caught:
        security_settings(given)
    assert caught.value.condition == "KAFKA_STORE_UNSUPPORTED"
    command = (caught.value.hint or "").partition("Convert it with: keytool ")[2].partition(" - ")[0].split()
    keytool(*command, "-srcstorepass", "changeit", "-deststorepass", "changeit")
    converted = security_settings({**given, "ssl.keystore.location": f"{store}.p12"})
    assert converted["ssl.keystore.location"] == f"{store}.p12"
