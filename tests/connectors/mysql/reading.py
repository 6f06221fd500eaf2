"""Reading a table both ways, as tests want it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from rowkind.connectors.mysql import events
from rowkind.connectors.mysql.binlog_stream import open_stream
from rowkind.connectors.mysql.changes import TableChanges
from rowkind.connectors.mysql.history import SchemaHistory, TableDdl
from rowkind.connectors.mysql.positions import BinlogPosition, current_end
from rowkind.connectors.mysql.reader import BinlogReader, Piece
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schemas import TableId, TableSchema, read_schemas
from rowkind.connectors.mysql.text_rows import select_batches
from rowkind.connectors.mysql.types import Reading, arrow_schema, column_types, fields
from rowkind.formats.contract import FormatChoice
from rowkind.formats.registry import format_named
from rowkind.kinds import RowKind
from rowkind.types import Field
from tests.connectors.mysql.conftest import Database

READING = Reading()
SERVER_ID = 4711


def schema_of(db: Database, table: str) -> TableSchema:
    id = TableId(db.name, table)
    return read_schemas(db.connection, [id])[id]


def snapshot(db: Database, schema: TableSchema, where: str = "", reading: Reading = READING) -> pa.Table:
    columns = column_types(schema, reading)
    batches = list(select_batches(db.connection, schema, columns, where, Counts()))
    return pa.Table.from_batches(batches, arrow_schema(columns))


def end(db: Database) -> BinlogPosition:
    return current_end(db.connection, db.facts)


def history(db: Database, *schemas: TableSchema) -> SchemaHistory:
    return SchemaHistory({schema.id: schema for schema in schemas}, mariadb=db.mariadb)


def pieces(
    db: Database, start: BinlogPosition, until: BinlogPosition, known: SchemaHistory, max_bytes: int = 16 << 20
) -> list[Piece]:
    reader = BinlogReader(db.address, db.facts, start, SERVER_ID, known, READING)
    found = []
    try:
        while not found or not found[-1].reached:
            found.append(reader.poll(max_bytes, until=until))
    finally:
        reader.close()
    return found


def changes(
    db: Database, start: BinlogPosition, *schemas: TableSchema, until: BinlogPosition | None = None
) -> list[TableChanges | TableDdl]:
    found = pieces(db, start, until or end(db), history(db, *schemas))
    return [part for piece in found for part in piece.parts]


def images(parts: list[Any], *kinds: RowKind) -> pa.Table:
    """The rows of these kinds."""
    tables = []
    for part in parts:
        if isinstance(part, TableDdl):
            continue
        chosen = [kind in kinds for kind in part.kinds.to_pylist()]
        tables.append(pa.table(part.rows).filter(pa.array(chosen, pa.bool_())))
    return pa.concat_tables(tables)


def json_texts(schema: TableSchema, table: pa.Table, reading: Reading = READING) -> list[str]:
    """Rows as rowkind writes them to Kafka."""
    columns = tuple(Field(field.name, field.type) for field in fields(schema, reading))
    choice = FormatChoice("json", {"encode.decimal-as-plain-number": True})
    encoder = format_named("json").encoder(columns, choice)
    batch = pa.RecordBatch.from_arrays([column.combine_chunks() for column in table.columns], schema=table.schema)
    return [value.decode() for value in encoder.encode(batch).to_pylist()]


def raw_events(db: Database, start: BinlogPosition, until: BinlogPosition) -> Iterator[bytes]:
    """Events without their checksums."""
    stream = open_stream(db.address, db.facts, start, SERVER_ID)
    try:
        while True:
            for first, last in stream.packets.more():
                event = bytes(stream.packets.buffer[first + 1 : last - 4])
                _, type, _, _, pos, _ = struct.unpack_from("<IBIIIH", event)
                if type in (events.ROTATE, events.FORMAT):
                    continue
                yield event[:9] + struct.pack("<I", len(event)) + event[13:]
                if pos >= until.pos:
                    return
    finally:
        stream.close()
