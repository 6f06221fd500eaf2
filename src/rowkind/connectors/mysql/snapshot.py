"""One chunk of a table, exact as of a position in the binlog, without a lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql.changes import TableChanges
from rowkind.connectors.mysql.chunk_index import ChunkIndex
from rowkind.connectors.mysql.chunks import Chunk
from rowkind.connectors.mysql.connection import ServerAddress, connect, rows
from rowkind.connectors.mysql.history import SchemaHistory
from rowkind.connectors.mysql.positions import BinlogPosition, current_end, settle
from rowkind.connectors.mysql.reader import BinlogReader
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schemas import TableSchema, read_schemas
from rowkind.connectors.mysql.text_rows import select_batches
from rowkind.connectors.mysql.types import Reading, arrow_schema, column_types
from rowkind.errors import RowkindError
from rowkind.kinds import RowKind

if TYPE_CHECKING:
    import pymysql

    from rowkind.connectors.mysql.facts import ServerFacts

_ADDS = (RowKind.INSERT, RowKind.UPDATE_AFTER)
_CHANGED = ("error 1412", "error 1054", "error 1146")
"""The definition has changed, a column is unknown, the table is gone."""


@dataclass(frozen=True, slots=True)
class ChunkRows:
    """The rows of a chunk as they were at `high`."""

    rows: pa.Table
    high: BinlogPosition
    """Without GTIDs: it compares with the files and positions of the same server."""
    zero_dates: int = 0
    backfilled: int = 0
    """Rows that the binlog has changed while the chunk was read."""


def read_chunk(
    address: ServerAddress,
    facts: ServerFacts,
    schema: TableSchema,
    chunk: Chunk,
    server_id: int,
    reading: Reading,
    backfill: bool = True,
) -> ChunkRows:
    """Read a chunk between two looks at the binlog's end, and apply what the binlog has in between.

    MariaDB can tell the position of a consistent snapshot: there nothing lies in between for a transactional table.
    `server_id` is for the binlog's connection. A DDL of the table in between is MYSQL_SCHEMA_CHANGED: read its schema
    and the chunk again.
    """
    counts = Counts()
    connection = connect(address)
    try:
        exact = facts.mariadb and schema.engine.lower() == "innodb"
        low = _consistent(connection, facts) if exact else current_end(connection, facts, with_gtids=False)
        if not facts.mariadb:
            settle(connection, facts)
        if read_schemas(connection, [schema.id]).get(schema.id) != schema:
            raise RowkindError("MYSQL_SCHEMA_CHANGED", table=schema.id)
        found = _select(connection, schema, chunk, reading, counts)
        high = low if exact else current_end(connection, facts, with_gtids=False)
        if not backfill or low.place() >= high.place():
            return ChunkRows(found, high, counts.zero_dates)
        changes = _changes(address, facts, schema, (low, high), server_id, reading)
        merged, touched = _merged(connection, found, changes, schema, chunk)
        zero_dates = counts.zero_dates + sum(change.zero_dates for change in changes)
        return ChunkRows(merged, high, zero_dates, touched)
    finally:
        connection._force_close()


def _consistent(connection: pymysql.Connection[Any], facts: ServerFacts) -> BinlogPosition:
    rows(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    rows(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
    found = {name.lower(): value for name, value in rows(connection, "SHOW STATUS LIKE 'binlog_snapshot_%'")}
    return BinlogPosition(
        found["binlog_snapshot_file"], int(found["binlog_snapshot_position"]), server_id=facts.server_id
    )


def _select(
    connection: pymysql.Connection[Any], schema: TableSchema, chunk: Chunk, reading: Reading, counts: Counts
) -> pa.Table:
    columns = column_types(schema, reading)
    try:
        batches = list(select_batches(connection, schema, columns, chunk.where(schema), counts))
    except RowkindError as error:
        if any(code in str(error) for code in _CHANGED):
            raise RowkindError("MYSQL_SCHEMA_CHANGED", table=schema.id) from error
        raise
    return pa.Table.from_batches(batches, arrow_schema(columns))


def _changes(
    address: ServerAddress,
    facts: ServerFacts,
    schema: TableSchema,
    between: tuple[BinlogPosition, BinlogPosition],
    server_id: int,
    reading: Reading,
) -> list[TableChanges]:
    """What the binlog has of this table between two positions."""
    low, high = between
    reader = BinlogReader(address, facts, low, server_id, SchemaHistory({schema.id: schema}), reading)
    found: list[TableChanges] = []
    try:
        while True:
            piece = reader.poll(until=high)
            for part in piece.parts:
                if not isinstance(part, TableChanges):
                    raise RowkindError("MYSQL_SCHEMA_CHANGED", table=schema.id)
                found.append(part)
            if piece.reached:
                return found
    finally:
        reader.close()


def _merged(
    connection: pymysql.Connection[Any],
    found: pa.Table,
    changes: Sequence[TableChanges],
    schema: TableSchema,
    chunk: Chunk,
) -> tuple[pa.Table, int]:
    """The chunk with the last state of every key that has changed: images hold whole rows, so only the last counts."""
    if not changes:
        return found, 0
    last: dict[tuple[Any, ...], tuple[int, int] | None] = {}
    index = ChunkIndex(schema, [chunk])
    for number, change in enumerate(changes):
        places = index.places(connection, change.rows.column(change.rows.schema.get_field_index(chunk.key)))
        keys = _keys(pa.table(change.rows), schema)
        for row, (key, kind, place) in enumerate(zip(keys, change.kinds.to_pylist(), places.tolist(), strict=True)):
            last[key] = (number, row) if kind in _ADDS and place == 0 else None
    untouched = np.array([key not in last for key in _keys(found, schema)], np.bool_)
    kept = found.filter(pa.array(untouched))
    put: dict[int, list[int]] = {}
    for change_row in last.values():
        if change_row is not None:
            put.setdefault(change_row[0], []).append(change_row[1])
    tables = [pa.table(changes[number].rows).take(pa.array(taken)) for number, taken in put.items()]
    return pa.concat_tables([kept, *tables]), len(last)


def _keys(table: pa.Table, schema: TableSchema) -> list[tuple[Any, ...]]:
    names = schema.primary_key or tuple(column.name for column in schema.columns)
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
