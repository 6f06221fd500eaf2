"""`properties.*` of a table, which are the Java client's, as configurations of librdkafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rowkind.connectors.kafka.client_keys import Client, ClientKey, Fate, key_of, names
from rowkind.connectors.kafka.security import security_settings
from rowkind.errors import RowkindError, nearest
from rowkind.options import secrets

NATIVE = "rdkafka."
"""`properties.rdkafka.<name>` reaches librdkafka as it is."""

_DEFAULTS: dict[Client, dict[str, Any]] = {
    Client.CONSUMER: {
        "group.id": "rowkind",
        "isolation.level": "read_committed",
        # librdkafka drops what it fetched beyond these bounds and waits before it fetches again
        "queued.max.messages.kbytes": 32768,
        "fetch.queue.backoff.ms": 5,
    },
    Client.PRODUCER: {
        "enable.idempotence": "true",
        "acks": "all",
        "partitioner": "murmur2_random",
        "delivery.timeout.ms": "120000",
        "queue.buffering.max.messages": 200_000,
        "queue.buffering.max.kbytes": 65536,
    },
    Client.ADMIN: {},
}
_MANAGED: dict[Client, dict[str, Any]] = {
    Client.CONSUMER: {
        "auto.offset.reset": "error",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "max.poll.interval.ms": 86_400_000,
    },
    Client.PRODUCER: {"delivery.report.only.error": True},
    Client.ADMIN: {},
}
_RESERVED = {name for managed in _MANAGED.values() for name in managed} | {"transactional.id"}


@dataclass(frozen=True, slots=True)
class Config:
    """A client's librdkafka settings, and one warning for each property that has no effect on it."""

    values: dict[str, Any] = field(repr=False)
    warnings: list[str] = field(default_factory=list)


def consumer_config(properties: Mapping[str, str]) -> Config:
    return _config(properties, Client.CONSUMER)


def producer_config(properties: Mapping[str, str]) -> Config:
    config = _config(properties, Client.PRODUCER)
    config.values.update(_compression_level(properties))
    if properties.get("partitioner.ignore.keys", "").strip().lower() == "true":
        config.values["partitioner"] = "random"
    _relax_idempotence(properties, config)
    return config


def admin_config(properties: Mapping[str, str]) -> Config:
    return _config(properties, Client.ADMIN)


def check(properties: Mapping[str, str]) -> list[str]:
    """Look at every property as every client would; raise for a bad one, and return each warning once."""
    configs = (consumer_config(properties), producer_config(properties), admin_config(properties))
    return list(dict.fromkeys(warning for config in configs for warning in config.warnings))


def masked(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with every secret value hidden, for messages and listings."""
    return {name: secrets.MASK if is_secret(name) else value for name, value in properties.items()}


def is_secret(name: str) -> bool:
    """Whether a property's value must not be shown, by its declaration or, unknown ones, by its name."""
    return any(k is not None and k.secret for k in _keys(name)) or secrets.is_secret(name)


def scrubbed(text: str, properties: Mapping[str, str]) -> str:
    """A client library's message without the secrets it may quote."""
    for name, value in properties.items():
        if is_secret(name) and value:
            text = text.replace(value, secrets.MASK)
    return text


def _config(properties: Mapping[str, str], client: Client) -> Config:
    values, warnings = dict(_DEFAULTS[client]), []
    native = {n.removeprefix(NATIVE): v for n, v in properties.items() if n.startswith(NATIVE)}
    for name, value in properties.items():
        if not name.startswith(NATIVE):
            key = key_of(name, client)
            if key is not None:
                values.update(_mapped(key, value))
                warnings += _warning(key, value)
            elif not any(_keys(name)):
                warnings.append(_unknown(name))
    if reserved := _RESERVED & native.keys():
        raise RowkindError("KAFKA_PROPERTY_REFUSED", key=f"{NATIVE}{min(reserved)}", note="rowkind sets it itself")
    values |= _client_id(properties) | security_settings(properties) | native | _MANAGED[client]
    _widen_backoff(values)
    return Config(values, warnings)


def _widen_backoff(values: dict[str, Any]) -> None:
    """Java lets a backoff stand above its own maximum, librdkafka does not."""
    for kind, maximum in (("retry", 1000), ("reconnect", 10_000)):
        least = int(values.get(f"{kind}.backoff.ms", 0))
        if least > int(values.get(f"{kind}.backoff.max.ms", maximum)):
            values[f"{kind}.backoff.max.ms"] = least


def _unknown(name: str) -> str:
    """A table's properties serve all clients, so only a key that none of them has is worth a word."""
    close = nearest(name, sorted(names()))
    native = f"; a setting that only librdkafka knows is written 'properties.{NATIVE}{name}'"
    return f"'properties.{name}' has no effect: no Kafka client has such a property{close or native}"


def _keys(name: str) -> list[ClientKey | None]:
    return [key_of(name, client) for client in Client]


def _mapped(key: ClientKey, value: str) -> dict[str, Any]:
    if key.fate is Fate.REFUSED and value.strip() not in key.harmless:
        raise RowkindError("KAFKA_PROPERTY_REFUSED", key=key.name, note=key.note)
    if key.fate is Fate.USED and key.name.endswith((".ms", ".level")) and not value.strip().lstrip("-").isdigit():
        raise RowkindError("KAFKA_PROPERTY_VALUE", key=key.name, value=value, reason="not a whole number")
    if key.fate is not Fate.MAPPED:
        return {}
    try:
        translated = key.value(value.strip())
    except ValueError as error:
        raise RowkindError("KAFKA_PROPERTY_VALUE", key=key.name, value=value, reason="not a whole number") from error
    return dict.fromkeys(key.targets, translated)


def _warning(key: ClientKey, value: str) -> list[str]:
    if key.fate is not Fate.WITHOUT_EFFECT or value.strip() in key.harmless:
        return []
    return [f"'properties.{key.name}' has no effect: {key.note}"]


def _client_id(properties: Mapping[str, str]) -> dict[str, Any]:
    prefix = properties.get("client.id.prefix") or properties.get("group.id") or "rowkind"
    return {} if "client.id" in properties else {"client.id": prefix}


def _compression_level(properties: Mapping[str, str]) -> dict[str, Any]:
    kind = properties.get("compression.type", "none").strip().lower()
    level = properties.get(f"compression.{kind}.level")
    if level is None:
        return {}
    # lz4 has 17 levels in Java, 12 in librdkafka
    return {"compression.level": str(min(int(level), 12)) if kind == "lz4" else level}


def _relax_idempotence(properties: Mapping[str, str], config: Config) -> None:
    """As in Java: settings that idempotence cannot live with switch it off, unless it was asked for in words."""
    if "enable.idempotence" in properties or f"{NATIVE}enable.idempotence" in properties:
        return
    conflicts = {
        "acks": config.values["acks"] not in ("all", "-1"),
        "retries": config.values.get("retries") == "0",
        "max.in.flight.requests.per.connection": int(config.values.get("max.in.flight.requests.per.connection", 1)) > 5,
    }
    reasons = [f"'properties.{name}'" for name, conflict in conflicts.items() if conflict]
    if reasons:
        config.values["enable.idempotence"] = "false"
        config.warnings.append(
            f"{' and '.join(reasons)} switch idempotence off: a retry may then write a message twice or out of order"
        )
