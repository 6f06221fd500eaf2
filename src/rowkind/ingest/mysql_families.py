"""`jdbc.properties.*` and `debezium.*` of the source `mysql`: there is neither a JDBC driver nor Debezium here.

What changes the data or its protection is taken over or refused; the rest, which only tunes those libraries, is named
in a note.
"""

from __future__ import annotations

from rowkind.ingest.declarations import Declaration, counts, idle, refused
from rowkind.ingest.modes import TlsMode
from rowkind.options.declarations import Option, boolean, choice, text


def _jdbc(name: str) -> Option[str]:
    return Option(f"jdbc.properties.{name}", text, "string", None, "A property of the JDBC driver.")


def _debezium(name: str) -> Option[str]:
    return Option(f"debezium.{name}", text, "string", None, "A property of Debezium.")


SSL_MODE: Option[TlsMode] = Option(
    "jdbc.properties.sslMode",
    choice(TlsMode),
    ", ".join(TlsMode),
    None,
    "How the connection is protected. `VERIFY_CA` and `VERIFY_IDENTITY` check the server with `ssl.ca`, or with the "
    "authorities of the system.",
    unset="`PREFERRED`, or as `useSSL` says",
)
USE_SSL = Option(
    "jdbc.properties.useSSL",
    boolean,
    "boolean",
    None,
    "`false` is `sslMode: DISABLED`, `true` is `PREFERRED`, or as the next two say.",
)
REQUIRE_SSL = Option("jdbc.properties.requireSSL", boolean, "boolean", None, "`true` is `sslMode: REQUIRED`.")
VERIFY_SERVER = Option(
    "jdbc.properties.verifyServerCertificate", boolean, "boolean", None, "`true` is `sslMode: VERIFY_CA`."
)

JDBC: tuple[Declaration, ...] = (
    *counts(SSL_MODE, USE_SSL, REQUIRE_SSL, VERIFY_SERVER),
    *refused("use 'server-time-zone'", *map(_jdbc, ("serverTimezone", "connectionTimeZone"))),
    *refused("zero dates become NULL", _jdbc("zeroDateTimeBehavior"), harmless=("convertToNull", "CONVERT_TO_NULL")),
    *refused("use 'treat-tinyint1-as-boolean.enabled'", _jdbc("tinyInt1isBit")),
    *refused("use 'connect.timeout'", _jdbc("connectTimeout")),
    *refused("it would change what the server answers", _jdbc("sessionVariables")),
    *refused(
        "give PEM files by 'ssl.ca', 'ssl.cert' and 'ssl.key'",
        *map(_jdbc, ("trustCertificateKeyStoreUrl", "trustCertificateKeyStorePassword")),
        *map(_jdbc, ("clientCertificateKeyStoreUrl", "clientCertificateKeyStorePassword")),
    ),
    *idle(
        "there is no JDBC driver here",
        Option("jdbc.properties.*", text, "string", None, "Any other property of the JDBC driver."),
    ),
)

_OWN_WAY = "types are mapped in one way, see docs/coming-from-flink-cdc.md"
_TABLES = "use 'tables' and 'tables.exclude'"

DEBEZIUM: tuple[Declaration, ...] = (
    *refused(
        _TABLES,
        *map(_debezium, ("table.include.list", "table.exclude.list", "table.whitelist", "table.blacklist")),
        *map(_debezium, ("database.include.list", "database.exclude.list")),
    ),
    *refused(
        "name the columns in the projection of a transform",
        *map(_debezium, ("column.include.list", "column.exclude.list", "column.mask.*", "column.truncate.*")),
    ),
    *refused(
        _OWN_WAY,
        *map(_debezium, ("decimal.handling.mode", "bigint.unsigned.handling.mode", "time.precision.mode")),
        *map(_debezium, ("binary.handling.mode", "converters", "enable.time.adjuster")),
    ),
    *refused(
        "the key is the primary key; a transform's 'primary-keys' gives another one", _debezium("message.key.columns")
    ),
    *refused("every change is written; filter in a transform", _debezium("skipped.operations")),
    *refused("use 'scan.startup.mode'", _debezium("snapshot.mode")),
    *refused(
        "an event that cannot be read ends the job by name",
        *map(_debezium, ("event.processing.failure.handling.mode", "inconsistent.schema.handling.mode")),
        harmless=("fail",),
    ),
    *refused("every GTID of the server is read", *map(_debezium, ("gtid.source.includes", "gtid.source.excludes"))),
    *refused("name the server by 'hostname' and 'port'", *map(_debezium, ("database.hostname", "database.port"))),
    *refused("use 'jdbc.properties.sslMode'", _debezium("database.ssl.mode")),
    *idle(
        "Debezium does not run here",
        Option("debezium.*", text, "string", None, "Any other property of Debezium, such as the sizes of its queues."),
    ),
)
"""Whole names go before families, so that what is refused never counts as a matter of tuning."""
