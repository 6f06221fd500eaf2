"""Rows of chunks, selected without locks so that they show at least all that the log has up to a position."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rowkind.connectors.mysql.chunks import Chunk
from rowkind.connectors.mysql.connection import READ_SECONDS, ServerAddress, connect, rows
from rowkind.connectors.mysql.facts import ServerFacts
from rowkind.connectors.mysql.positions import BinlogPosition, settle
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schemas import TableSchema, read_schemas
from rowkind.connectors.mysql.text_rows import select_batches
from rowkind.connectors.mysql.types import Reading, column_types
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import pymysql

_CHANGED = ("error 1412", "error 1054", "error 1146")
"""The definition has changed, a column is unknown, the table is gone."""
_AGAIN_SECONDS = 0.005


def chunk_rows(
    address: ServerAddress,
    facts: ServerFacts,
    schema: TableSchema,
    chunks: Sequence[Chunk],
    after: BinlogPosition,
    reading: Reading,
    counts: Counts,
) -> Iterator[pa.RecordBatch]:
    """The rows of chunks of one table, one after the other, with the changes up to `after` and perhaps later ones.

    MYSQL_SCHEMA_CHANGED when the table is not as its schema says: the log has the statement that changed it.
    """
    columns = column_types(schema, reading)
    connection = connect(address)
    try:
        _see(connection, facts, schema, after)
        _check(connection, schema, reading)
        for chunk in chunks:
            yield from select_batches(connection, schema, columns, chunk.where(schema), counts)
    except RowkindError as error:
        if any(code in str(error) for code in _CHANGED):
            raise RowkindError("MYSQL_SCHEMA_CHANGED", table=schema.id) from error
        raise
    finally:
        connection._force_close()  # the server may go on sending


def _see(connection: pymysql.Connection[Any], facts: ServerFacts, schema: TableSchema, after: BinlogPosition) -> None:
    """Wait until a SELECT sees what the log has: a transaction is in the log a little before it is visible."""
    if not facts.mariadb or schema.engine.lower() != "innodb":
        settle(connection, facts)
        return
    rows(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    deadline = time.monotonic() + READ_SECONDS
    while True:
        rows(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
        said = {name.lower(): value for name, value in rows(connection, "SHOW STATUS LIKE 'binlog_snapshot_%'")}
        seen = BinlogPosition(said["binlog_snapshot_file"], int(said["binlog_snapshot_position"]))
        if seen.place() >= after.place() or time.monotonic() > deadline:
            return
        rows(connection, "COMMIT")
        time.sleep(_AGAIN_SECONDS)


def _check(connection: pymysql.Connection[Any], schema: TableSchema, reading: Reading) -> None:
    """That the table has the columns and the key that rows of the log are read with."""
    now = read_schemas(connection, [schema.id]).get(schema.id)
    if now is None or now.primary_key != schema.primary_key or _read(now, reading) != _read(schema, reading):
        raise RowkindError("MYSQL_SCHEMA_CHANGED", table=schema.id)


def _read(schema: TableSchema, reading: Reading) -> list[tuple[str, str]]:
    return [(column.column.name, str(column.type)) for column in column_types(schema, reading)]
