"""Which option values must never be shown."""

from __future__ import annotations

from collections.abc import Mapping

MASK = "****"

_MARKS = (
    "password",
    "passwd",
    "secret",
    "jaas",
    "token",
    "user-info",
    "userinfo",
    "credential",
    "passphrase",
    "api-key",
)
_ENDS = ("ssl.keystore.key", "ssl.key.pem", "ssl.keystore.certificate.chain", "authorization")


def is_secret(key: str) -> bool:
    """Whether the value of this option or client property is shown as `****`.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("properties.group.id")
    (True, False)
    """
    lower = key.lower()
    return any(mark in lower for mark in _MARKS) or lower.endswith(_ENDS)


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """The options with every secret replaced."""
    return {key: MASK if is_secret(key) else value for key, value in options.items()}
