"""What a server is and how it is set up, and the settings without which its changes cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkind.connectors.mysql.connection import rows
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import pymysql

OLDEST_MYSQL, OLDEST_MARIADB = (5, 6), (10, 2)
REPLICATION_CLIENT = {"REPLICATION CLIENT", "BINLOG MONITOR"}
"""MariaDB has renamed it."""
_VARIABLES = (
    "log_bin", "binlog_format", "binlog_row_image", "binlog_row_value_options", "gtid_mode", "gtid_strict_mode",
    "system_time_zone", "lower_case_table_names", "server_id", "server_uuid",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """One server as it answered at connect."""

    mariadb: bool
    version: str
    log_bin: bool
    binlog_format: str
    row_image: str
    row_value_options: str
    gtid: bool
    """Whether transactions have GTIDs: always on MariaDB, with gtid_mode=ON on MySQL."""
    time_zone: str
    """The server's own, as text; rowkind reads in UTC whatever it is."""
    lower_case_table_names: int
    server_id: int
    server_uuid: str
    """Empty on MariaDB."""
    user: str
    """The account the server took the login for, as user@host."""
    privileges: frozenset[str]
    """Global ones, in upper case; ALL PRIVILEGES as such."""

    @property
    def folds(self) -> bool:
        """Whether names of databases and tables are kept in lower case, however statements write them."""
        return self.lower_case_table_names == 1

    @property
    def release(self) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:3])


def server_facts(connection: pymysql.Connection[Any]) -> ServerFacts:
    """Ask the server."""
    names = ", ".join(f"'{name}'" for name in _VARIABLES)
    found = dict(rows(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})"))
    version, zone, user = rows(connection, "SELECT VERSION(), @@GLOBAL.time_zone, CURRENT_USER()")[0]
    mariadb = "mariadb" in version.lower()
    return ServerFacts(
        mariadb=mariadb,
        version=version,
        log_bin=found.get("log_bin") == "ON",
        binlog_format=found.get("binlog_format", "ROW"),
        row_image=found.get("binlog_row_image", "FULL"),
        row_value_options=found.get("binlog_row_value_options", ""),
        gtid=mariadb or found.get("gtid_mode") == "ON",
        time_zone=found.get("system_time_zone", "") if zone == "SYSTEM" else zone,
        lower_case_table_names=int(found.get("lower_case_table_names", 0)),
        server_id=int(found.get("server_id", 0)),
        server_uuid=found.get("server_uuid", ""),
        user=user,
        privileges=_global_privileges(connection),
    )


def check_server(facts: ServerFacts) -> None:
    """Refuse a server whose binlog cannot be read, by the name of the first setting that is in the way."""
    for problem in server_problems(facts):
        raise problem


def server_problems(facts: ServerFacts) -> Iterator[RowkindError]:
    """Everything that is in the way of reading a server's binlog."""
    if facts.release[:2] < (OLDEST_MARIADB if facts.mariadb else OLDEST_MYSQL):
        yield RowkindError("MYSQL_TOO_OLD", version=facts.version)
    if not facts.log_bin:
        yield RowkindError("MYSQL_BINLOG_OFF")
    if facts.binlog_format.upper() != "ROW":
        yield RowkindError("MYSQL_BINLOG_FORMAT", value=facts.binlog_format)
    # MariaDB 11 has FULL_NODUP, too: its after image lacks what has not changed.
    if facts.row_image.upper() != "FULL":
        yield RowkindError("MYSQL_ROW_IMAGE", value=facts.row_image)
    if facts.row_value_options:
        yield RowkindError("MYSQL_PARTIAL_JSON", value=facts.row_value_options)
    if missing := missing_privileges(facts):
        user, _, host = facts.user.rpartition("@")
        yield RowkindError("MYSQL_MISSING_GRANTS", user=facts.user, missing=missing, grantee=f"'{user}'@'{host}'")


def missing_privileges(facts: ServerFacts) -> str:
    """Of the two global ones that a replica needs; whether a table may be read shows when it is listed and read."""
    have = facts.privileges
    if have & {"ALL PRIVILEGES", "SUPER"}:
        return ""
    missing = [] if have & {"REPLICATION SLAVE", "REPLICATION REPLICA"} else ["REPLICATION SLAVE"]
    missing += [] if have & REPLICATION_CLIENT else ["REPLICATION CLIENT"]
    return ", ".join(missing)


def zone_offset(connection: pymysql.Connection[Any]) -> int | None:
    """Seconds that the server's own time zone is ahead of UTC now; None when it cannot tell."""
    own = "CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', @@GLOBAL.time_zone)"
    ((seconds,),) = rows(connection, f"SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), {own})")
    return None if seconds is None else int(seconds)


def _global_privileges(connection: pymysql.Connection[Any]) -> frozenset[str]:
    granted: set[str] = set()
    for (line,) in rows(connection, "SHOW GRANTS"):
        # The rest of the line may hold a hash of the password: it is not kept.
        match = re.match(r"GRANT (.+?) ON \*\.\* TO ", line)
        if match:
            granted |= {re.sub(r"\s*\(.*", "", name).strip().upper() for name in match.group(1).split(",")}
    return frozenset(granted)
