"""Which option values must never be shown."""

from __future__ import annotations

from collections.abc import Mapping

MASK = "****"

_MARKS = (
    *("password", "passwd", "passphrase", "secret", "credential", "token", "jaas", "oauthbearer.config"),
    *("user-info", "userinfo", "api-key", "api.key", "keystore.key", "authorization"),
)


def is_secret(key: str) -> bool:
    """Whether the value of this option or client property is shown as `****`.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("properties.group.id")
    (True, False)
    """
    lower = key.lower()
    return any(mark in lower for mark in _MARKS) or lower.endswith(".pem")


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """The options with every secret replaced."""
    return {key: MASK if is_secret(key) else value for key, value in options.items()}
