"""Key and trust stores of `ssl.*`: PEM and PKCS12 as they are; JKS is refused with the command that converts it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rowkind.errors import RowkindError


def store_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """The librdkafka settings for `ssl.keystore.*` and `ssl.truststore.*`."""
    return {**_key_store(properties), **_trust_store(properties)}


def _key_store(properties: Mapping[str, str]) -> dict[str, str]:
    location = properties.get("ssl.keystore.location", "")
    if not location:
        return {}
    if _kind(location, "keystore", properties) == "PEM":
        return {"ssl.key.location": location, "ssl.certificate.location": location}
    return {"ssl.keystore.location": location, "ssl.keystore.password": properties.get("ssl.keystore.password", "")}


def _trust_store(properties: Mapping[str, str]) -> dict[str, str]:
    location = properties.get("ssl.truststore.location", "")
    if not location:
        return {}
    if _kind(location, "truststore", properties) == "PEM":
        return {"ssl.ca.location": location}
    password = properties.get("ssl.truststore.password", "")
    return {"ssl.ca.pem": _certificates(location, os.stat(location).st_mtime_ns, password)}


def _kind(location: str, store: str, properties: Mapping[str, str]) -> str:
    """PEM or PKCS12, by the file's first bytes: Java itself reads a PKCS12 file that is declared as JKS."""
    try:
        with Path(location).open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise RowkindError(
            "KAFKA_STORE_UNREADABLE", key=f"ssl.{store}.location", path=location, reason=error.strerror
        ) from error
    if b"-----BEGIN" in head:
        return "PEM"
    if head[:1] == b"\x30":
        return "PKCS12"
    declared = properties.get(f"ssl.{store}.type", "JKS")
    raise RowkindError("KAFKA_STORE_UNSUPPORTED", key=f"ssl.{store}.location", path=location, type=declared)


@cache
def _certificates(location: str, changed: int, password: str) -> str:
    """The certificates of a PKCS12 trust store as PEM: librdkafka takes no other form, keytool reads it."""
    keytool = _keytool()
    if not keytool:
        raise RowkindError("KAFKA_KEYTOOL_MISSING", path=location)
    command = [keytool, "-list", "-rfc", "-storetype", "PKCS12", "-keystore", location, "-storepass:env", "STOREPASS"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "STOREPASS": password})
    found = re.findall(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", done.stdout, re.DOTALL)
    if not found:
        reason = (done.stdout + done.stderr).strip().splitlines() or ["it holds no certificate"]
        raise RowkindError(
            "KAFKA_STORE_UNREADABLE", key="ssl.truststore.location", path=location, reason=reason[0][:200]
        )
    return "\n".join(found) + "\n"


def _keytool() -> str | None:
    home = os.environ.get("JAVA_HOME")
    beside = Path(home, "bin", "keytool") if home else None
    return str(beside) if beside and beside.exists() else shutil.which("keytool")
