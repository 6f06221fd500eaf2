"""Connections to the server: PyMySQL logs in, and what goes wrong then has a name."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import pymysql

TRIES_APART_SECONDS = 0.5
READ_SECONDS = 600
"""How long an answer may take: a chunk's SELECT may have to scan a large table."""

_ACCESS_DENIED, _NO_LOGIN_FROM_HOST, _UNKNOWN_DATABASE, _DATABASE_DENIED = 1045, 1130, 1049, 1044
_LOG_REFUSED = 1236
_DENIED = {1142, 1143, 1227, 1044, 1370}
_LOST = {2003, 2006, 2013, 2055, 1053, 1927, 3169, 1040}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server is, and as whom to log in. The password appears in no text of this object."""

    host: str
    port: int = 3306
    user: str = "root"
    password: str = field(default="", repr=False)
    connect_seconds: float = 30
    tls: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """PyMySQL's `ssl_*` arguments; empty means TLS where the server offers it, without a check of its certificate."""
    tries: int = 1
    """How often a connection is tried when the server does not answer."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def connect(address: ServerAddress) -> pymysql.Connection[Any]:
    """A connection in UTC with UTF-8 and a plain SQL mode, so that values read the same whatever the server's settings.

    Raises MYSQL_LOGIN, MYSQL_UNREACHABLE, MYSQL_FAILED.
    """
    for _ in range(address.tries - 1):
        try:
            return _connected(address)
        except RowkindError as error:
            if not error.retryable:
                raise
            time.sleep(TRIES_APART_SECONDS)
    return _connected(address)


def _connected(address: ServerAddress) -> pymysql.Connection[Any]:
    import pymysql

    with named_errors(address, "connecting"):
        connection: pymysql.Connection[Any] = pymysql.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            # PyMySQL would write text as latin1
            password=address.password.encode(),
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=address.connect_seconds,
            read_timeout=READ_SECONDS,
            # A plain mode: no padded CHAR, no other quotes, backslash escapes.
            init_command="SET SESSION sql_mode = '', time_zone = '+00:00', net_write_timeout = 600",
            program_name="rowkind",
            **address.tls,
        )
        return connection


def rows(connection: pymysql.Connection[Any], statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """All rows of a small answer."""
    with named_errors(None, statement), connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall())


@contextmanager
def named_errors(address: ServerAddress | None, what: str) -> Iterator[None]:
    """Turn the client's errors into named ones; the server's own text says what it refused and holds no password."""
    import pymysql

    try:
        yield
    except pymysql.MySQLError as error:
        raise named(error, str(address or "the server"), what) from error
    except OSError as error:
        raise RowkindError("MYSQL_UNREACHABLE", server=str(address or "the server"), reason=error, what=what) from error
    except RuntimeError as error:
        # PyMySQL asks for the cryptography package this way.
        raise RowkindError("MYSQL_FAILED", server=str(address or "the server"), reason=error, what=what) from error


def named(error: Exception, server: str, what: str) -> RowkindError:
    """The named error for one of the client's."""
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    reason = str(error.args[1]) if len(error.args) > 1 else str(error)
    if code in (_ACCESS_DENIED, _NO_LOGIN_FROM_HOST):
        return RowkindError("MYSQL_LOGIN", server=server, reason=reason)
    if code == _UNKNOWN_DATABASE:
        return RowkindError("MYSQL_UNKNOWN_DATABASE", server=server, reason=reason)
    if code in _DENIED:
        return RowkindError("MYSQL_PRIVILEGE_MISSING", server=server, reason=reason, what=what)
    if code == _LOG_REFUSED:
        return RowkindError("MYSQL_LOG_REFUSED", server=server, reason=reason)
    if code in _LOST or isinstance(error, TimeoutError):
        return RowkindError("MYSQL_UNREACHABLE", server=server, reason=reason, what=what)
    return RowkindError("MYSQL_FAILED", server=server, reason=f"{reason} (error {code})", what=what)


def quoted(name: str) -> str:
    """An identifier in back quotes."""
    return "`" + name.replace("`", "``") + "`"
