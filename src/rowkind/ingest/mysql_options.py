"""Options of the source `mysql`."""

from __future__ import annotations

from datetime import timedelta

from rowkind.ingest.declarations import Declared, counts, idle, refused
from rowkind.ingest.modes import StartMode
from rowkind.ingest.mysql_families import DEBEZIUM, JDBC
from rowkind.ingest.selectors import selectors
from rowkind.ingest.values import at_least, chunk_keys, filled, fraction, metadata_names, port, server_ids
from rowkind.options.declarations import Option, boolean, choice, duration, integer, text
from rowkind.options.session_options import time_zone

TYPE = Option("type", text, "mysql", None, "Which kind of source it is.", required="yes")
NAME = Option("name", text, "string", None, "Shown in progress, labels of metrics and logs.")

HOSTNAME = Option("hostname", filled, "string", None, "Name or address of the server.", required="yes")
PORT = Option("port", port, "int", 3306, "Port of the server.")
USERNAME = Option("username", filled, "string", None, "User to log in as.", required="yes")
PASSWORD = Option("password", text, "string", None, "Password of the user.", secret=True, required="yes")
CONNECT_TIMEOUT = Option(
    "connect.timeout", duration, "duration", timedelta(seconds=30), "How long to wait for a connection."
)
CONNECT_RETRIES = Option("connect.max-retries", at_least(1), "int", 3, "How often a connection is tried.")
SSL_CA = Option("ssl.ca", filled, "path", None, "PEM file of the authorities that sign the server (rowkind's own).")
SSL_CERT = Option("ssl.cert", filled, "path", None, "PEM file of the client's certificate (rowkind's own).")
SSL_KEY = Option("ssl.key", filled, "path", None, "PEM file of the client's private key (rowkind's own).")

TABLES = Option(
    "tables",
    selectors,
    "patterns `database.table`, separated by commas",
    None,
    "Tables to copy. Each part is a Java regular expression in any case that matches the whole name; the dot of a "
    "regular expression is written `\\.`, a comma inside of one `\\,`. Databases of the system are never among them.",
    required="yes",
)
TABLES_EXCLUDE = Option(
    "tables.exclude",
    selectors,
    "patterns `database.table`, separated by commas",
    None,
    "Tables to leave out of those that `tables` names.",
)
SCHEMA_CHANGE = Option(
    "schema-change.enabled", boolean, "boolean", True, "Whether changes of a table's schema reach the sink."
)
SERVER_ID = Option(
    "server-id",
    server_ids,
    "number or range",
    None,
    "Ids under which connections register as replicas: `5400` or `5400-5408`. No other replica of the server may have "
    "them. Each chunk that is read at once needs one, and the reader of the binlog another one.",
    unset="random ids from 5400 to 6400",
)
SERVER_TIME_ZONE = Option(
    "server-time-zone",
    time_zone,
    "string",
    None,
    "Zone of the server, which `--check` compares with it. TIMESTAMPs are read in UTC, whatever it is.",
    unset="nothing is compared",
)
HEARTBEAT = Option(
    "heartbeat.interval",
    duration,
    "duration",
    timedelta(seconds=30),
    "How often the stored position moves while the captured tables are idle; 0 is off. Nothing is written for it.",
)

STARTUP_MODE: Option[StartMode] = Option(
    "scan.startup.mode",
    choice(StartMode),
    ", ".join(StartMode),
    StartMode.INITIAL,
    "`initial`: all rows, then every change. `snapshot`: all rows, then the job ends. The others read changes only, "
    "from there on.",
)
OFFSET_FILE = Option(
    "scan.startup.specific-offset.file",
    filled,
    "string",
    None,
    "File of the binlog to start in, with `.pos`.",
    required="with `specific-offset`: this and `.pos`, or `.gtid-set`",
)
OFFSET_POS = Option(
    "scan.startup.specific-offset.pos",
    at_least(0),
    "int",
    None,
    "Position in the file.",
    required="with `.file`",
)
OFFSET_GTIDS = Option(
    "scan.startup.specific-offset.gtid-set",
    filled,
    "string",
    None,
    "GTIDs that are done, in MySQL's or MariaDB's form.",
    required="with `specific-offset`: this, or `.file` and `.pos`",
)
SKIP_EVENTS = Option("scan.startup.specific-offset.skip-events", integer, "int", 0, "Events to skip.")
SKIP_ROWS = Option("scan.startup.specific-offset.skip-rows", integer, "int", 0, "Rows to skip.")
START_TIMESTAMP = Option(
    "scan.startup.timestamp-millis",
    at_least(0),
    "int",
    None,
    "Milliseconds since 1970: changes from then on.",
    required="with `timestamp`",
)

CHUNK_SIZE = Option("scan.incremental.snapshot.chunk.size", at_least(2), "int", 8096, "Rows a chunk.")
CHUNK_KEYS = Option(
    "scan.incremental.snapshot.chunk.key-column",
    chunk_keys,
    "`database.table:column`, separated by `;`",
    None,
    "Column by which tables are cut into chunks; needed for a table without primary key.",
    unset="the first column of the primary key",
)
EVEN_UPPER = Option(
    "chunk-key.even-distribution.factor.upper-bound",
    fraction(1.0, float("inf")),
    "float",
    1000.0,
    "Up to this ratio of the range of keys to the number of rows, chunks are even ranges.",
)
EVEN_LOWER = Option(
    "chunk-key.even-distribution.factor.lower-bound",
    fraction(0.0, 1.0),
    "float",
    0.05,
    "From this ratio on, chunks are even ranges; outside, the table is walked.",
)
NEWLY_ADDED = Option(
    "scan.newly-added-table.enabled",
    boolean,
    "boolean",
    False,
    "At a restart: tables that match now are copied, then followed. Only with `initial`.",
)
BINLOG_NEWLY_ADDED = Option(
    "scan.binlog.newly-added-table.enabled",
    boolean,
    "boolean",
    False,
    "Tables that are created while the job runs are followed. `tables` is then a pattern as routes have it: of the "
    "whole `database.table`, and in the case as written.",
)
METADATA: Option[tuple[str, ...]] = Option(
    "metadata.list", metadata_names, "`op_ts`", (), "Metadata that transforms may use: `op_ts`, when the row changed."
)
TINYINT1 = Option(
    "treat-tinyint1-as-boolean.enabled", boolean, "boolean", True, "Whether TINYINT(1) is BOOLEAN; otherwise TINYINT."
)

FETCH_SIZE = Option("scan.snapshot.fetch.size", at_least(2), "int", 1024, "Rows a fetch.")
OPEN_CHUNK_FIRST = Option(
    "scan.incremental.snapshot.unbounded-chunk-first.enabled", boolean, "boolean", False, "Order of chunks."
)
SKIP_BACKFILL = Option("scan.incremental.snapshot.backfill.skip", boolean, "boolean", False, "Weaker chunks.")
CLOSE_IDLE = Option("scan.incremental.close-idle-reader.enabled", boolean, "boolean", False, "Idle readers.")
CHUNK_META = Option("chunk-meta.group.size", at_least(2), "int", 1000, "Chunks a message.")
POOL_SIZE = Option("connection.pool.size", at_least(2), "int", 20, "Connections of a pool.")
COMMENTS = Option("include-comments.enabled", boolean, "boolean", False, "Comments of tables and columns.")
LEGACY_JSON = Option("use.legacy.json.format", boolean, "boolean", True, "How JSON columns are written.")
ONLY_CAPTURED = Option(
    "scan.only.deserialize.captured.tables.changelog.enabled", boolean, "boolean", True, "What is decoded."
)
PARALLEL_DECODING = Option(
    "scan.parallel-deserialize-changelog.enabled", boolean, "boolean", False, "How much is decoded at once."
)
ONLINE_DDL = Option(
    "scan.parse.online.schema.changes.enabled", boolean, "boolean", False, "Tools such as gh-ost and pt-osc."
)
APPEND_ONLY = Option("scan.read-changelog-as-append-only.enabled", boolean, "boolean", False, "Changes as rows.")
RDS = Option("rds.*", text, "string", None, "Archived binlogs of ApsaraDB RDS.")
BUILT_IN_CATALOG = Option("using.built-in-catalog", text, "string", None, "Connection options of a catalog.")
IGNORE_ERRORS = Option("ingestion.ignore-errors", boolean, "boolean", False, "Go on after errors.")
ERROR_TOLERANCE = Option("ingestion.error-tolerance.max-count", integer, "int", -1, "How many errors to tolerate.")

MYSQL = Declared(
    "source 'mysql'",
    "Source `mysql`",
    "A server of MySQL 5.6 or newer, or of MariaDB, with `binlog_format=ROW` and `binlog_row_image=FULL`.",
    (
        *counts(TYPE, NAME, shown=True),
        *counts(HOSTNAME, PORT, USERNAME, PASSWORD, CONNECT_TIMEOUT, CONNECT_RETRIES, SSL_CA, SSL_CERT, SSL_KEY),
        *counts(TABLES, TABLES_EXCLUDE, SCHEMA_CHANGE, SERVER_ID, SERVER_TIME_ZONE, HEARTBEAT, shown=True),
        *counts(STARTUP_MODE, OFFSET_FILE, OFFSET_POS, OFFSET_GTIDS, START_TIMESTAMP, shown=True),
        *counts(CHUNK_SIZE, CHUNK_KEYS, EVEN_UPPER, EVEN_LOWER, NEWLY_ADDED, BINLOG_NEWLY_ADDED, shown=True),
        *counts(METADATA, TINYINT1, shown=True),
        *idle("rows of a chunk stream from the server as they come", FETCH_SIZE),
        *idle("a chunk is read in bounded memory, whatever its place", OPEN_CHUNK_FIRST),
        *idle("every chunk is brought to its high watermark, so that no change is seen twice", SKIP_BACKFILL),
        *idle("chunks are tasks of a batch; none stays open after it", CLOSE_IDLE),
        *idle("chunks are kept in the checkpoint, and not sent in groups", CHUNK_META),
        *idle("each chunk that is read at once has one connection, 'pipeline.parallelism' says how many", POOL_SIZE),
        *idle("topics have no place for comments", COMMENTS),
        *idle("JSON columns are written as the server's own cast to text writes them", LEGACY_JSON),
        *idle("only the changes of captured tables are ever decoded", ONLY_CAPTURED),
        *idle("changes are decoded many rows at a time", PARALLEL_DECODING),
        *refused(
            "a job starts at the border of a transaction; give the position where one begins",
            *(SKIP_EVENTS, SKIP_ROWS),
            harmless=(0,),
        ),
        *refused(
            "shadow tables of gh-ost and pt-osc are not followed; run such a change while the job is stopped, and "
            "start with a new checkpoint",
            ONLINE_DDL,
            harmless=(False,),
        ),
        *refused("an upsert-kafka topic holds the latest row of each key", APPEND_ONLY, harmless=(False,)),
        *refused("archived binlogs of ApsaraDB RDS cannot be fetched; keep binlogs on the server longer", RDS),
        *refused("there is no catalog; write the connection options here", BUILT_IN_CATALOG),
        *refused("an error ends the job by name, so that no row is lost in silence", IGNORE_ERRORS, harmless=(False,)),
        *idle("an error ends the job by name", ERROR_TOLERANCE),
        *JDBC,
        *DEBEZIUM,
    ),
)
