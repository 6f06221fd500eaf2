"""The named values of options: how a table is read, stopped, written and promised."""

from __future__ import annotations

from enum import Enum, StrEnum


class Side(Enum):
    """Whether a statement reads a table or writes it."""

    SOURCE = "source"
    SINK = "sink"


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


class FieldsInclude(StrEnum):
    """Whether key columns are in the value too."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


class EmitStrategy(StrEnum):
    ON_PERIODIC = "on-periodic"
    ON_EVENT = "on-event"


class OnDataLoss(StrEnum):
    FAIL = "fail"
    CONTINUE = "continue"


class OnMissingTopic(StrEnum):
    """What an unbounded read does while a topic of its table does not exist."""

    WAIT = "wait"
    FAIL = "fail"


class OnError(StrEnum):
    FAIL = "fail"
    SKIP = "skip"
    DEAD_LETTER = "dead-letter"


class Guarantee(StrEnum):
    NONE = "none"
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


class NamingStrategy(StrEnum):
    INCREMENTING = "INCREMENTING"
    POOLING = "POOLING"


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
