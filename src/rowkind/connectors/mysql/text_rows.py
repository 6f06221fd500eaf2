"""The rows of a SELECT, read raw from the text protocol and decoded column by column into Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql.arrays import Bools, Ints, View
from rowkind.connectors.mysql.connection import READ_SECONDS, named_errors, quoted
from rowkind.connectors.mysql.packets import Packets, is_eof
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schemas import TableSchema
from rowkind.connectors.mysql.text_columns import text_column
from rowkind.connectors.mysql.types import ColumnType, arrow_schema, select_expression
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import pymysql

BATCH_BYTES = 8 << 20
_COM_QUERY = 3
_NULL = 0xFB
_LENGTHS = ((0xFC, 2), (0xFD, 3), (0xFE, 8))
"""The first byte of a length says how many follow."""


def select_batches(
    connection: pymysql.Connection[Any],
    schema: TableSchema,
    columns: Sequence[ColumnType],
    where: str,
    counts: Counts,
    batch_bytes: int = BATCH_BYTES,
) -> Iterator[pa.RecordBatch]:
    """All rows of a table that a condition lets through, in batches of about so many bytes.

    A caller that does not take all of them must close the connection: the server goes on sending.
    """
    names = ", ".join(select_expression(column) for column in columns)
    table = f"{quoted(schema.id.database)}.{quoted(schema.id.table)}"
    statement = f"SELECT {names} FROM {table}" + (f" WHERE {where}" if where else "")
    with named_errors(None, f"reading {schema.id}"):
        connection._execute_command(_COM_QUERY, statement)
    packets = Packets(connection)
    header = _Header()
    while True:
        places = packets.more(connection._read_timeout, batch_bytes, until_eof=True)
        if not places:
            reason = f"no row came for {READ_SECONDS} s"
            raise RowkindError("MYSQL_UNREACHABLE", server="the server", what=f"reading {schema.id}", reason=reason)
        rows, ended = _rows_in(packets, places, header, f"reading {schema.id}")
        if rows:
            yield decode_rows(View(packets.buffer), np.array(rows, np.int64), columns, counts)
        if ended:
            return


@dataclass(slots=True)
class _Header:
    """What precedes the rows: a number of columns, so many descriptions, an end."""

    over: bool = False


def _rows_in(packets: Packets, places: list[tuple[int, int]], header: _Header, what: str) -> tuple[list[int], bool]:
    """Where rows begin among the packets, and whether the last of them has come."""
    first = 0
    if not header.over:
        if packets.is_error(places[0][0]):
            packets.raise_error(*places[0], what)
        ends = (i for i, (start, end) in enumerate(places) if is_eof(packets.buffer, start, end))
        at = next(ends, None)
        if at is None:
            return [], False
        header.over, first = True, at + 1
    if first == len(places):
        return [], False
    start, end = places[-1]
    if packets.is_error(start) and _is_error(packets, start, end):
        packets.raise_error(start, end, what)
    ended = is_eof(packets.buffer, start, end)
    return [start for start, _ in places[first : len(places) - ended]], ended


def _is_error(packets: Packets, start: int, end: int) -> bool:
    # The length of a value never starts with this byte.
    return end - start > 3


def decode_rows(view: View, starts: Ints, columns: Sequence[ColumnType], counts: Counts) -> pa.RecordBatch:
    """Rows that start at these places, in lock step: one step a column, all rows in each."""
    at, arrays = starts, []
    for column in columns:
        at, length, nulls = _lengths(view, at)
        arrays.append(text_column(column, view, at, length, nulls, counts))
        at = at + length
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(columns))


def _lengths(view: View, at: Ints) -> tuple[Ints, Ints, Bools | None]:
    """Where values begin, how long they are, which are NULL."""
    first = view.bytes.take(at)
    length = first.astype(np.int64)
    if not len(first) or first.max() < _NULL:
        return at + 1, length, None
    head = np.ones(len(at), np.int64)
    nulls = first == _NULL
    length[nulls] = 0
    for code, width in _LENGTHS:
        long = first == code
        if long.any():
            length[long] = view.little(at[long] + 1, width)
            head[long] = 1 + width
    return at + head, length, nulls if nulls.any() else None
