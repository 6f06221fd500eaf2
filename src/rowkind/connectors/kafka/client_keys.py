"""Every client key of the Kafka 4.3 documentation, and what becomes of it: librdkafka is the client here, not Java."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

CLIENT = "properties."
NATIVE = f"{CLIENT}rdkafka."


class Client(StrEnum):
    CONSUMER = "consumer"
    PRODUCER = "producer"
    ADMIN = "admin"


class Fate(StrEnum):
    MAPPED = "mapped"
    """Handed to librdkafka."""
    USED = "used"
    """Read by rowkind itself."""
    WITHOUT_EFFECT = "without effect"
    """Accepted with a warning: nothing here depends on it."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ClientKey:
    """One Java client key. `note` says why it has no effect, or what to use instead of a refused one."""

    name: str
    clients: tuple[Client, ...]
    fate: Fate
    targets: tuple[str, ...] = ()
    value: Callable[[str], str] = str
    note: str = ""
    harmless: tuple[str, ...] = ()
    """Values of a key that may stand without a word: they ask for what is done anyway."""
    secret: bool = False


C = (Client.CONSUMER,)
P = (Client.PRODUCER,)
A = (Client.ADMIN,)
CA = C + A
CP = C + P
CPA = C + P + A


def _same(clients: tuple[Client, ...], *names: str, secret: bool = False) -> list[ClientKey]:
    return [ClientKey(n, clients, Fate.MAPPED, (n,), secret=secret) for n in names]


def _renamed(clients: tuple[Client, ...], name: str, *targets: str, value: Callable[[str], str] = str) -> ClientKey:
    return ClientKey(name, clients, Fate.MAPPED, targets, value)


def _used(clients: tuple[Client, ...], *names: str, secret: bool = False) -> list[ClientKey]:
    return [ClientKey(n, clients, Fate.USED, secret=secret) for n in names]


def _idle(clients: tuple[Client, ...], note: str, *names: str, harmless: tuple[str, ...] = ()) -> list[ClientKey]:
    return [ClientKey(n, clients, Fate.WITHOUT_EFFECT, note=note, harmless=harmless) for n in names]


def _refused(clients: tuple[Client, ...], note: str, *names: str, harmless: tuple[str, ...] = ()) -> list[ClientKey]:
    return [ClientKey(n, clients, Fate.REFUSED, note=note, harmless=harmless) for n in names]


def _system_default(value: str) -> str:
    """-1 is Java's word for what librdkafka calls 0: the system's default, or no limit."""
    return "0" if value.strip().startswith("-") else value


def _kilobytes(value: str) -> str:
    return str(max(1, int(value) // 1024))


def _identification(value: str) -> str:
    return value.strip().lower() or "none"


_SERIALIZATION = "org.apache.kafka.common.serialization."
_JAVA_METRICS = "it tunes the Java client's own metrics; rowkind reports its own"
_MEMBERSHIP = "rowkind assigns partitions itself, so no consumer joins the group"
_COMMITS = "rowkind commits the group's offsets after each batch"
_JAVA_CLASS = "it names a Java class, and the client here is librdkafka"
_TOKEN_CHECK = "the broker checks the token, the client does not"
_TOKEN_REFRESH = "librdkafka renews a token when 80 % of its life is over"
_MANAGED_FORMAT = "(de)serializers are managed by rowkind: choose the format by 'key.format' and 'value.format'"

KEYS: tuple[ClientKey, ...] = (
    # connection
    *_same(CPA, "bootstrap.servers", "client.dns.lookup", "client.id", "reconnect.backoff.ms"),
    *_same(CPA, "reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms"),
    *_same(CPA, "socket.connection.setup.timeout.ms", "enable.metrics.push"),
    *_same(CPA, "metadata.recovery.strategy", "metadata.recovery.rebootstrap.trigger.ms"),
    _renamed(CPA, "connections.max.idle.ms", "connections.max.idle.ms", value=_system_default),
    _renamed(CPA, "metadata.max.age.ms", "topic.metadata.refresh.interval.ms"),
    _renamed(CPA, "receive.buffer.bytes", "socket.receive.buffer.bytes", value=_system_default),
    _renamed(CPA, "send.buffer.bytes", "socket.send.buffer.bytes", value=_system_default),
    _renamed(CA, "request.timeout.ms", "socket.timeout.ms"),
    _renamed(P, "request.timeout.ms", "request.timeout.ms", "socket.timeout.ms"),
    *_used(CA, "default.api.timeout.ms"),
    *_used(CP, "client.id.prefix"),
    *_idle(CPA, "librdkafka uses one connection timeout", "socket.connection.setup.timeout.max.ms"),
    *_idle(CPA, _JAVA_METRICS, "metric.reporters", "metrics.num.samples", "metrics.recording.level"),
    *_idle(CPA, _JAVA_METRICS, "metrics.sample.window.ms", "auto.include.jmx.reporter"),
    *_refused(A, "use 'properties.bootstrap.servers'", "bootstrap.controllers", harmless=("",)),
    *_refused(CPA, "put the value there, or a variable that the run fills in", "config.providers", harmless=("",)),
    *_refused(CP, f"{_JAVA_CLASS}; transform rows in SQL instead", "interceptor.classes", harmless=("",)),
    # producer
    *_same(P, "acks", "batch.size", "compression.type", "delivery.timeout.ms", "enable.idempotence", "linger.ms"),
    *_same(P, "max.in.flight.requests.per.connection", "transaction.timeout.ms", "retries"),
    _renamed(P, "buffer.memory", "queue.buffering.max.kbytes", value=_kilobytes),
    _renamed(P, "max.request.size", "message.max.bytes"),
    *_used(P, "max.block.ms", "compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
    *_used(P, "partitioner.ignore.keys"),
    *_idle(A, "admin requests are retried until 'default.api.timeout.ms' is over", "retries"),
    *_idle(P, "librdkafka forgets unused topics by itself", "metadata.max.idle.ms"),
    *_idle(P, "librdkafka spreads messages without a key at random", "partitioner.adaptive.partitioning.enable"),
    *_idle(P, "librdkafka spreads messages without a key at random", "partitioner.availability.timeout.ms"),
    *_refused(P, "use 'sink.partitioner'", "partitioner.class", harmless=("",)),
    *_refused(P, "use 'sink.transactional-id-prefix'", "transactional.id"),
    *_refused(P, "rowkind commits by itself", "transaction.two.phase.commit.enable", harmless=("false",)),
    *_refused(
        P, _MANAGED_FORMAT, "key.serializer", "value.serializer", harmless=(f"{_SERIALIZATION}ByteArraySerializer",)
    ),
    # consumer
    *_same(C, "check.crcs", "client.rack", "fetch.max.bytes", "fetch.min.bytes", "group.id", "isolation.level"),
    *_same(C, "max.partition.fetch.bytes"),
    _renamed(C, "fetch.max.wait.ms", "fetch.wait.max.ms"),
    *_used(C, "auto.offset.reset", "exclude.internal.topics", "commit.offsets.on.checkpoint"),
    *_idle(C, "rowkind does not create topics that it reads", "allow.auto.create.topics", harmless=("false",)),
    *_idle(C, _COMMITS, "auto.commit.interval.ms"),
    *_idle(C, _COMMITS, "enable.auto.commit", harmless=("false",)),
    *_idle(C, _MEMBERSHIP, "group.instance.id", "group.protocol", "group.remote.assignor", "heartbeat.interval.ms"),
    *_idle(C, _MEMBERSHIP, "max.poll.interval.ms", "partition.assignment.strategy", "session.timeout.ms"),
    *_idle(C, "a batch's size is set by the table's own options", "max.poll.records"),
    *_idle(C, "rowkind reads partitions, not share groups", "share.acknowledgement.mode", "share.acquire.mode"),
    *_idle(C, "it is internal to the Java client", "internal.throw.on.fetch.stable.offset.unsupported"),
    *_idle(C, "use 'scan.topic-partition-discovery.interval'", "partition.discovery.interval.ms"),
    *_idle(CP, _JAVA_METRICS, "register.consumer.metrics", "register.producer.metrics", "flink.disable-metrics"),
    *_refused(
        C,
        _MANAGED_FORMAT,
        *("key.deserializer", "value.deserializer"),
        harmless=(f"{_SERIALIZATION}ByteArrayDeserializer",),
    ),
    # SASL
    *_used(CPA, "security.protocol", "sasl.mechanism", "sasl.login.callback.handler.class"),
    *_used(CPA, "sasl.oauthbearer.jwt.retriever.class"),
    *_used(CPA, "sasl.jaas.config", secret=True),
    *_same(CPA, "sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin", "sasl.kerberos.service.name"),
    *_same(CPA, "sasl.oauthbearer.scope", "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.token.endpoint.url"),
    *_same(CPA, "sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.assertion.algorithm"),
    *_same(CPA, "sasl.oauthbearer.client.credentials.client.secret", secret=True),
    *_same(CPA, "sasl.oauthbearer.assertion.claim.aud", "sasl.oauthbearer.assertion.claim.exp.seconds"),
    *_same(CPA, "sasl.oauthbearer.assertion.claim.iss", "sasl.oauthbearer.assertion.claim.jti.include"),
    *_same(CPA, "sasl.oauthbearer.assertion.claim.nbf.seconds", "sasl.oauthbearer.assertion.claim.sub"),
    *_same(CPA, "sasl.oauthbearer.assertion.file", "sasl.oauthbearer.assertion.private.key.file"),
    *_same(CPA, "sasl.oauthbearer.assertion.private.key.passphrase", secret=True),
    _renamed(CPA, "sasl.oauthbearer.assertion.template.file", "sasl.oauthbearer.assertion.jwt.template.file"),
    *_idle(CPA, "librdkafka renews tickets by kinit", "sasl.kerberos.ticket.renew.jitter"),
    *_idle(CPA, "librdkafka renews tickets by kinit", "sasl.kerberos.ticket.renew.window.factor"),
    *_idle(CPA, _TOKEN_REFRESH, "sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms"),
    *_idle(CPA, _TOKEN_REFRESH, "sasl.login.refresh.buffer.seconds", "sasl.login.refresh.min.period.seconds"),
    *_idle(CPA, _TOKEN_REFRESH, "sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter"),
    *_idle(CPA, _TOKEN_REFRESH, "sasl.login.retry.backoff.max.ms", "sasl.login.retry.backoff.ms"),
    *_idle(CPA, _TOKEN_CHECK, "sasl.oauthbearer.clock.skew.seconds", "sasl.oauthbearer.expected.audience"),
    *_idle(CPA, _TOKEN_CHECK, "sasl.oauthbearer.expected.issuer", "sasl.oauthbearer.jwks.endpoint.refresh.ms"),
    *_idle(CPA, _TOKEN_CHECK, "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"),
    *_idle(CPA, _TOKEN_CHECK, "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"),
    *_idle(CPA, _TOKEN_CHECK, "sasl.oauthbearer.jwks.endpoint.url", "sasl.oauthbearer.jwt.validator.class"),
    *_idle(CPA, _TOKEN_CHECK, "sasl.oauthbearer.scope.claim.name"),
    *_refused(
        CPA,
        "librdkafka sends the credentials as they are; choose ones without special characters",
        "sasl.oauthbearer.header.urlencode",
        harmless=("false",),
    ),
    *_refused(CPA, f"{_JAVA_CLASS}; it logs in by itself", "sasl.client.callback.handler.class", "sasl.login.class"),
    # TLS
    *_used(CPA, "ssl.keystore.location", "ssl.keystore.type", "ssl.truststore.location", "ssl.truststore.type"),
    *_used(CPA, "ssl.keystore.password", "ssl.truststore.password", secret=True),
    *_same(CPA, "ssl.key.password", secret=True),
    ClientKey("ssl.keystore.key", CPA, Fate.MAPPED, ("ssl.key.pem",), secret=True),
    ClientKey("ssl.keystore.certificate.chain", CPA, Fate.MAPPED, ("ssl.certificate.pem",), secret=True),
    ClientKey("ssl.truststore.certificates", CPA, Fate.MAPPED, ("ssl.ca.pem",), secret=True),
    _renamed(
        CPA,
        "ssl.endpoint.identification.algorithm",
        "ssl.endpoint.identification.algorithm",
        value=_identification,
    ),
    *_idle(CPA, "OpenSSL agrees on TLS 1.2 or 1.3 with the broker", "ssl.enabled.protocols", "ssl.protocol"),
    *_idle(CPA, "OpenSSL does it its own way", "ssl.keymanager.algorithm", "ssl.trustmanager.algorithm"),
    *_idle(CPA, "OpenSSL does it its own way", "ssl.secure.random.implementation"),
    *_refused(
        CPA, "give OpenSSL's names in 'properties.rdkafka.ssl.cipher.suites'", "ssl.cipher.suites", harmless=("",)
    ),
    *_refused(CPA, "name OpenSSL providers in 'properties.rdkafka.ssl.providers'", "ssl.provider"),
    *_refused(CPA, "name OpenSSL providers in 'properties.rdkafka.ssl.providers'", "security.providers"),
    *_refused(CPA, f"{_JAVA_CLASS}; give PEM or PKCS12 files", "ssl.engine.factory.class"),
)


def key_of(name: str, client: Client) -> ClientKey | None:
    """What becomes of a key for one kind of client; None when that client does not know it."""
    return _BY_CLIENT[client].get(name)


@cache
def names() -> frozenset[str]:
    """Every key that a Java client has."""
    return frozenset(key.name for key in KEYS)


def declared(key: str) -> str:
    """The key of a table's option in its declared case.

    Of client keys only known ones are folded: the others are somebody else's. librdkafka's own are all in lower case.

    >>> declared("PROPERTIES.BOOTSTRAP.SERVERS"), declared("properties.My.Own")
    ('properties.bootstrap.servers', 'properties.My.Own')
    """
    lower = key.lower()
    if not lower.startswith(CLIENT) or lower.startswith(NATIVE) or lower.removeprefix(CLIENT) in names():
        return lower
    return CLIENT + key[len(CLIENT) :]


_BY_CLIENT = {client: {key.name: key for key in KEYS if client in key.clients} for client in Client}
