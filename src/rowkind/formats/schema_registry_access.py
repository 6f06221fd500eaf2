"""How a schema registry is reached: addresses, credentials and TLS, read from the options of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from rowkind.errors import RowkindError
from rowkind.formats.contract import FormatChoice
from rowkind.options.declarations import Option, text

OPTIONS: tuple[Option[Any], ...] = (
    Option(
        "url",
        text,
        "string",
        None,
        "Address of the schema registry. Several, separated by commas, are tried in turn.",
        fallbacks=("schema-registry.url",),
        required="yes",
    ),
    Option(
        "subject",
        text,
        "string",
        None,
        "Subject that a sink registers its schema under; with one topic `<topic>-value` or `<topic>-key`.",
        fallbacks=("schema-registry.subject",),
    ),
    Option(
        "schema",
        text,
        "string",
        None,
        "Avro schema to use instead of the one derived from the columns; it must have the table's types.",
        fallbacks=("schema-registry.schema",),
    ),
    Option("ssl.keystore.location", text, "string", None, "PEM file with the client's key and certificate."),
    Option("ssl.keystore.password", text, "string", None, "Password of the client's key.", secret=True),
    Option("ssl.truststore.location", text, "string", None, "PEM or PKCS12 file with the certificates to trust."),
    Option("ssl.truststore.password", text, "string", None, "Password of a PKCS12 trust store.", secret=True),
    Option("basic-auth.credentials-source", text, "string", None, "USER_INFO, URL or SASL_INHERIT."),
    Option("basic-auth.user-info", text, "string", None, "`user:password`.", secret=True),
    Option("bearer-auth.credentials-source", text, "string", None, "STATIC_TOKEN."),
    Option("bearer-auth.token", text, "string", None, "The token.", secret=True),
    Option(
        "properties.*",
        text,
        "map",
        None,
        "Further settings by the names of Confluent's client, such as `properties.bearer.auth.token`; "
        "the options above win over them.",
    ),
)
_NAMES = {
    "ssl.keystore.location": "ssl.keystore.location",
    "ssl.keystore.password": "ssl.keystore.password",
    "ssl.truststore.location": "ssl.truststore.location",
    "ssl.truststore.password": "ssl.truststore.password",
    "basic-auth.credentials-source": "basic.auth.credentials.source",
    "basic-auth.user-info": "basic.auth.user.info",
    "bearer-auth.credentials-source": "bearer.auth.credentials.source",
    "bearer-auth.token": "bearer.auth.token",
}
_KNOWN = {*_NAMES.values(), "sasl.jaas.config", "ssl.key.password", "ssl.keystore.type", "ssl.truststore.type"}


@dataclass(frozen=True, slots=True)
class RegistryAccess:
    """Everything a client of the registry needs; equal ones share a client."""

    urls: tuple[str, ...]
    user: tuple[str, str] | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    stores: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`ssl.*` settings of key and trust store."""

    @classmethod
    def of(cls, choice: FormatChoice) -> RegistryAccess:
        """Read and check the options; errors name the table."""
        table = choice.context.table
        if not choice.options.get("url"):
            raise RowkindError("REGISTRY_URL_MISSING", table=table, format=choice.name)
        settings = _settings(choice)
        addresses = [a.strip() for a in choice.options["url"].split(",") if a.strip()]
        for address in addresses:
            if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
                raise RowkindError("REGISTRY_URL_INVALID", table=table, url=_without_user(address))
        stores = tuple((k, v) for k, v in settings.items() if k.startswith("ssl."))
        urls = tuple(_without_user(a).rstrip("/") for a in addresses)
        return cls(urls, _user(settings, addresses[0], table), _token(settings, table), stores)


def _settings(choice: FormatChoice) -> dict[str, str]:
    """By the names of Confluent's client, whose prefix `schema.registry.` may be left out."""
    given: Mapping[str, str] = choice.options.get("properties.*") or {}
    settings = {k.removeprefix("schema.registry."): v for k, v in given.items()}
    for name in settings:
        if name not in _KNOWN:
            known = ", ".join(sorted(_KNOWN))
            raise RowkindError("REGISTRY_PROPERTY_UNKNOWN", table=choice.context.table, property=name, known=known)
    for option, name in _NAMES.items():
        if (value := choice.options.get(option)) is not None:
            settings[name] = value
    return settings


def _user(settings: Mapping[str, str], address: str, table: str) -> tuple[str, str] | None:
    source = settings.get("basic.auth.credentials.source", "").upper()
    if source and settings.get("bearer.auth.credentials.source"):
        raise RowkindError("REGISTRY_TWO_CREDENTIALS", table=table)
    inline = urlsplit(address)
    match source:
        case "USER_INFO" | "":
            info = settings.get("basic.auth.user.info")
            if info:
                name, _, password = info.partition(":")
                return name, password
            if source:
                raise RowkindError("REGISTRY_CREDENTIALS_MISSING", table=table, source=source)
        case "SASL_INHERIT":
            return _jaas(settings.get("sasl.jaas.config", ""), table)
        case "URL":
            if inline.username is None:
                raise RowkindError("REGISTRY_CREDENTIALS_MISSING", table=table, source=source)
        case _:
            raise RowkindError("REGISTRY_CREDENTIALS_UNKNOWN", table=table, source=source)
    return None if inline.username is None else (unquote(inline.username), unquote(inline.password or ""))


def _jaas(config: str, table: str) -> tuple[str, str]:
    found = {m[1]: m[2] for m in re.finditer(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"', config)}
    if len(found) != 2:
        raise RowkindError("REGISTRY_CREDENTIALS_MISSING", table=table, source="SASL_INHERIT")
    return re.sub(r"\\(.)", r"\1", found["username"]), re.sub(r"\\(.)", r"\1", found["password"])


def _token(settings: Mapping[str, str], table: str) -> str | None:
    source = settings.get("bearer.auth.credentials.source", "STATIC_TOKEN").upper()
    if source != "STATIC_TOKEN":
        raise RowkindError("REGISTRY_CREDENTIALS_UNKNOWN", table=table, source=source)
    token = settings.get("bearer.auth.token")
    if token is None and "bearer.auth.credentials.source" in settings:
        raise RowkindError("REGISTRY_CREDENTIALS_MISSING", table=table, source=source)
    return token


def _without_user(address: str) -> str:
    """Also of what is no address: all in front of an @ may be a login."""
    parts = urlsplit(address)
    if not parts.netloc:
        return address.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
