"""Options of a table that is read, whatever its connector, and what they come to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rowkind.connectors.settings import Alignment, EmitStrategy, OnError
from rowkind.connectors.usage import Usage
from rowkind.options.declarations import Option, choice, duration, integer, positive, text
from rowkind.options.session_options import SOURCE_IDLE_TIMEOUT

NEVER = timedelta(0)

SCAN_PARALLELISM = Option(
    "scan.parallelism",
    integer,
    "int",
    None,
    "Number of tasks that read the table.",
    unset="the number of Spark's cores",
)

WATERMARK_EMIT: Option[EmitStrategy] = Option(
    "scan.watermark.emit.strategy",
    choice(EmitStrategy),
    "on-periodic, on-event",
    EmitStrategy.ON_PERIODIC,
    "When a partition's watermark moves; both mean once a batch here, behind the rows of the batch.",
)

WATERMARK_IDLE_TIMEOUT = Option(
    "scan.watermark.idle-timeout",
    duration,
    "duration",
    None,
    "A partition without messages for so long no longer holds event time back; "
    "goes before the session option `table.exec.source.idle-timeout`.",
    unset="`table.exec.source.idle-timeout`",
)

ALIGNMENT_GROUP = Option(
    "scan.watermark.alignment.group",
    text,
    "string",
    None,
    "Tables of one group are kept together.",
    required="with `max-drift`",
    unset="no alignment",
)

ALIGNMENT_MAX_DRIFT = Option(
    "scan.watermark.alignment.max-drift",
    duration,
    "duration",
    None,
    "How far ahead of its group's slowest member a table may be.",
    required="with `group`",
    unset="no alignment",
)

ALIGNMENT_UPDATE_INTERVAL = Option(
    "scan.watermark.alignment.update-interval",
    duration,
    "duration",
    timedelta(seconds=1),
    "How often a group is compared: before every batch here, whatever this says.",
)

MAX_ROWS_PER_BATCH = Option(
    "scan.max-rows-per-batch",
    positive,
    "int",
    None,
    "Cap on the messages of this table in one batch (rowkind's own).",
    unset="as many as a batch of about ten seconds holds",
)

MAX_BYTES_PER_BATCH = Option(
    "scan.max-bytes-per-batch",
    positive,
    "long",
    256 * 1024 * 1024,
    "About how many bytes of messages of this table a batch may hold, by the size of those that wait before the first "
    "batch and of those that were read after it (rowkind's own).",
)

ON_ERROR: Option[OnError] = Option(
    "scan.on-error",
    choice(OnError),
    "fail, skip, dead-letter",
    OnError.FAIL,
    "What happens to a message that cannot be decoded (rowkind's own).",
)

EVENT_TIME: tuple[Option[Any], ...] = (
    WATERMARK_EMIT,
    WATERMARK_IDLE_TIMEOUT,
    ALIGNMENT_GROUP,
    ALIGNMENT_MAX_DRIFT,
    ALIGNMENT_UPDATE_INTERVAL,
)


def idle_timeout(usage: Usage) -> timedelta | None:
    """The table's, or that of the session."""
    timeout = usage.given.get(WATERMARK_IDLE_TIMEOUT)
    if timeout is None:
        timeout = usage.session.value(SOURCE_IDLE_TIMEOUT)
    return timeout if timeout > NEVER else None


def alignment(usage: Usage) -> Alignment | None:
    if not usage.given.has(ALIGNMENT_GROUP):
        return None
    given = usage.given
    return Alignment(given[ALIGNMENT_GROUP], given[ALIGNMENT_MAX_DRIFT], given[ALIGNMENT_UPDATE_INTERVAL])
