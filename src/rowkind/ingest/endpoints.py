"""Source and sink of a job as settings with types. Nothing in them that may be a secret is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from rowkind.connectors.kafka.sink_options import TOPIC_CONFIG, TOPIC_PARTITIONS, TOPIC_REPLICATION
from rowkind.connectors.settings import Guarantee
from rowkind.connectors.writing_options import DELIVERY_GUARANTEE
from rowkind.ingest import kafka_options as kafka
from rowkind.ingest import mysql_options as mysql
from rowkind.ingest.given import Given
from rowkind.ingest.modes import KeylessTables, StartMode, TlsMode
from rowkind.ingest.mysql_families import REQUIRE_SSL, SSL_MODE, USE_SSL, VERIFY_SERVER
from rowkind.ingest.selectors import Selectors, TablePattern, route_pattern
from rowkind.ingest.values import ChunkKey, ServerIds

SYSTEM_DATABASES = frozenset({"information_schema", "mysql", "performance_schema", "sys"})


@dataclass(frozen=True, slots=True)
class TableChoice:
    """Which tables are captured."""

    included: TablePattern
    excluded: Selectors | None = None

    def matches(self, database: str, table: str) -> bool:
        if database.lower() in SYSTEM_DATABASES or not self.included.matches(database, table):
            return False
        return self.excluded is None or not self.excluded.matches(database, table)


@dataclass(frozen=True, slots=True)
class Start:
    """Where reading starts; the fields of other modes are None."""

    mode: StartMode
    file: str | None = None
    position: int | None = None
    gtids: str | None = None
    timestamp_ms: int | None = None

    @property
    def copies(self) -> bool:
        """Whether all rows are read first."""
        return self.mode in (StartMode.INITIAL, StartMode.SNAPSHOT)


@dataclass(frozen=True, slots=True)
class Tls:
    """How the connection is protected; paths of PEM files."""

    mode: TlsMode = TlsMode.PREFERRED
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Chunks:
    """How tables are cut."""

    rows: int
    keys: tuple[ChunkKey, ...]
    even_upper: float
    even_lower: float

    def key_of(self, database: str, table: str) -> str | None:
        """The column that is set for a table."""
        return next((k.column for k in self.keys if k.tables.matches(database, table)), None)


@dataclass(frozen=True, slots=True)
class MysqlSource:
    name: str | None
    hostname: str = field(repr=False)
    port: int = field(repr=False)
    username: str = field(repr=False)
    password: str = field(repr=False)
    tables: TableChoice
    start: Start
    chunks: Chunks
    server_ids: ServerIds | None
    server_time_zone: str | None
    tls: Tls = field(repr=False)
    connect_timeout: timedelta
    connect_retries: int
    heartbeat: timedelta
    schema_changes: bool
    """Whether changes of a table's schema reach the sink."""
    newly_added: bool
    """At a restart, tables that match now are copied and followed."""
    binlog_newly_added: bool
    """Tables that are created while the job runs are followed."""
    metadata: tuple[str, ...]
    tinyint1_as_boolean: bool

    type = "mysql"


@dataclass(frozen=True, slots=True)
class Aliyun:
    """The control plane that creates topics of ApsaraMQ."""

    access_key_id: str = field(repr=False)
    access_key_secret: str = field(repr=False)
    instance_id: str = field(repr=False)
    endpoint: str = field(repr=False)
    region_id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Messages:
    """What the messages of tables look like, whatever becomes of them."""

    topic: str | None
    """One topic for all tables."""
    headers: bool
    keyless: KeylessTables
    json: Mapping[str, str]
    """Options of the json format by their names, defaults of ingestion included."""


@dataclass(frozen=True, slots=True)
class UpsertKafkaSink:
    name: str | None
    messages: Messages
    properties: Mapping[str, str] = field(repr=False)
    guarantee: Guarantee
    transactional_id_prefix: str | None
    topic_partitions: int | None
    topic_replication: int | None
    topic_config: Mapping[str, str]
    aliyun: Aliyun | None = field(repr=False)

    type = "upsert-kafka"


@dataclass(frozen=True, slots=True)
class PrintSink:
    name: str | None
    messages: Messages
    identifier: str | None
    standard_error: bool

    type = "print"


Sink = UpsertKafkaSink | PrintSink


def mysql_source(given: Given) -> MysqlSource:
    return MysqlSource(
        given.get(mysql.NAME),
        given[mysql.HOSTNAME],
        given[mysql.PORT],
        given[mysql.USERNAME],
        given[mysql.PASSWORD],
        _tables(given),
        _start(given),
        Chunks(
            given[mysql.CHUNK_SIZE], given.get(mysql.CHUNK_KEYS) or (), given[mysql.EVEN_UPPER], given[mysql.EVEN_LOWER]
        ),
        given.get(mysql.SERVER_ID),
        given.get(mysql.SERVER_TIME_ZONE),
        Tls(_tls_mode(given), given.get(mysql.SSL_CA), given.get(mysql.SSL_CERT), given.get(mysql.SSL_KEY)),
        given[mysql.CONNECT_TIMEOUT],
        given[mysql.CONNECT_RETRIES],
        given[mysql.HEARTBEAT],
        given[mysql.SCHEMA_CHANGE],
        given[mysql.NEWLY_ADDED],
        given[mysql.BINLOG_NEWLY_ADDED],
        given[mysql.METADATA],
        given[mysql.TINYINT1],
    )


def sink(type: str, given: Given) -> Sink:
    name = given.get(kafka.NAME)
    messages = Messages(given.get(kafka.TOPIC), given[kafka.HEADERS], given[kafka.KEYLESS], _json(given))
    if type == "print":
        return PrintSink(name, messages, given.get(kafka.IDENTIFIER), given[kafka.STANDARD_ERROR])
    return UpsertKafkaSink(
        name,
        messages,
        given.under(kafka.PROPERTIES),
        given[DELIVERY_GUARANTEE],
        given.get(kafka.TRANSACTIONAL_ID_PREFIX),
        given.get(TOPIC_PARTITIONS),
        given.get(TOPIC_REPLICATION),
        given.under(TOPIC_CONFIG),
        Aliyun(*(given[option] for option in kafka.ALIYUN)) if given.has(kafka.INSTANCE_ID) else None,
    )


def _tables(given: Given) -> TableChoice:
    included: TablePattern = given[mysql.TABLES]
    if given[mysql.BINLOG_NEWLY_ADDED]:
        included = route_pattern(included.text)
    return TableChoice(included, given.get(mysql.TABLES_EXCLUDE))


def _start(given: Given) -> Start:
    mode = given[mysql.STARTUP_MODE]
    if mode is StartMode.TIMESTAMP:
        return Start(mode, timestamp_ms=given[mysql.START_TIMESTAMP])
    if mode is not StartMode.SPECIFIC:
        return Start(mode)
    if given.has(mysql.OFFSET_GTIDS):
        return Start(mode, gtids=given[mysql.OFFSET_GTIDS])
    return Start(mode, given[mysql.OFFSET_FILE], given[mysql.OFFSET_POS])


def _tls_mode(given: Given) -> TlsMode:
    """As the JDBC driver reads its older properties: the newer one goes before them."""
    if (mode := given.get(SSL_MODE)) is not None:
        return mode
    if given.get(USE_SSL) is False:
        return TlsMode.DISABLED
    if given.get(VERIFY_SERVER) or given.has(mysql.SSL_CA):
        return TlsMode.VERIFY_CA
    return TlsMode.REQUIRED if given.get(REQUIRE_SSL) else TlsMode.PREFERRED


def _json(given: Given) -> dict[str, str]:
    values = {"encode.decimal-as-plain-number": "true"}
    for option in kafka.JSON:
        if option.name in given.settings:
            values[option.name.removeprefix("json.")] = given.settings[option.name].text.value
    return values
