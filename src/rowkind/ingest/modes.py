"""The named values of a job file's options."""

from __future__ import annotations

from enum import StrEnum

from rowkind.connectors.mysql.start_mode import StartMode as StartMode


class TlsMode(StrEnum):
    """How the connection to the database is protected, as MySQL's clients name it."""

    DISABLED = "DISABLED"
    PREFERRED = "PREFERRED"
    REQUIRED = "REQUIRED"
    VERIFY_CA = "VERIFY_CA"
    VERIFY_IDENTITY = "VERIFY_IDENTITY"


class JobMode(StrEnum):
    STREAMING = "STREAMING"
    BATCH = "BATCH"


class RouteMode(StrEnum):
    """Whether all routes that match a table apply, or the first one."""

    ALL_MATCH = "ALL_MATCH"
    FIRST_MATCH = "FIRST_MATCH"


class Behavior(StrEnum):
    """What becomes of a change of a table's schema."""

    LENIENT = "LENIENT"
    EVOLVE = "EVOLVE"
    TRY_EVOLVE = "TRY_EVOLVE"
    IGNORE = "IGNORE"
    EXCEPTION = "EXCEPTION"


class Partitioning(StrEnum):
    SINK_DEFINED = "SINK_DEFINED"
    PRIMARY_KEY = "PRIMARY_KEY"
    TABLE_ID = "TABLE_ID"


class DecimalMode(StrEnum):
    UP_TO_19 = "UP_TO_19"
    UP_TO_38 = "UP_TO_38"


class KeylessTables(StrEnum):
    """What happens to a table without a primary key."""

    FAIL = "fail"
    SKIP = "skip"


class Converter(StrEnum):
    SOFT_DELETE = "SOFT_DELETE"
