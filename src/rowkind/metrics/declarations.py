"""Every metric, declared once: pages, endpoint, dashboard and tests go by these.

The thirteen metrics of sources and sinks have the names that the connector page gives them, and so do their
neighbours: the name is the same in Python, in the log and, after `rowkind_<scope>_`, in Prometheus.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """A counter only grows while the job runs; a gauge is how things are now."""

    COUNTER = "counter"
    GAUGE = "gauge"


class Scope(StrEnum):
    """What a value is about; there is one for each combination of its labels."""

    SOURCE = "source"
    SINK = "sink"
    TABLE = "table"
    OPERATOR = "operator"
    BATCH = "batch"
    JOB = "job"


_LABELS = {
    Scope.SOURCE: ("table", "topic"),
    Scope.SINK: ("table", "topic"),
    Scope.TABLE: ("table",),
    Scope.OPERATOR: ("operator",),
    Scope.BATCH: ("phase",),
    Scope.JOB: (),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric."""

    scope: Scope
    name: str
    kind: Kind
    unit: str
    meaning: str
    counts: tuple[str, ...] = ()
    """The counts of workers (`job.progress.counts`) that it is the sum of, if it is one."""
    more_labels: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Beside `job`, which every value has."""
        return (*_LABELS[self.scope], *self.more_labels)

    @property
    def exposed(self) -> str:
        """Its name in Prometheus."""
        return f"rowkind_{self.scope}_{self.name}"


def _source(name: str, kind: Kind, unit: str, meaning: str) -> Metric:
    return Metric(Scope.SOURCE, name, kind, unit, meaning)


def _sink(name: str, kind: Kind, unit: str, meaning: str) -> Metric:
    return Metric(Scope.SINK, name, kind, unit, meaning)


COUNTER, GAUGE = Kind.COUNTER, Kind.GAUGE

RECORDS_IN = _source("numRecordsIn", COUNTER, "records", "Messages read, tombstones included.")
RECORDS_IN_RATE = _source("numRecordsInPerSecond", GAUGE, "records/s", "Messages read, mean of the last minute.")
BYTES_IN = _source("numBytesIn", COUNTER, "bytes", "Keys and values of the messages read.")
BYTES_IN_RATE = _source("numBytesInPerSecond", GAUGE, "bytes/s", "Bytes read, mean of the last minute.")
EMIT_LAG = _source(
    "currentEmitEventTimeLag",
    GAUGE,
    "ms",
    "From the event time of the latest row to when the results of its batch were written. Absent until a row has come.",
)
FETCH_LAG = _source(
    "currentFetchEventTimeLag",
    GAUGE,
    "ms",
    "From the event time of the latest row to when the reader got it. Absent until a row has come.",
)
IDLE = _source("sourceIdleTime", GAUGE, "ms", "Since the last row; 0 while rows come.")
PENDING = _source(
    "pendingRecords",
    GAUGE,
    "records",
    "Messages between the position of the job and the end of the topic, summed over its partitions.",
)
WATERMARK = _source(
    "currentWatermark",
    GAUGE,
    "epoch ms",
    "The lowest watermark of the topic's partitions. Absent where no operator follows event time.",
)

RECORDS_OUT = _sink("numRecordsOut", COUNTER, "records", "Messages written, tombstones included.")
RECORDS_OUT_RATE = _sink("numRecordsOutPerSecond", GAUGE, "records/s", "Messages written, mean of the last minute.")
BYTES_OUT = _sink("numBytesOut", COUNTER, "bytes", "Keys and values of the messages written.")
BYTES_OUT_RATE = _sink("numBytesOutPerSecond", GAUGE, "bytes/s", "Bytes written, mean of the last minute.")
SEND_TIME = _sink(
    "currentSendTime",
    GAUGE,
    "ms",
    "From the last hand-over of messages to the client to their acknowledgement. Absent until something was written.",
)

DROPPED = Metric(
    Scope.TABLE,
    "numRecordsDropped",
    COUNTER,
    "records",
    "Messages read that gave no row, could not be read and were left out, or had no key; rows not written for a NULL.",
    ("null-rows-dropped", "messages-without-row", "messages-without-key", "messages-skipped"),
)
PARSE_ERRORS = Metric(
    Scope.TABLE,
    "numParseErrorsIgnored",
    COUNTER,
    "errors",
    "Errors that the table's format ignored, as it was told to.",
    ("parse-errors-ignored",),
)
DEAD_LETTERS = Metric(
    Scope.TABLE,
    "numRecordsDeadLettered",
    COUNTER,
    "records",
    "Messages that could not be read and went to the table's dead-letter topic.",
    ("messages-dead-lettered",),
)
LOST = Metric(
    Scope.TABLE,
    "numRecordsLost",
    COUNTER,
    "records",
    "Messages that were gone before they could be read, where the table goes on without them.",
    ("offsets-lost",),
)
TRANSACTIONS = Metric(
    Scope.TABLE,
    "numTransactions",
    COUNTER,
    "transactions",
    "Transactions committed.",
    ("transactions-committed",),
)

SNAPSHOTTING = Metric(
    Scope.TABLE, "isSnapshotting", GAUGE, "0 or 1", "Whether an ingestion job still copies the rows of the table."
)
STREAM_READING = Metric(
    Scope.TABLE, "isStreamReading", GAUGE, "0 or 1", "Whether the table is copied, and only its changes are read."
)
SPLITS_DONE = Metric(
    Scope.TABLE, "numSnapshotSplitsFinished", GAUGE, "chunks", "Chunks of a table under way that are copied."
)
SPLITS_LEFT = Metric(
    Scope.TABLE,
    "numSnapshotSplitsRemaining",
    GAUGE,
    "chunks",
    "Chunks that are left, by the server's statistics.",
)

LATE = Metric(
    Scope.OPERATOR,
    "numRecordsLate",
    COUNTER,
    "records",
    "Rows that came after their window or their time was closed, and were left out.",
    ("late_rows_dropped",),
)
SUPPRESSED = Metric(
    Scope.OPERATOR,
    "numRecordsSuppressed",
    COUNTER,
    "records",
    "Results that were not emitted, because they had not changed.",
    ("unchanged_results_suppressed",),
)
OPERATOR_DROPPED = Metric(
    Scope.OPERATOR,
    "numRecordsDropped",
    COUNTER,
    "records",
    "Rows left out because they contradict the state: retractions of what is not there, a second row of a unique key.",
    ("retractions_without_state", "rows_beyond_one_per_key", "rows_beyond_one_per_identity", "deletes_without_time"),
)
STATE_ROWS = Metric(
    Scope.OPERATOR,
    "stateRows",
    GAUGE,
    "rows",
    "Entries in the files of the state; those of a key that was changed count until its files are merged.",
)
STATE_BYTES = Metric(Scope.OPERATOR, "stateBytes", GAUGE, "bytes", "Size of the files of the state.")

BATCH_DURATION = Metric(
    Scope.BATCH,
    "lastBatchDuration",
    GAUGE,
    "ms",
    "How long the last batch took: `plan` decides what it reads, `run` reads, computes and writes, `commit` notes it.",
)
BATCH_TIME = Metric(Scope.BATCH, "batchTime", COUNTER, "ms", "The same, of all batches together.")

TABLES_COPIED = Metric(
    Scope.JOB, "numTablesSnapshotted", GAUGE, "tables", "Tables that an ingestion job has copied whole."
)
TABLES_LEFT = Metric(Scope.JOB, "numTablesRemaining", GAUGE, "tables", "Tables that it has not copied whole yet.")
BATCHES = Metric(Scope.JOB, "numBatches", COUNTER, "batches", "Batches that were committed.")
RUNNING = Metric(Scope.JOB, "running", GAUGE, "0 or 1", "Whether the job runs.")
FAILED = Metric(Scope.JOB, "failed", GAUGE, "0 or 1", "Whether the job ended with an error.")
RESTARTS = Metric(
    Scope.JOB,
    "numRestarts",
    COUNTER,
    "restarts",
    "How often the job went on from its checkpoint, since its first start.",
)
CHECKPOINT_SIZE = Metric(
    Scope.JOB, "lastCheckpointSize", GAUGE, "bytes", "State and manifest of the last batch that was committed."
)
INFO = Metric(
    Scope.JOB,
    "info",
    GAUGE,
    "1",
    "Always 1: `version` is that of rowkind, `source` and `sink` are the names that the file of an ingestion job has.",
    (),
    ("version", "source", "sink"),
)

METRICS = (
    RECORDS_IN,
    RECORDS_IN_RATE,
    BYTES_IN,
    BYTES_IN_RATE,
    EMIT_LAG,
    FETCH_LAG,
    IDLE,
    PENDING,
    WATERMARK,
    RECORDS_OUT,
    RECORDS_OUT_RATE,
    BYTES_OUT,
    BYTES_OUT_RATE,
    SEND_TIME,
    DROPPED,
    PARSE_ERRORS,
    DEAD_LETTERS,
    LOST,
    TRANSACTIONS,
    SNAPSHOTTING,
    STREAM_READING,
    SPLITS_DONE,
    SPLITS_LEFT,
    LATE,
    SUPPRESSED,
    OPERATOR_DROPPED,
    STATE_ROWS,
    STATE_BYTES,
    BATCH_DURATION,
    BATCH_TIME,
    TABLES_COPIED,
    TABLES_LEFT,
    BATCHES,
    RUNNING,
    FAILED,
    RESTARTS,
    CHECKPOINT_SIZE,
    INFO,
)
"""All of them, in the order of the documentation."""
