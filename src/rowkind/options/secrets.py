"""Which option values must never be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

MASK = "****"
_LOGIN = re.compile(r"//[^/@\s]+@")
_ASSIGNED = re.compile(r"('(?P<key>[^']*)'\s*=\s*')(?P<value>(?:[^']|'')*)")

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
    """The options with every secret replaced, and the login inside an address too."""
    return {key: MASK if is_secret(key) else _LOGIN.sub(f"//{MASK}@", value) for key, value in options.items()}


def masked_text(text: str) -> str:
    """A piece of SQL with the values of secret options crossed out, each character by one, so that columns stay.

    >>> masked_text("'topic' = 'a', 'properties.ssl.key.password' = 'b1'")
    "'topic' = 'a', 'properties.ssl.key.password' = '**'"
    """

    def crossed(found: re.Match[str]) -> str:
        value = found["value"]
        return found[1] + ("*" * len(value) if is_secret(found["key"]) or _LOGIN.search(value) else value)

    return _ASSIGNED.sub(crossed, text)
