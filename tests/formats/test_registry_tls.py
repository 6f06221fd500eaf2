"""The registry client over TLS: which certificates it trusts, and the one it shows."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

from rowkind.errors import RowkindError
from tests.formats.test_schema_registry import Server, client

PASSWORD = b"secret"


def self_signed(name: str) -> tuple[rsa.RSAPrivateKey, x509.Certificate]:
    """A key, and a certificate for 127.0.0.1 that it signs itself."""
    key = rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return key, certificate


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of server and client: the certificate, and key and certificate in one; the client's key has a password."""
    folder = tmp_path_factory.mktemp("tls")
    sealed = serialization.BestAvailableEncryption(PASSWORD)
    for who, seal in (("server", serialization.NoEncryption()), ("client", sealed)):
        key, certificate = self_signed(who)
        shown = certificate.public_bytes(serialization.Encoding.PEM)
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, seal)
        (folder / f"{who}.crt").write_bytes(shown)
        (folder / f"{who}.pem").write_bytes(secret + shown)
    (folder / "client.p12").write_bytes(
        pkcs12.serialize_key_and_certificates(b"client", key, certificate, None, sealed)
    )
    return folder


@pytest.fixture
def server(certificates: Path) -> Iterator[Server]:
    """A registry that speaks TLS only, and only with the client it knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem")
    context.load_verify_locations(certificates / "client.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    with Server() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def url(server: Server) -> str:
    return server.url.replace("http://", "https://")


def test_both_sides_show_their_certificates(server: Server, certificates: Path) -> None:
    options = {
        "ssl.truststore.location": str(certificates / "server.crt"),
        "ssl.keystore.location": str(certificates / "client.pem"),
        "ssl.keystore.password": "secret",
    }
    assert client(url(server), **options).schema(1).kind == "long"
    given = {f"schema.registry.{k}": v for k, v in options.items()}
    assert client(url(server), **{"properties.*": given}).schema(1).kind == "long"


@pytest.mark.parametrize("left_out", ["ssl.truststore.location", "ssl.keystore.location"])
def test_a_certificate_is_missing(server: Server, certificates: Path, left_out: str) -> None:
    options: dict[str, Any] = {
        "ssl.truststore.location": str(certificates / "server.crt"),
        "ssl.keystore.location": str(certificates / "client.pem"),
        "ssl.keystore.password": "secret",
    }
    del options[left_out]
    with pytest.raises(RowkindError) as caught:
        client(url(server), **options).schema(1)
    assert caught.value.condition == "REGISTRY_DOWN"


def test_a_key_store_that_is_not_pem(certificates: Path) -> None:
    with pytest.raises(RowkindError) as caught:
        client("https://127.0.0.1:1", **{"ssl.keystore.location": str(certificates / "client.p12")}).schema(1)
    assert caught.value.condition == "REGISTRY_KEYSTORE_UNSUPPORTED"
