"""Where a job's database is, as its client takes it."""

from __future__ import annotations

from typing import Any

from rowkind.connectors.mysql.connection import ServerAddress
from rowkind.ingest.endpoints import MysqlSource, Tls
from rowkind.ingest.modes import TlsMode


def server_address(source: MysqlSource) -> ServerAddress:
    return ServerAddress(
        source.hostname,
        source.port,
        source.username,
        source.password,
        source.connect_timeout.total_seconds(),
        tls_arguments(source.tls),
        source.connect_retries,
    )


def tls_arguments(tls: Tls) -> dict[str, Any]:
    """PyMySQL's arguments for a protected connection."""
    if tls.mode is TlsMode.DISABLED:
        return {"ssl_disabled": True}
    if tls.mode is TlsMode.PREFERRED:
        return {}
    files = {"ssl_ca": tls.ca, "ssl_cert": tls.certificate, "ssl_key": tls.key}
    return {
        **{key: path for key, path in files.items() if path is not None},
        "ssl_verify_cert": tls.mode in (TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY),
        "ssl_verify_identity": tls.mode is TlsMode.VERIFY_IDENTITY,
    }
