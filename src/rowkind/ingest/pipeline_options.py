"""Options of a job: the section `pipeline`, and the keys of routes and transforms."""

from __future__ import annotations

from datetime import timedelta

from rowkind.ingest.declarations import Declared, counts, idle, refused
from rowkind.ingest.modes import Behavior, Converter, DecimalMode, JobMode, Partitioning, RouteMode
from rowkind.ingest.selectors import route_pattern, selectors
from rowkind.ingest.values import filled, names
from rowkind.options.declarations import Option, boolean, choice, duration, positive, text
from rowkind.options.session_options import time_zone

NAME = Option("name", filled, "string", None, "Name of the job.", unset="the name of the file, without its ending")
PARALLELISM = Option(
    "parallelism",
    positive,
    "int",
    None,
    "Chunks that are read at once. Needs one `server-id` more than its value.",
    unset="the number of cores, or of server ids minus one if that is smaller",
)
TIME_ZONE = Option(
    "local-time-zone",
    time_zone,
    "string",
    None,
    "Zone in which functions of transforms see TIMESTAMP_LTZ. JSON has it in UTC always.",
    unset="the machine's zone",
)
RUNTIME_MODE: Option[JobMode] = Option(
    "execution.runtime-mode",
    choice(JobMode),
    ", ".join(JobMode),
    JobMode.STREAMING,
    "`BATCH` ends when all rows are copied, and needs `scan.startup.mode: snapshot`.",
)
ROUTE_MODE: Option[RouteMode] = Option(
    "route-mode",
    choice(RouteMode),
    ", ".join(RouteMode),
    RouteMode.ALL_MATCH,
    "Whether all routes that match a table apply, or the first one.",
)
BEHAVIOR: Option[Behavior] = Option(
    "schema.change.behavior",
    choice(Behavior),
    ", ".join(Behavior),
    Behavior.LENIENT,
    "What becomes of a change of a table's schema.",
)
TRIM_KEYS = Option(
    "transform.allow.trimming.pk-columns",
    boolean,
    "boolean",
    False,
    "Whether a projection may leave out columns of the primary key.",
)

OPERATOR_UID = Option("schema.operator.uid", text, "string", None, "Deprecated.")
UID_PREFIX = Option("operator.uid.prefix", text, "string", None, "Names of Flink's operators.")
RPC_TIMEOUT = Option("schema-operator.rpc-timeout", duration, "duration", timedelta(minutes=3), "A timeout of Flink's.")
PARTITIONING: Option[Partitioning] = Option(
    "sink.partitioning.strategy", choice(Partitioning), ", ".join(Partitioning), Partitioning.SINK_DEFINED, "Shuffle."
)
DECIMAL_MODE: Option[DecimalMode] = Option(
    "transform.decimal.precision.mode", choice(DecimalMode), ", ".join(DecimalMode), DecimalMode.UP_TO_19, "Digits."
)
FUNCTIONS = Option("user-defined-function", text, "list", None, "Functions of your own.")
MODELS = Option("model", text, "list", None, "Models that transforms call.")
DIRTY_DATA = Option("dirty-data.collector", text, "map", None, "Where bad rows go.")

PIPELINE = Declared(
    "pipeline",
    "`pipeline`",
    "Settings of the whole job; every one has a default.",
    (
        *counts(NAME, PARALLELISM, TIME_ZONE, RUNTIME_MODE, ROUTE_MODE, BEHAVIOR, TRIM_KEYS, shown=True),
        *idle("there are no Flink operators here", OPERATOR_UID, UID_PREFIX, RPC_TIMEOUT),
        *refused(
            "rows of a key must stay in one task, so that their order holds",
            PARTITIONING,
            harmless=(Partitioning.SINK_DEFINED, Partitioning.PRIMARY_KEY),
        ),
        *idle("decimals have up to 38 digits", DECIMAL_MODE),
        *refused("expressions use the functions of docs/functions.md", FUNCTIONS),
        *refused("no model can be called", MODELS),
        *refused("a row that cannot be processed ends the job by name", DIRTY_DATA),
    ),
)

ROUTE_SOURCE = Option(
    "source-table",
    route_pattern,
    "pattern `database.table`",
    None,
    "Tables that the route is for: a Java regular expression of the whole `database.table`, in the case as written. A "
    "bare dot separates database and table, the dot of a regular expression is written `\\.`, a comma inside of one "
    "`\\,`.",
    required="yes",
)
ROUTE_SINK = Option(
    "sink-table",
    filled,
    "string",
    None,
    "The topic. `$1` is what the first group of `source-table` matched; with `replace-symbol`, that symbol is the name "
    "of the table.",
    required="yes",
)
REPLACE_SYMBOL = Option(
    "replace-symbol", filled, "string", None, "Stands for the table's name in `sink-table`; `$1` has no meaning then."
)
DESCRIPTION = Option("description", text, "string", None, "For people.")

ROUTE = Declared(
    "route",
    "`route`",
    "A list; which topic a table goes to. A table that no route is for goes to `database.table`.",
    counts(ROUTE_SOURCE, ROUTE_SINK, REPLACE_SYMBOL, DESCRIPTION, shown=True),
)

TRANSFORM_SOURCE = Option(
    "source-table",
    selectors,
    "patterns `database.table`, separated by commas",
    None,
    "Tables that the transform is for, written as `tables` of the source. The first transform that matches a table "
    "counts.",
    required="yes",
)
PROJECTION = Option(
    "projection",
    filled,
    "list of expressions",
    None,
    "What stands between SELECT and FROM in SQL; every expression has a name, by AS. `\\*` or `*` stands for all "
    "columns. A second column of the same name takes the place of the first.",
    unset="all columns",
)
FILTER = Option(
    "filter",
    filled,
    "condition",
    None,
    "What stands behind WHERE in SQL; computed columns of the projection may be used.",
    unset="every row",
)
PRIMARY_KEYS = Option(
    "primary-keys",
    names,
    "columns, separated by commas",
    None,
    "Columns of the result that make the key; they are NOT NULL.",
    unset="the primary key of the table",
)
CONVERTER: Option[Converter] = Option(
    "converter-after-transform",
    choice(Converter),
    ", ".join(Converter),
    None,
    "`SOFT_DELETE`: a DELETE is written as its last row, with `__data_event_type__` = `-D`.",
    unset="a DELETE is a tombstone",
)
PARTITION_KEYS = Option("partition-keys", names, "columns, separated by commas", None, "Partition columns.")
TABLE_OPTIONS = Option("table-options", text, "`key=value` list", None, "Options of a table that is created.")
TABLE_OPTIONS_DELIMITER = Option("table-options.delimiter", filled, "string", ",", "Between two of them.")

TRANSFORM = Declared(
    "transform",
    "`transform`",
    "A list; what is written of a table. Expressions are those of SQL statements, see the list of functions.",
    (
        *counts(TRANSFORM_SOURCE, PROJECTION, FILTER, PRIMARY_KEYS, CONVERTER, DESCRIPTION, shown=True),
        *idle("topics are not partitioned by columns; the producer goes by the key", PARTITION_KEYS),
        *idle("topics are created by 'sink.topic.*' of the sink", TABLE_OPTIONS, TABLE_OPTIONS_DELIMITER),
    ),
)
