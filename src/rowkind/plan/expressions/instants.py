"""Between instants and local clocks without the session's time zone.

Spark goes through the session's zone wherever it turns a TIMESTAMP_NTZ into a TIMESTAMP, also in functions that only
take one. In the hour that a zone skips in spring, the value then changes in silence; these ways are exact.
"""

from __future__ import annotations

from rowkind.plan.expressions.typed import once

DAY_MICROS = 86_400_000_000
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_PARTS = (("DAY", DAY_MICROS), ("HOUR", 3_600_000_000), ("MINUTE", 60_000_000), ("SECOND", 1_000_000))


def interval_micros(sql: str) -> str:
    """The length of a day-time interval in microseconds."""
    return once(sql, _micros)


def _micros(interval: str) -> str:
    return "(" + " + ".join(f"CAST(extract({unit} FROM {interval}) * {size}L AS BIGINT)" for unit, size in _PARTS) + ")"


def micros_between(start: str, end: str) -> str:
    """Microseconds from one TIMESTAMP_NTZ to another."""
    return interval_micros(f"({end} - {start})")


def epoch_micros(local: str) -> str:
    """A TIMESTAMP_NTZ as microseconds since 1970, read as a clock in UTC."""
    return micros_between(_EPOCH, local)


def utc_clock(instant: str) -> str:
    """What a clock in UTC shows at an instant: a TIMESTAMP as a TIMESTAMP_NTZ."""
    return f"({_EPOCH} + make_dt_interval(0, 0, 0, CAST(unix_micros({instant}) AS DECIMAL(20, 0)) / 1000000BD))"


def at_utc(local: str) -> str:
    """The instant at which a clock in UTC shows this: a TIMESTAMP_NTZ as a TIMESTAMP."""
    return f"timestamp_micros({epoch_micros(local)})"
