"""Session options (`SET`): rowkind's, and those that people carry over from Flink."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from rowkind.options.declarations import Option, boolean, choice, duration, positive, text


class RuntimeMode(StrEnum):
    STREAMING = "STREAMING"
    BATCH = "BATCH"
    AUTOMATIC = "AUTOMATIC"


class NotNullEnforcer(StrEnum):
    ERROR = "ERROR"
    DROP = "DROP"


class LengthEnforcer(StrEnum):
    IGNORE = "IGNORE"
    TRIM_PAD = "TRIM_PAD"
    ERROR = "ERROR"


class NestedEnforcer(StrEnum):
    IGNORE = "IGNORE"
    ERROR = "ERROR"


class Placement(StrEnum):
    """Whether the planner adds a step by its own judgement, never, or always."""

    AUTO = "AUTO"
    NONE = "NONE"
    FORCE = "FORCE"


def time_zone(value: str) -> str:
    """A zone name, an offset such as `+08:00` or `GMT-03:00`, or `default` for the machine's zone."""
    if value == "default" or re.fullmatch(r"(GMT|UTC)?[+-]\d{1,2}(:?\d\d)?", value):
        return value
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"'{value}' is not a time zone such as 'Europe/Berlin' or 'GMT+01:00'") from None
    return value


def utc_offset(zone: str) -> int:
    """Seconds that a zone is ahead of UTC now.

    >>> utc_offset("GMT-03:30"), utc_offset("+8"), utc_offset("UTC")
    (-12600, 28800, 0)
    """
    if match := re.fullmatch(r"(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d\d))?", zone):
        seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60
        return -seconds if match[1] == "-" else seconds
    now = datetime.now().astimezone() if zone == "default" else datetime.now(ZoneInfo(zone))
    return int((now.utcoffset() or timedelta()).total_seconds())


BATCH_INTERVAL = Option(
    "execution.checkpointing.interval",
    duration,
    "duration",
    None,
    "Time from the start of one batch to the start of the next.",
    unset="a batch follows at once",
)

RUNTIME_MODE: Option[RuntimeMode] = Option(
    "execution.runtime-mode",
    choice(RuntimeMode),
    "STREAMING, BATCH, AUTOMATIC",
    RuntimeMode.STREAMING,
    "`BATCH` asks for bounded, insert-only sources. A job of bounded sources ends by itself in every mode.",
)

DML_SYNC = Option(
    "table.dml-sync", boolean, "boolean", False, "Whether an INSERT is awaited before the next statement."
)

JOB_NAME = Option(
    "pipeline.name",
    text,
    "string",
    None,
    "Name of the next jobs, in progress lines and in Spark's UI.",
    unset="the name of the table that is written",
)

TIME_ZONE = Option(
    "table.local-time-zone",
    time_zone,
    "string",
    "default",
    "Session time zone: how TIMESTAMP_LTZ is shown and cast. `default` is the machine's.",
)

NOT_NULL_ENFORCER: Option[NotNullEnforcer] = Option(
    "table.exec.sink.not-null-enforcer",
    choice(NotNullEnforcer),
    "ERROR, DROP",
    NotNullEnforcer.ERROR,
    "What happens to a row with NULL in a NOT NULL column of the sink; dropped rows are counted.",
)

LENGTH_ENFORCER: Option[LengthEnforcer] = Option(
    "table.exec.sink.type-length-enforcer",
    choice(LengthEnforcer),
    "IGNORE, TRIM_PAD, ERROR",
    LengthEnforcer.IGNORE,
    "What happens to text and bytes that do not fit the length of the sink's column: written as they are, cut and "
    "filled up, or an error.",
)

NESTED_ENFORCER: Option[NestedEnforcer] = Option(
    "table.exec.sink.nested-constraint-enforcer",
    choice(NestedEnforcer),
    "IGNORE, ERROR",
    NestedEnforcer.IGNORE,
    "What happens to NULL in NOT NULL members of nested columns.",
)

UPSERT_MATERIALIZE: Option[Placement] = Option(
    "table.exec.sink.upsert-materialize",
    choice(Placement),
    "AUTO, NONE, FORCE",
    Placement.AUTO,
    "Whether the live rows of the sink's primary key are kept: where the query's upsert key is another, never, always.",
)

REQUIRE_ON_CONFLICT = Option(
    "table.exec.sink.require-on-conflict",
    boolean,
    "boolean",
    False,
    "Whether an INSERT whose upsert key is not the sink's primary key must say ON CONFLICT.",
)

SOURCE_IDLE_TIMEOUT = Option(
    "table.exec.source.idle-timeout",
    duration,
    "duration",
    timedelta(0),
    "A partition without messages for so long no longer holds event time back; 0 is off.",
)

CDC_DUPLICATES = Option(
    "table.exec.source.cdc-events-duplicate",
    boolean,
    "boolean",
    False,
    "Whether CDC sources may repeat events, which are then removed by primary key.",
)

STATE_TTL = Option(
    "table.exec.state.ttl",
    duration,
    "duration",
    timedelta(0),
    "State that was not touched for so long may be removed; 0 keeps it for ever.",
)

STATE_PARTITIONS = Option(
    "rowkind.state.partitions",
    positive,
    "int",
    None,
    "Number of partitions of keyed state, fixed at a job's first start; another one is refused later. By default the "
    "cores of a local master; on a cluster `spark.default.parallelism`, `spark.cores.max` or the cores of all "
    "`spark.executor.instances`, else 16.",
)

CHECKPOINT_SYNC = Option(
    "rowkind.checkpoint.sync",
    boolean,
    "boolean",
    True,
    "Whether files of a checkpoint on a local file system are on the disk, not only handed to the system, before a "
    "batch is done: without it a job goes on after any crash of its own, but perhaps not after a power cut.",
)

RESTORE_PATH = Option(
    "execution.state-recovery.path",
    text,
    "string",
    None,
    "A Flink savepoint cannot be restored; resume a job of rowkind with `--checkpoint DIR`.",
    fallbacks=("execution.savepoint.path",),
    supported=False,
)

SESSION: tuple[Option[Any], ...] = (
    BATCH_INTERVAL,
    RUNTIME_MODE,
    DML_SYNC,
    JOB_NAME,
    TIME_ZONE,
    NOT_NULL_ENFORCER,
    LENGTH_ENFORCER,
    NESTED_ENFORCER,
    UPSERT_MATERIALIZE,
    REQUIRE_ON_CONFLICT,
    SOURCE_IDLE_TIMEOUT,
    CDC_DUPLICATES,
    STATE_TTL,
    STATE_PARTITIONS,
    CHECKPOINT_SYNC,
    RESTORE_PATH,
)


def _idle(name: str, reason: str) -> Option[str]:
    return Option(name, text, "any", None, reason)


_BATCHES = "rowkind always works in small batches."
_SPARK = "Spark decides it; see `--master` and `--conf`."
_CHECKPOINT = "Every batch is a checkpoint; `--checkpoint DIR` says where it is kept."
_PLANNER = "rowkind has its own planner."
_TERMINAL = "Results are printed as a table of row kinds as they come."
_STATE = "State is kept in rowkind's own store."

WITHOUT_EFFECT: tuple[Option[str], ...] = (
    _idle("table.exec.mini-batch.enabled", _BATCHES),
    _idle("table.exec.mini-batch.allow-latency", _BATCHES),
    _idle("table.exec.mini-batch.size", _BATCHES),
    _idle("table.exec.resource.default-parallelism", _SPARK),
    _idle("table.exec.async-*", "There are no lookup sources."),
    _idle("table.exec.disabled-operators", _PLANNER),
    _idle("table.exec.deduplicate.*", "Deduplication emits the net change of a batch."),
    _idle("table.exec.interval-join.*", "State of interval joins is removed as time goes on."),
    _idle("table.exec.local-hash-agg.*", _PLANNER),
    _idle("table.exec.operator-fusion-codegen.enabled", _SPARK),
    _idle("table.exec.rank.*", _STATE),
    _idle("table.exec.simplify-operator-name-enabled", _PLANNER),
    _idle("table.exec.sink.keyed-shuffle", "The rows of a key are always written in their order."),
    _idle("table.exec.sort.*", _SPARK),
    _idle("table.exec.spill-compression.*", _SPARK),
    _idle("table.exec.uid.*", _PLANNER),
    _idle("table.exec.unbounded-over.version", _PLANNER),
    _idle("table.exec.window-agg.buffer-size-limit", _STATE),
    _idle("table.optimizer.*", _PLANNER),
    _idle("table.generated-code.*", _SPARK),
    _idle("table.plan.*", _PLANNER),
    _idle("table.display.max-column-width", _TERMINAL),
    _idle("table.rtas-ctas.*", _PLANNER),
    _idle("sql-client.*", _TERMINAL),
    _idle("parallelism.default", _SPARK),
    _idle("pipeline.max-parallelism", _SPARK),
    _idle("pipeline.object-reuse", _SPARK),
    _idle("pipeline.operator-chaining*", _SPARK),
    _idle("pipeline.auto-watermark-interval", "Watermarks move once a batch."),
    _idle("pipeline.jars", "Python packages and `--conf spark.jars` take its place."),
    _idle("pipeline.classpaths", "Python packages and `--conf spark.jars` take its place."),
    _idle("execution.checkpointing.*", _CHECKPOINT),
    _idle("execution.attached", "`table.dml-sync` says whether an INSERT is awaited."),
    _idle("execution.target", _SPARK),
    _idle("execution.buffer-timeout*", _BATCHES),
    _idle("execution.batch*", _SPARK),
    _idle("execution.shutdown-on-attached-exit", _SPARK),
    _idle("state.backend*", _STATE),
    _idle("state.checkpoint*", _CHECKPOINT),
    _idle("state.savepoints.*", _CHECKPOINT),
    _idle("state.storage.*", _STATE),
    _idle("restart-strategy*", "Run the command again with the same `--checkpoint` to go on after a failure."),
    _idle("taskmanager.*", _SPARK),
    _idle("jobmanager.*", _SPARK),
    _idle("rest.*", _SPARK),
    _idle("metrics.*", _SPARK),
)
"""Keys of Flink that are accepted with a notice; `*` stands for any rest."""
