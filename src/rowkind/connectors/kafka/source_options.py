"""Options of a table that is read: where it starts and stops, how it goes on, event time."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any

from rowkind.connectors.reading_options import (
    EVENT_TIME,
    MAX_BYTES_PER_BATCH,
    MAX_ROWS_PER_BATCH,
    ON_ERROR,
    SCAN_PARALLELISM,
)
from rowkind.options.declarations import Option, choice, duration, integer, text


class StartupMode(StrEnum):
    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class BoundedMode(StrEnum):
    UNBOUNDED = "unbounded"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class OnDataLoss(StrEnum):
    FAIL = "fail"
    CONTINUE = "continue"


class OnMissingTopic(StrEnum):
    """What an unbounded read does while a topic of its table does not exist."""

    WAIT = "wait"
    FAIL = "fail"


STARTUP_MODE: Option[StartupMode] = Option(
    "scan.startup.mode",
    choice(StartupMode),
    "earliest-offset, latest-offset, group-offsets, timestamp, specific-offsets",
    StartupMode.GROUP,
    "Where reading starts. Without this option and without a group id it starts at the latest offset. "
    "`upsert-kafka` always starts at the earliest.",
)

STARTUP_SPECIFIC_OFFSETS = Option(
    "scan.startup.specific-offsets",
    text,
    "string",
    None,
    "First offsets in mode `specific-offsets`: `partition:0,offset:42;partition:1,offset:300`.",
    required="in mode `specific-offsets`",
)

STARTUP_TIMESTAMP = Option(
    "scan.startup.timestamp-millis",
    integer,
    "long",
    None,
    "Milliseconds since the epoch, for mode `timestamp`.",
    required="in mode `timestamp`",
)

BOUNDED_MODE: Option[BoundedMode] = Option(
    "scan.bounded.mode",
    choice(BoundedMode),
    "unbounded, latest-offset, group-offsets, timestamp, specific-offsets",
    BoundedMode.UNBOUNDED,
    "Where reading ends.",
)

BOUNDED_SPECIFIC_OFFSETS = Option(
    "scan.bounded.specific-offsets",
    text,
    "string",
    None,
    "First offsets that are not read any more, in mode `specific-offsets`; written as for the start.",
    required="in mode `specific-offsets`",
)

BOUNDED_TIMESTAMP = Option(
    "scan.bounded.timestamp-millis",
    integer,
    "long",
    None,
    "In mode `timestamp`: stop before the first message of this time (milliseconds since the epoch) or later.",
    required="in mode `timestamp`",
)

DISCOVERY_INTERVAL = Option(
    "scan.topic-partition-discovery.interval",
    duration,
    "duration",
    timedelta(minutes=5),
    "How often to look for new partitions and topics; 0 or less never looks. A bounded table never looks.",
)

ON_DATA_LOSS: Option[OnDataLoss] = Option(
    "scan.on-data-loss",
    choice(OnDataLoss),
    "fail, continue",
    OnDataLoss.FAIL,
    "What happens when retention removed messages that were not read yet, or a topic was deleted; one of a "
    "`topic-pattern` is always left, and counted (rowkind's own).",
)

ON_MISSING_TOPIC: Option[OnMissingTopic] = Option(
    "scan.on-missing-topic",
    choice(OnMissingTopic),
    "wait, fail",
    OnMissingTopic.WAIT,
    "What happens while a topic of `topic` does not exist: the job says so, waits for it and reads it from its "
    "beginning, or it fails. A bounded read always fails (rowkind's own).",
)

DEAD_LETTER_TOPIC = Option(
    "scan.dead-letter.topic",
    text,
    "string",
    None,
    "Where such messages go with `scan.on-error` = `dead-letter` (rowkind's own).",
    required="with `dead-letter`",
)

STARTUP: tuple[Option[Any], ...] = (STARTUP_MODE, STARTUP_SPECIFIC_OFFSETS, STARTUP_TIMESTAMP)
"""`kafka` only: an upsert table always starts at the earliest offset."""

SCAN: tuple[Option[Any], ...] = (
    BOUNDED_MODE,
    BOUNDED_SPECIFIC_OFFSETS,
    BOUNDED_TIMESTAMP,
    DISCOVERY_INTERVAL,
    SCAN_PARALLELISM,
    *EVENT_TIME,
    MAX_ROWS_PER_BATCH,
    MAX_BYTES_PER_BATCH,
    ON_DATA_LOSS,
    ON_MISSING_TOPIC,
    ON_ERROR,
    DEAD_LETTER_TOPIC,
)
