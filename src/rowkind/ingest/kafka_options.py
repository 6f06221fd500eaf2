"""Options of the sinks: `upsert-kafka`, `print`, and what a `kafka` sink would have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rowkind.connectors.kafka.sink_options import TOPIC_CONFIG, TOPIC_PARTITIONS, TOPIC_REPLICATION
from rowkind.connectors.kafka.table_options import BOOTSTRAP_SERVERS
from rowkind.connectors.writing_options import DELIVERY_GUARANTEE
from rowkind.formats.json.exact_encode import NullKeys
from rowkind.formats.json.format import IGNORE_NULLS, NULL_KEY_LITERAL, NULL_KEY_MODE, PLAIN_DECIMAL, STANDARD
from rowkind.ingest.declarations import Declared, counts, idle, refused
from rowkind.ingest.modes import KeylessTables
from rowkind.ingest.values import filled
from rowkind.options.declarations import Option, boolean, choice, text

TYPE = Option("type", text, "upsert-kafka, print", None, "Which kind of sink it is.", required="yes")
NAME = Option("name", text, "string", None, "Shown in progress, labels of metrics and logs.")

PROPERTIES = Option(
    "properties.*",
    text,
    "string",
    None,
    "Any property of Kafka's Java producer, by its Java name. A property of consumers is refused, an unknown one is "
    "named in a note.",
)
TOPIC = Option(
    "topic",
    filled,
    "string",
    None,
    "One topic for all tables.",
    unset="a topic for each table: what its routes say, or `database.table`",
)
TRANSACTIONAL_ID_PREFIX = Option(
    "sink.transactional-id-prefix",
    filled,
    "string",
    None,
    "Start of the transactional ids with `exactly-once` (rowkind's own).",
    unset="made of the job's name and the id of its checkpoint",
)
HEADERS = Option(
    "sink.add-tableId-to-header-enabled",
    boolean,
    "boolean",
    False,
    "Whether each message, tombstones included, has the headers `namespace` (empty), `schemaName` and `tableName` of "
    "the id that the routes give.",
)
KEYLESS = Option(
    "sink.tables-without-key",
    choice(KeylessTables),
    ", ".join(KeylessTables),
    KeylessTables.FAIL,
    "What happens to a table without primary key: the start is refused, or the table is left out with a note "
    "(rowkind's own).",
)
ACCESS_KEY_ID = Option(
    "aliyun.kafka.accessKeyId", filled, "string", None, "Access key for the control plane.", secret=True
)
ACCESS_KEY_SECRET = Option(
    "aliyun.kafka.accessKeySecret", filled, "string", None, "Secret of the access key.", secret=True
)
INSTANCE_ID = Option(
    "aliyun.kafka.instanceId",
    filled,
    "string",
    None,
    "Instance of ApsaraMQ for Kafka, whose topics are created through its control plane and not by brokers. The five "
    "options go together and need `pip install 'rowkind[aliyun]'`.",
)
ENDPOINT = Option(
    "aliyun.kafka.endpoint",
    filled,
    "string",
    None,
    "Endpoint of the control plane, such as `alikafka.cn-hangzhou.aliyuncs.com`; HTTPS, unless it starts with `http://`.",
)
REGION_ID = Option("aliyun.kafka.regionId", filled, "string", None, "Region of the instance.")
ALIYUN = (ACCESS_KEY_ID, ACCESS_KEY_SECRET, INSTANCE_ID, ENDPOINT, REGION_ID)


def _json(option: Option[Any], **changes: Any) -> Option[Any]:
    return replace(option, name=f"json.{option.name}", **changes)


JSON: tuple[Option[Any], ...] = (
    _json(STANDARD),
    _json(NULL_KEY_MODE, parse=choice(NullKeys), kind=", ".join(NullKeys), default=NullKeys.FAIL),
    _json(NULL_KEY_LITERAL),
    _json(PLAIN_DECIMAL, default=True),
    _json(IGNORE_NULLS),
)
"""The json format as SQL tables have it, except that a DECIMAL keeps the digits of its scale unless told otherwise."""

_JSON_ONLY = "an upsert-kafka sink writes JSON; its options start with 'json.'"
_FORMATS = tuple(
    Option(name, text, "string", None, "Formats of a kafka sink.")
    for name in ("key.format", "value.format", "debezium-json.*", "canal-json.*", "csv.*")
)
_PARTITIONING = Option("partition.strategy", text, "string", None, "Partitions of a kafka sink.")
_MAPPING = Option("sink.tableId-to-topic.mapping", text, "string", None, "Topics of a kafka sink.")
_CUSTOM_HEADER = Option("sink.custom-header", text, "string", None, "Headers of a kafka sink.")
_CATALOG = Option("using.built-in-catalog", text, "string", None, "Connection options of a catalog.")

UPSERT_KAFKA = Declared(
    "sink 'upsert-kafka'",
    "Sink `upsert-kafka`",
    "The key of a message is the JSON of the primary key's columns, its value the JSON of all columns; a DELETE is a "
    "tombstone. Topics that do not exist are created compacted.",
    (
        *counts(TYPE, NAME, TOPIC, DELIVERY_GUARANTEE, TRANSACTIONAL_ID_PREFIX, HEADERS, KEYLESS, shown=True),
        *counts(BOOTSTRAP_SERVERS, PROPERTIES, *ALIYUN),
        *counts(TOPIC_PARTITIONS, TOPIC_REPLICATION, TOPIC_CONFIG, *JSON, shown=True),
        *refused(_JSON_ONLY, *_FORMATS),
        *refused("the producer chooses the partition by the key, so that the order of a key holds", _PARTITIONING),
        *refused("use 'route', whose 'sink-table' is the topic", _MAPPING),
        *refused("use 'sink.add-tableId-to-header-enabled', or a column", _CUSTOM_HEADER),
        *refused("there is no catalog; write the connection options here", _CATALOG),
    ),
)

IDENTIFIER = Option("print-identifier", text, "string", None, "Stands before each row.", unset="nothing")
STANDARD_ERROR = Option("standard-error", boolean, "boolean", False, "Print to stderr instead of stdout.")

PRINT = Declared(
    "sink 'print'",
    "Sink `print`",
    "Shows what an upsert-kafka sink would write, to try a job: of each message the kind of its row, its table, topic, "
    "key, value and headers. The options of an upsert-kafka sink may stay.",
    (
        *counts(TYPE, NAME, IDENTIFIER, STANDARD_ERROR, TOPIC, HEADERS, KEYLESS, *JSON, shown=True),
        *idle("messages are shown, not sent", replace(BOOTSTRAP_SERVERS, required="no"), PROPERTIES, *ALIYUN),
        *idle("messages are shown, not sent", DELIVERY_GUARANTEE, TRANSACTIONAL_ID_PREFIX),
        *idle("no topic is created", TOPIC_PARTITIONS, TOPIC_REPLICATION, TOPIC_CONFIG),
    ),
)

SINKS = {"upsert-kafka": UPSERT_KAFKA, "print": PRINT}
