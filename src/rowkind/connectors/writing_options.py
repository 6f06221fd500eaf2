"""Options of a table that is written, whatever its connector."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rowkind.connectors.settings import Guarantee
from rowkind.options.declarations import Option, choice, duration, integer

SINK_PARALLELISM = Option(
    "sink.parallelism",
    integer,
    "int",
    None,
    "Number of tasks that write the table.",
    unset="inherited: as many tasks as the step before it has",
)

DELIVERY_GUARANTEE: Option[Guarantee] = Option(
    "sink.delivery-guarantee",
    choice(Guarantee),
    "none, at-least-once, exactly-once",
    Guarantee.AT_LEAST_ONCE,
    "What is promised when a job fails and goes on.",
)

BUFFER_MAX_ROWS = Option(
    "sink.buffer-flush.max-rows",
    integer,
    "int",
    0,
    "Rows are held back to write only the last one of each key: so many keys in a state partition of the sink, and all "
    "of them are written. 0 is off. Goes with `sink.buffer-flush.interval`.",
    required="with `interval`",
)

BUFFER_INTERVAL = Option(
    "sink.buffer-flush.interval",
    duration,
    "duration",
    timedelta(0),
    "How long a key is held back at most. What is held is part of the checkpoint; other sinks do not wait. "
    "0 is off. Goes with `sink.buffer-flush.max-rows`.",
    required="with `max-rows`",
)

BUFFERING: tuple[Option[Any], ...] = (BUFFER_MAX_ROWS, BUFFER_INTERVAL)
