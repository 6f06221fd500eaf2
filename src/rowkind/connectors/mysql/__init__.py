"""Reading MySQL and MariaDB: snapshots of tables and their binlog, as Arrow. Neither Spark nor Kafka is known here.

Server and tables

    address = ServerAddress(host, port, user, password, connect_seconds=30, tls={})
    connection = connect(address)                               # MYSQL_LOGIN, MYSQL_UNREACHABLE, ...
    facts = server_facts(connection)                            # frozen, picklable
    check_server(facts)                                         # spec 2.2, one named error a setting
    list_tables(connection) -> list[TableId]                    # TableId(database, table)
    read_schemas(connection, tables) -> dict[TableId, TableSchema]
    TableSchema.to_json() / TableSchema.from_json(record)

Types: one table for both ways of reading

    reading = Reading(tinyint1_as_boolean=True)
    fields(schema, reading) -> tuple[Field, ...]                # rowkind's logical types, in column order
    # Arrow batches have exactly arrow_schema(fields(schema, reading)), all columns nullable

Positions: always between two transactions

    BinlogPosition(file, pos, gtids="", timestamp=0, server_id=0)   # <, <=, compare(); to_json(), from_json()
    current_end(connection, facts, with_gtids=True), earliest(connection, facts) -> BinlogPosition
    check_available(connection, facts, position)                # MYSQL_POSITION_PURGED, MYSQL_GTID_PURGED
    position_at(address, facts, seconds, server_id) -> BinlogPosition   # of the file in which a time lies

Snapshot

    splitter = ChunkSplitter(schema, key_column=None, size=8096, lower=0.05, upper=1000.0, state=None)
    splitter.next(connection) -> Chunk | None                   # lazily, one bound a call; None: no chunk is left
    splitter.state -> dict                                      # JSON, enough to go on elsewhere
    Chunk(table, index, key, low, high)                         # half-open; to_json(), from_json()
    chunk_rows(address, facts, schema, chunks, after, reading, counts) -> Iterator[pa.RecordBatch]
        # with the changes up to `after` and perhaps later ones; MYSQL_SCHEMA_CHANGED: the log says how

Binlog

    history = SchemaHistory(schemas, captures=lambda table: ..., charsets={}, mariadb=facts.mariadb)
        # changes as DDL is read; to_json(), SchemaHistory.from_json(record, captures); notes: list[str]
    reader = BinlogReader(address, facts, start, server_id, history, reading, heartbeat_seconds=30)
    reader.poll(max_bytes=16 << 20, seconds=1.0, until=None) -> Piece
    Piece(parts, position, at_border, reached, bytes, seconds_behind)
        parts: tuple[TableChanges | TableDdl, ...]              # in order between DDL; tables between DDL by sequence
        position: the last border that was read; only at_border may it be stored as done
        reached: `until` was reached, nothing beyond it is in the piece
    TableChanges(schema, rows, kinds, sequence, timestamp, file, pos, zero_dates)
        rows: pa.RecordBatch of images, an update as -U, +U beside each other; kinds: int8 of RowKind
        sequence: int64, grows over all tables of a reader; timestamp: int64 milliseconds; pos: int64, end of its event
    TableDdl(table, kind, before, after, statement, position)   # kind: create, alter, rename, truncate, drop
    reader.close()
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "ServerAddress": "rowkind.connectors.mysql.connection:ServerAddress",
    "connect": "rowkind.connectors.mysql.connection:connect",
    "ServerFacts": "rowkind.connectors.mysql.facts:ServerFacts",
    "server_facts": "rowkind.connectors.mysql.facts:server_facts",
    "check_server": "rowkind.connectors.mysql.facts:check_server",
    "ColumnSchema": "rowkind.connectors.mysql.schemas:ColumnSchema",
    "TableId": "rowkind.connectors.mysql.schemas:TableId",
    "TableSchema": "rowkind.connectors.mysql.schemas:TableSchema",
    "list_tables": "rowkind.connectors.mysql.schemas:list_tables",
    "read_schemas": "rowkind.connectors.mysql.schemas:read_schemas",
    "BinlogPosition": "rowkind.connectors.mysql.positions:BinlogPosition",
    "check_available": "rowkind.connectors.mysql.positions:check_available",
    "current_end": "rowkind.connectors.mysql.positions:current_end",
    "earliest": "rowkind.connectors.mysql.positions:earliest",
    "position_at": "rowkind.connectors.mysql.start_times:position_at",
    "Reading": "rowkind.connectors.mysql.types:Reading",
    "fields": "rowkind.connectors.mysql.types:fields",
    "Chunk": "rowkind.connectors.mysql.chunks:Chunk",
    "ChunkSplitter": "rowkind.connectors.mysql.chunks:ChunkSplitter",
    "chunk_rows": "rowkind.connectors.mysql.chunk_reading:chunk_rows",
    "SchemaHistory": "rowkind.connectors.mysql.history:SchemaHistory",
    "TableDdl": "rowkind.connectors.mysql.history:TableDdl",
    "BinlogReader": "rowkind.connectors.mysql.reader:BinlogReader",
    "Piece": "rowkind.connectors.mysql.reader:Piece",
    "TableChanges": "rowkind.connectors.mysql.reader:TableChanges",
}
"""Imported when first asked for: most users of this package need a part of it."""


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(name)
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(import_module(module), attribute)
