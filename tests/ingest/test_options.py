"""Every option of spec 1.5, 2.1, 3.1 and 3.2: taken, named as meaningless, or refused; and rules across them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError
from rowkind.ingest.document import PAGE, page
from rowkind.ingest.endpoints import Messages
from rowkind.ingest.kafka_options import PRINT, UPSERT_KAFKA
from rowkind.ingest.modes import Behavior, JobMode, KeylessTables, RouteMode, StartMode, TlsMode
from rowkind.ingest.mysql_options import MYSQL
from rowkind.ingest.pipeline_options import PIPELINE, ROUTE, TRANSFORM
from tests.ingest.jobs import ALIYUN, job

RULE = {"source-table": r"shop.\.*"}


def condition(**given: Any) -> str:
    """The name of the error that a job ends with, and what it says."""
    with pytest.raises(RowkindError) as caught:
        job(**given)
    return f"{caught.value.condition} {caught.value}"


SOURCE = [
    ("port", "3307", lambda s: s.port == 3307),
    ("tables.exclude", "shop.audit", lambda s: not s.tables.matches("shop", "audit")),
    ("schema-change.enabled", "false", lambda s: not s.schema_changes),
    ("server-id", "5400", lambda s: len(s.server_ids) == 1),
    ("server-id", "5400-5408", lambda s: len(s.server_ids) == 9),
    ("server-id", " 5400 - 5408 ", lambda s: (s.server_ids.first, s.server_ids.last) == (5400, 5408)),
    ("server-time-zone", "Asia/Shanghai", lambda s: s.server_time_zone == "Asia/Shanghai"),
    ("server-time-zone", "+08:00", lambda s: s.server_time_zone == "+08:00"),
    ("scan.startup.mode", "INITIAL", lambda s: s.start.mode is StartMode.INITIAL),
    ("scan.startup.mode", "earliest-offset", lambda s: s.start.mode is StartMode.EARLIEST and not s.start.copies),
    ("scan.startup.mode", "Latest-Offset", lambda s: s.start.mode is StartMode.LATEST),
    ("scan.startup.mode", "snapshot", lambda s: s.start.mode is StartMode.SNAPSHOT and s.start.copies),
    ("scan.incremental.snapshot.chunk.size", "2", lambda s: s.chunks.rows == 2),
    ("scan.incremental.snapshot.chunk.key-column", r"shop.o\.*:id;shop.b:k;", lambda s: len(s.chunks.keys) == 2),
    (
        "scan.incremental.snapshot.chunk.key-column",
        "Shop.Orders:id",
        lambda s: s.chunks.key_of("shop", "orders") == "id",
    ),
    ("scan.incremental.snapshot.chunk.key-column", "shop.orders:id", lambda s: s.chunks.key_of("shop", "x") is None),
    ("chunk-key.even-distribution.factor.upper-bound", "1.0", lambda s: s.chunks.even_upper == 1.0),
    ("chunk-key.even-distribution.factor.lower-bound", "0", lambda s: s.chunks.even_lower == 0.0),
    ("connect.timeout", "250 ms", lambda s: s.connect_timeout == timedelta(milliseconds=250)),
    ("connect.max-retries", "1", lambda s: s.connect_retries == 1),
    ("heartbeat.interval", "0", lambda s: s.heartbeat == timedelta(0)),
    ("scan.newly-added-table.enabled", "true", lambda s: s.newly_added),
    ("scan.binlog.newly-added-table.enabled", "true", lambda s: s.binlog_newly_added),
    ("metadata.list", "op_ts", lambda s: s.metadata == ("op_ts",)),
    ("treat-tinyint1-as-boolean.enabled", "false", lambda s: not s.tinyint1_as_boolean),
    ("jdbc.properties.sslMode", "verify_identity", lambda s: s.tls.mode is TlsMode.VERIFY_IDENTITY),
    ("jdbc.properties.useSSL", "false", lambda s: s.tls.mode is TlsMode.DISABLED),
    ("jdbc.properties.useSSL", "true", lambda s: s.tls.mode is TlsMode.PREFERRED),
    ("jdbc.properties.requireSSL", "true", lambda s: s.tls.mode is TlsMode.REQUIRED),
    ("jdbc.properties.verifyServerCertificate", "true", lambda s: s.tls.mode is TlsMode.VERIFY_CA),
    ("ssl.ca", "/ca.pem", lambda s: s.tls.ca == "/ca.pem" and s.tls.mode is TlsMode.VERIFY_CA),
    ("ssl.cert", "/c.pem", lambda s: s.tls.certificate == "/c.pem"),
    ("ssl.key", "/k.pem", lambda s: s.tls.key == "/k.pem"),
    ("HostName", "db2", lambda s: s.hostname == "db2"),
    ("name", "orders", lambda s: s.name == "orders"),
]


@pytest.mark.parametrize(("option", "value", "holds"), SOURCE, ids=[f"{o}: {v}" for o, v, _ in SOURCE])
def test_options_of_the_source(option: str, value: str, holds: Any) -> None:
    removed = {"hostname": None} if option == "HostName" else {}
    made = job(source=removed | {option: value})
    assert holds(made.source)
    assert [n for n in made.notes if "no effect" in n] == []


def test_defaults_of_the_source() -> None:
    source = job().source
    assert (source.port, source.start.mode, source.chunks.rows) == (3306, StartMode.INITIAL, 8096)
    assert (source.chunks.even_upper, source.chunks.even_lower) == (1000.0, 0.05)
    assert (source.connect_timeout, source.connect_retries) == (timedelta(seconds=30), 3)
    assert source.heartbeat == timedelta(seconds=30)
    assert (source.schema_changes, source.tinyint1_as_boolean) == (True, True)
    assert (source.newly_added, source.binlog_newly_added, source.metadata) == (False, False, ())
    assert (source.server_ids, source.server_time_zone, source.tls.mode) == (None, "UTC", TlsMode.PREFERRED)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("hostname", " "),
        ("port", "0"),
        ("port", "65536"),
        ("port", "x"),
        ("server-id", "a"),
        ("server-id", "5408-5400"),
        ("server-id", "0"),
        ("server-id", "5400-5408-5410"),
        ("server-id", "4294967296"),
        ("server-time-zone", "Mars/Base"),
        ("scan.startup.mode", "never"),
        ("scan.startup.timestamp-millis", "-1"),
        ("scan.incremental.snapshot.chunk.size", "1"),
        ("scan.snapshot.fetch.size", "1"),
        ("scan.incremental.snapshot.chunk.key-column", "shop.orders"),
        ("scan.incremental.snapshot.chunk.key-column", "shop.orders:a:b"),
        ("scan.incremental.snapshot.chunk.key-column", "orders:a"),
        ("chunk-meta.group.size", "1"),
        ("chunk-key.even-distribution.factor.upper-bound", "0.5"),
        ("chunk-key.even-distribution.factor.upper-bound", "nan"),
        ("chunk-key.even-distribution.factor.lower-bound", "1.5"),
        ("chunk-key.even-distribution.factor.lower-bound", "x"),
        ("connect.max-retries", "0"),
        ("connect.timeout", "soon"),
        ("connection.pool.size", "1"),
        ("metadata.list", "op_ts,table_name"),
        ("schema-change.enabled", "maybe"),
        ("tables", " , "),
        ("jdbc.properties.sslMode", "SOME"),
    ],
)
def test_bad_values_of_the_source(option: str, value: str) -> None:
    found = condition(source={option: value})
    assert found.startswith("INGEST_OPTION_VALUE")
    assert option in found


IDLE = [
    ("source", "scan.snapshot.fetch.size", "2000", "1024"),
    ("source", "scan.incremental.snapshot.unbounded-chunk-first.enabled", "true", "false"),
    ("source", "scan.incremental.snapshot.backfill.skip", "true", "false"),
    ("source", "scan.incremental.close-idle-reader.enabled", "true", "false"),
    ("source", "chunk-meta.group.size", "500", "1000"),
    ("source", "connection.pool.size", "2", "20"),
    ("source", "include-comments.enabled", "true", "false"),
    ("source", "use.legacy.json.format", "false", "true"),
    ("source", "scan.only.deserialize.captured.tables.changelog.enabled", "false", "true"),
    ("source", "scan.parallel-deserialize-changelog.enabled", "true", "false"),
    ("source", "ingestion.error-tolerance.max-count", "5", "-1"),
    ("source", "jdbc.properties.allowPublicKeyRetrieval", "true", None),
    ("source", "debezium.max.queue.size", "8192", None),
    ("source", "debezium.max.batch.size", "2048", None),
    ("source", "debezium.poll.interval.ms", "1000", None),
    ("pipeline", "schema.operator.uid", "a", None),
    ("pipeline", "operator.uid.prefix", "a", None),
    ("pipeline", "schema-operator.rpc-timeout", "1 min", "3 min"),
    ("pipeline", "transform.decimal.precision.mode", "UP_TO_38", "up_to_19"),
    ("transform", "partition-keys", "a,b", None),
    ("transform", "table-options", "a=b", None),
    ("transform", "table-options.delimiter", ";", ","),
]


@pytest.mark.parametrize(("section", "option", "value", "default"), IDLE, ids=[i[1] for i in IDLE])
def test_without_effect(section: str, option: str, value: str, default: str | None) -> None:
    """Named once, with its place; a value that asks for the default needs no word."""

    def about(value: str) -> list[str]:
        given = [{**RULE, option: value}] if section == "transform" else {option: value}
        return [note for note in job(**{section: given}).notes if option in note]

    (note,) = about(value)
    assert "has no effect" in note
    assert "job.yaml, line" in note
    assert default is None or about(default) == []


REFUSED = [
    ("source", "scan.startup.specific-offset.skip-events", "3", "0"),
    ("source", "scan.startup.specific-offset.skip-rows", "3", "0"),
    ("source", "scan.parse.online.schema.changes.enabled", "true", "false"),
    ("source", "scan.read-changelog-as-append-only.enabled", "true", "false"),
    ("source", "ingestion.ignore-errors", "true", "false"),
    ("source", "rds.region-id", "cn", None),
    ("source", "rds.access-key-secret", "hunter2", None),
    ("source", "rds.download.timeout", "60 s", None),
    ("source", "using.built-in-catalog", "c", None),
    ("source", "jdbc.properties.serverTimezone", "UTC", None),
    ("source", "jdbc.properties.zeroDateTimeBehavior", "round", "convertToNull"),
    ("source", "jdbc.properties.trustCertificateKeyStorePassword", "hunter2", None),
    ("source", "debezium.table.include.list", "a", None),
    ("source", "debezium.column.mask.hash.sha256.with.salt.x", "a", None),
    ("source", "debezium.decimal.handling.mode", "string", None),
    ("source", "debezium.event.processing.failure.handling.mode", "skip", "fail"),
    ("source", "DEBEZIUM.Snapshot.Mode", "never", None),
    ("sink", "key.format", "json", None),
    ("sink", "value.format", "debezium-json", None),
    ("sink", "debezium-json.include-schema.enabled", "true", None),
    ("sink", "canal-json.encode.ignore-null-fields", "true", None),
    ("sink", "partition.strategy", "hash-by-key", None),
    ("sink", "sink.tableId-to-topic.mapping", "a.b:c", None),
    ("sink", "sink.custom-header", "a:b", None),
    ("sink", "using.built-in-catalog", "c", None),
    ("pipeline", "sink.partitioning.strategy", "TABLE_ID", "PRIMARY_KEY"),
    ("pipeline", "user-defined-function", "f", None),
    ("pipeline", "model", "m", None),
    ("pipeline", "dirty-data.collector", "d", None),
]


@pytest.mark.parametrize(("section", "option", "value", "harmless"), REFUSED, ids=[r[1] for r in REFUSED])
def test_refused(section: str, option: str, value: str, harmless: str | None) -> None:
    found = condition(**{section: {option: value}})
    assert found.startswith("INGEST_NOT_SUPPORTED")
    assert option in found
    assert "hunter" not in found
    if harmless is not None:
        assert [n for n in job(**{section: {option: harmless}}).notes if option in n] == []


SINK = [
    ("name", "orders", lambda s: s.name == "orders"),
    ("topic", "all-tables", lambda s: s.messages.topic == "all-tables"),
    ("sink.delivery-guarantee", "none", lambda s: s.guarantee is Guarantee.NONE),
    ("sink.delivery-guarantee", "Exactly-Once", lambda s: s.guarantee is Guarantee.EXACTLY_ONCE),
    ("sink.add-tableId-to-header-enabled", "true", lambda s: s.messages.headers),
    ("SINK.ADD-TABLEID-TO-HEADER-ENABLED", "true", lambda s: s.messages.headers),
    ("sink.tables-without-key", "skip", lambda s: s.messages.keyless is KeylessTables.SKIP),
    ("sink.topic.partitions", "6", lambda s: s.topic_partitions == 6),
    ("sink.topic.replication-factor", "3", lambda s: s.topic_replication == 3),
    ("sink.topic.config.retention.ms", "1", lambda s: s.topic_config == {"retention.ms": "1"}),
    ("properties.linger.ms", "5", lambda s: s.properties["linger.ms"] == "5"),
    ("PROPERTIES.Linger.MS", "5", lambda s: s.properties["linger.ms"] == "5"),
    ("properties.request.timeout.ms", "5", lambda s: "request.timeout.ms" in s.properties),
    (
        "json.timestamp-format.standard",
        "ISO-8601",
        lambda s: s.messages.json["timestamp-format.standard"] == "ISO-8601",
    ),
    ("json.map-null-key.mode", "LITERAL", lambda s: s.messages.json["map-null-key.mode"] == "LITERAL"),
    ("json.map-null-key.literal", "x", lambda s: s.messages.json["map-null-key.literal"] == "x"),
    ("json.encode.ignore-null-fields", "true", lambda s: s.messages.json["encode.ignore-null-fields"] == "true"),
    (
        "json.encode.decimal-as-plain-number",
        "false",
        lambda s: s.messages.json["encode.decimal-as-plain-number"] == "false",
    ),
]


@pytest.mark.parametrize(("option", "value", "holds"), SINK, ids=[f"{o}: {v}" for o, v, _ in SINK])
def test_options_of_the_sink(option: str, value: str, holds: Any) -> None:
    made = job(sink={option: value})
    assert holds(made.sink)
    assert [n for n in made.notes if "no effect" in n] == []


def test_defaults_of_the_sink() -> None:
    sink: Any = job().sink
    assert (sink.guarantee, sink.aliyun, sink.topic_partitions) == (Guarantee.AT_LEAST_ONCE, None, None)
    assert sink.topic_config == {}
    plain = {"encode.decimal-as-plain-number": "true"}
    assert sink.messages == Messages(None, False, KeylessTables.FAIL, plain)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"sink.delivery-guarantee": "twice"}, "INGEST_OPTION_VALUE"),
        ({"properties.bootstrap.servers": None}, "INGEST_MISSING_OPTION"),
        ({"json.ignore-parse-errors": "true"}, "INGEST_UNKNOWN_OPTION"),
        ({"sink.parallelism": "2"}, "INGEST_UNKNOWN_OPTION"),
        ({"sink.topic.partitions": "0"}, "INGEST_OPTION_VALUE"),
        ({"json.map-null-key.mode": "KEEP"}, "INGEST_OPTION_VALUE"),
        ({"json.timestamp-format.standard": "RFC"}, "INGEST_OPTION_VALUE"),
        ({"topic": "no blanks"}, "INGEST_TOPIC_NAME"),
        ({"topic": ".."}, "INGEST_TOPIC_NAME"),
        ({"properties.group.id": "g"}, "INGEST_CONSUMER_PROPERTY"),
        ({"properties.auto.offset.reset": "earliest"}, "INGEST_CONSUMER_PROPERTY"),
        ({"properties.MAX.poll.records": "1"}, "INGEST_CONSUMER_PROPERTY"),
        ({"properties.transactional.id": "t"}, "INGEST_PROPERTY"),
        ({"properties.interceptor.classes": "com.example.I"}, "INGEST_PROPERTY"),
        ({"sink.transactional-id-prefix": "x" * 64_001}, "INGEST_OPTION_VALUE"),
    ],
)
def test_bad_sinks(given: dict[str, str], found: str) -> None:
    assert condition(sink=given).startswith(found)


def test_properties_without_effect_are_named() -> None:
    notes = job(sink={"properties.metric.reporters": "x", "properties.lingr.ms": "1"}).notes
    assert [n.split(":")[0] for n in notes if "properties." in n] == ["Sink", "Sink"]


def test_the_print_sink() -> None:
    sink: Any = job(sink_type="print", sink={"print-identifier": "> ", "standard-error": "true"}).sink
    assert (sink.type, sink.identifier, sink.standard_error) == ("print", "> ", True)
    assert condition(sink_type="print", sink={"topics": "a"}).startswith("INGEST_UNKNOWN_OPTION")
    tried = job(sink_type="print", sink={"properties.bootstrap.servers": "a:1", "topic": "all", **ALIYUN})
    assert tried.sink.messages.topic == "all"
    idle = [note for note in tried.notes if "has no effect: messages are shown, not sent" in note]
    assert len(idle) == 1 + len(ALIYUN)
    assert not any(secret in str(tried.notes) for secret in ("hunter3", "LTAI5t"))


PIPELINE_OPTIONS = [
    ("name", "shop", lambda p: p.name == "shop"),
    ("parallelism", "4", lambda p: p.parallelism == 4),
    ("local-time-zone", "Asia/Shanghai", lambda p: p.time_zone == "Asia/Shanghai"),
    ("local-time-zone", "GMT+08:00", lambda p: p.time_zone == "GMT+08:00"),
    ("route-mode", "first_match", lambda p: p.route_mode is RouteMode.FIRST_MATCH),
    ("schema.change.behavior", "try_evolve", lambda p: p.behavior is Behavior.TRY_EVOLVE),
    ("transform.allow.trimming.pk-columns", "true", lambda p: p.trim_keys),
    ("sink.partitioning.strategy", "SINK_DEFINED", lambda p: True),
]


@pytest.mark.parametrize(("option", "value", "holds"), PIPELINE_OPTIONS)
def test_options_of_the_pipeline(option: str, value: str, holds: Any) -> None:
    made = job(pipeline={option: value})
    assert holds(made.pipeline)
    assert [n for n in made.notes if "no effect" in n] == []


def test_defaults_of_the_pipeline() -> None:
    pipeline = job().pipeline
    assert (pipeline.name, pipeline.parallelism, pipeline.mode) == ("job", None, JobMode.STREAMING)
    assert (pipeline.route_mode, pipeline.behavior) == (RouteMode.ALL_MATCH, Behavior.LENIENT)
    assert (pipeline.time_zone, pipeline.trim_keys) == (None, False)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("parallelism", "0"),
        ("local-time-zone", "UTC+8 or so"),
        ("execution.runtime-mode", "AUTOMATIC"),
        ("route-mode", "LAST_MATCH"),
        ("schema.change.behavior", "STRICT"),
        ("sink.partitioning.strategy", "RANDOM"),
        ("transform.allow.trimming.pk-columns", "yes"),
    ],
)
def test_bad_values_of_the_pipeline(option: str, value: str) -> None:
    assert condition(pipeline={option: value}).startswith("INGEST_OPTION_VALUE")


SPECIFIC = {"scan.startup.mode": "specific-offset"}
FILE = {"scan.startup.specific-offset.file": "b.000003", "scan.startup.specific-offset.pos": "4"}
GTIDS = {"scan.startup.specific-offset.gtid-set": "24DA167-0C0C-11E8-8442-00059A3C7B00:1-19"}
TIMESTAMP = {"scan.startup.mode": "timestamp"}


def test_positions_to_start_from() -> None:
    start = job(source=SPECIFIC | FILE).source.start
    assert (start.file, start.position, start.gtids) == ("b.000003", 4, None)
    made = job(source=SPECIFIC | FILE | GTIDS)
    assert (made.source.start.file, made.source.start.gtids) == (None, GTIDS["scan.startup.specific-offset.gtid-set"])
    assert len([n for n in made.notes if "no effect" in n]) == 2
    assert job(source=TIMESTAMP | {"scan.startup.timestamp-millis": "5"}).source.start.timestamp_ms == 5


RULES: list[tuple[str, dict[str, Any], str | None]] = [
    ("no position", {"source": SPECIFIC}, "INGEST_START_POSITION_MISSING"),
    (
        "a file alone",
        {"source": SPECIFIC | {"scan.startup.specific-offset.file": "b.000003"}},
        "INGEST_START_POSITION_MISSING",
    ),
    (
        "a position alone",
        {"source": SPECIFIC | {"scan.startup.specific-offset.pos": "4"}},
        "INGEST_START_POSITION_MISSING",
    ),
    ("GTIDs", {"source": SPECIFIC | GTIDS}, None),
    ("no time", {"source": TIMESTAMP}, "INGEST_START_POSITION_MISSING"),
    ("batch", {"pipeline": {"execution.runtime-mode": "BATCH"}}, "INGEST_BATCH_MODE"),
    (
        "batch with snapshot",
        {"pipeline": {"execution.runtime-mode": "batch"}, "source": {"scan.startup.mode": "snapshot"}},
        None,
    ),
    (
        "too few ids",
        {"pipeline": {"parallelism": "4"}, "source": {"server-id": "8601-8604"}},
        "INGEST_SERVER_IDS_TOO_FEW",
    ),
    ("enough ids", {"pipeline": {"parallelism": "4"}, "source": {"server-id": "8601-8605"}}, None),
    (
        "one id for two",
        {"pipeline": {"parallelism": "2"}, "source": {"server-id": "8601"}},
        "INGEST_SERVER_IDS_TOO_FEW",
    ),
    ("one id for one", {"pipeline": {"parallelism": "1"}, "source": {"server-id": "8601"}}, None),
    ("random ids", {"pipeline": {"parallelism": "64"}}, None),
    (
        "new tables in both ways",
        {"source": {"scan.newly-added-table.enabled": "true", "scan.binlog.newly-added-table.enabled": "true"}},
        "INGEST_NEWLY_ADDED_TWICE",
    ),
    (
        "new tables without initial",
        {"source": {"scan.newly-added-table.enabled": "true", "scan.startup.mode": "latest-offset"}},
        "INGEST_NEWLY_ADDED_MODE",
    ),
    (
        "tables that are no route pattern",
        {"source": {"scan.binlog.newly-added-table.enabled": "true", "tables": r"\.*.(a.b"}},
        "INGEST_OPTION_VALUE",
    ),
    ("all of aliyun", {"sink": ALIYUN | {"topic": "orders"}}, None),
    *((f"aliyun without {k}", {"sink": ALIYUN | {k: None}}, "INGEST_ALIYUN_INCOMPLETE") for k in ALIYUN),
    *((f"only {k}", {"sink": {k: v}}, "INGEST_ALIYUN_INCOMPLETE") for k, v in ALIYUN.items()),
    ("a dot for aliyun", {"sink": ALIYUN | {"topic": "shop.orders"}}, "INGEST_ALIYUN_TOPIC_NAME"),
    ("too short for aliyun", {"sink": ALIYUN | {"topic": "ab"}}, "INGEST_ALIYUN_TOPIC_NAME"),
    (
        "a route with a dot for aliyun",
        {"sink": ALIYUN, "route": [RULE | {"sink-table": "a.orders"}]},
        "INGEST_ALIYUN_TOPIC_NAME",
    ),
    ("a route for aliyun", {"sink": ALIYUN, "route": [RULE | {"sink-table": "orders"}]}, None),
    (
        "exactly-once without checkpoint",
        {"sink": {"sink.delivery-guarantee": "exactly-once"}, "checkpoint": None},
        "INGEST_EXACTLY_ONCE_CHECKPOINT",
    ),
    ("at-least-once without checkpoint", {"checkpoint": None}, None),
]


@pytest.mark.parametrize(("given", "expected"), [r[1:] for r in RULES], ids=[r[0] for r in RULES])
def test_rules_across_options(given: dict[str, Any], expected: str | None) -> None:
    if expected is None:
        assert job(**given)
    else:
        assert condition(**given).startswith(f"{expected} ")


NOTES: list[tuple[str, dict[str, Any], str]] = [
    ("a position in another mode", {"source": FILE}, "'scan.startup.specific-offset.file'"),
    ("a time in another mode", {"source": {"scan.startup.timestamp-millis": "5"}}, "'scan.startup.timestamp-millis'"),
    (
        "chunks without a snapshot",
        {"source": {"scan.startup.mode": "latest-offset", "scan.incremental.snapshot.chunk.size": "9"}},
        "copies no rows",
    ),
    ("a heartbeat that ends", {"source": {"scan.startup.mode": "snapshot", "heartbeat.interval": "1 s"}}, "ends"),
    ("one id", {"source": {"server-id": "8601"}}, "one at a time"),
    ("a character class", {"source": {"tables": "[app|web].orders"}}, "'(app|web)'"),
    ("a character class in a route", {"route": [{"source-table": "a.[b|c]", "sink-table": "x"}]}, "'(b|c)'"),
    ("a prefix without transactions", {"sink": {"sink.transactional-id-prefix": "a"}}, "at-least-once"),
    ("no checkpoint", {"checkpoint": None}, "--checkpoint"),
    (
        "a symbol that is not used",
        {"route": [{"source-table": "a.b", "sink-table": "x", "replace-symbol": "<>"}]},
        "'replace-symbol' has no effect",
    ),
]


@pytest.mark.parametrize(("given", "words"), [n[1:] for n in NOTES], ids=[n[0] for n in NOTES])
def test_notes(given: dict[str, Any], words: str) -> None:
    assert [n for n in job(**given).notes if words in n] != []


def test_a_plain_job_needs_no_note() -> None:
    assert job().notes == ()


@pytest.mark.parametrize(
    ("ids", "parallelism", "cores", "found"),
    [
        (None, None, 8, 8),
        ("8601-8604", None, 8, 3),
        ("8601-8604", None, 2, 2),
        ("8601", None, 8, 1),
        ("8601-8610", "2", 8, 2),
        (None, "16", 8, 16),
    ],
)
def test_chunks_at_once(ids: str | None, parallelism: str | None, cores: int, found: int) -> None:
    made = job(source={"server-id": ids}, pipeline={"parallelism": parallelism} if parallelism else None)
    assert made.chunks_at_once(cores) == found


def test_transactional_ids() -> None:
    """Y11: stable for a checkpoint, and no other job's."""
    made = job(sink={"sink.delivery-guarantee": "exactly-once"}, pipeline={"name": "shop"})
    assert made.exactly_once
    assert made.transactional_id_prefix("c0ffee") == "shop-c0ffee"
    assert job(sink={"sink.transactional-id-prefix": "mine"}).transactional_id_prefix("c0ffee") == "mine"


def test_the_page_of_options_is_current() -> None:
    """If this fails: run `make docs`."""
    assert PAGE.read_text("utf-8") == page()


def test_every_option_is_declared_once() -> None:
    for declared in (MYSQL, UPSERT_KAFKA, PRINT, PIPELINE, ROUTE, TRANSFORM):
        names = [d.option.name.lower() for d in declared.declarations]
        assert len(names) == len(set(names)), declared.name
        for name in names:
            assert f"`{name}`" in page().lower()
