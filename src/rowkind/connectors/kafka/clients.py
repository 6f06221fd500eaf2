"""Making librdkafka clients, and turning what they report into named errors."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from rowkind.connectors.kafka.properties import Config, admin_config, consumer_config, producer_config, scrubbed
from rowkind.errors import RowkindError

T = TypeVar("T")
Properties = Mapping[str, str]

_LOG = logging.getLogger("rowkind.kafka")
_LOG.addHandler(logging.NullHandler())

AUTHENTICATION = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
        KafkaError.ILLEGAL_SASL_STATE,
    }
)
AUTHORIZATION = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
UNREACHABLE = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._WAIT_COORD,
        KafkaError.REQUEST_TIMED_OUT,
        # a broker that has just come back
        KafkaError._NOENT,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
    }
)


class Reports:
    """What a client reported in the background, newest last: connection, TLS and login failures."""

    def __init__(self) -> None:
        self.errors: deque[KafkaError] = deque(maxlen=20)

    def __call__(self, error: KafkaError) -> None:
        self.errors.append(error)

    @property
    def hopeless(self) -> KafkaError | None:
        """A failed login or TLS handshake: trying again does not help."""
        return next((e for e in self.errors if e.code() in AUTHENTICATION or e.code() == KafkaError._SSL), None)


def open_consumer(properties: Properties) -> tuple[Consumer, Reports]:
    return _opened(Consumer, consumer_config(properties), properties)


def open_producer(properties: Properties, **settings: Any) -> tuple[Producer, Reports]:
    """`settings` are librdkafka's own, such as a transactional id."""
    values = {**producer_config(properties).values, **settings}
    if "transactional.id" in settings:
        # a message may not be tried for longer than its transaction lives
        lifetime = int(values.get("transaction.timeout.ms", 60_000))
        values["delivery.timeout.ms"] = min(int(values["delivery.timeout.ms"]), lifetime)
    return _opened(Producer, Config(values), properties)


def open_admin(properties: Properties) -> tuple[AdminClient, Reports]:
    return _opened(AdminClient, admin_config(properties), properties)


def _opened(kind: Callable[..., T], config: Config, properties: Properties) -> tuple[T, Reports]:
    reports = Reports()
    try:
        return kind({**config.values, "error_cb": reports}, logger=_LOG), reports
    except (KafkaException, ValueError, TypeError) as error:
        text = str(error.args[0].str() if isinstance(error, KafkaException) else error)
        raise refused(text, properties) from None


def refused(reason: str, properties: Properties) -> RowkindError:
    """A client that cannot be made from its settings."""
    return RowkindError("KAFKA_CLIENT_REFUSED", reason=scrubbed(reason.rstrip("."), properties))


def servers(properties: Properties) -> str:
    return properties.get("bootstrap.servers", "(no bootstrap.servers)")


def named(error: KafkaError, properties: Properties, what: str, reports: Iterable[KafkaError] = ()) -> RowkindError:
    """The named error for a client's error; `reports` tell why a broker could not be reached."""
    causes = [e for e in (error, *reports) if e.code() != KafkaError._ALL_BROKERS_DOWN] or [error]
    for codes, condition in (
        (AUTHENTICATION, "KAFKA_AUTHENTICATION"),
        ({KafkaError._SSL}, "KAFKA_TLS"),
        (AUTHORIZATION, "KAFKA_AUTHORIZATION"),
    ):
        for cause in causes:
            if cause.code() in codes:
                return _error(condition, cause, properties, what)
    if error.code() in UNREACHABLE:
        return _error("KAFKA_UNREACHABLE", causes[-1], properties, what)
    return _error("KAFKA_FAILED", error, properties, what)


def _error(condition: str, cause: KafkaError, properties: Properties, what: str) -> RowkindError:
    reason = scrubbed(cause.str(), properties).rstrip(".")
    return RowkindError(condition, servers=servers(properties), what=what, reason=reason, code=cause.name())
