"""How far the copy of a table is: what is known of it without reading a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkind.connectors.mysql.connection import rows
from rowkind.connectors.mysql.schemas import TableId

if TYPE_CHECKING:
    import pymysql


@dataclass(frozen=True, slots=True)
class Copying:
    """A table that is not copied whole yet."""

    table: TableId
    chunks: int
    """Of it that are done."""
    chunks_about: int
    rows_about: int

    @property
    def rows_left(self) -> int:
        return self.rows_about * (self.chunks_about - self.chunks) // self.chunks_about


def about_rows(connection: pymysql.Connection[Any]) -> dict[TableId, int]:
    """About how many rows tables have, by the statistics of the server."""
    found = rows(connection, "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES")
    return {TableId(database, table): int(count or 0) for database, table, count in found}


def copying(
    todo: Sequence[TableId], splitter: Mapping[str, Any] | None, about: Mapping[TableId, int], chunk_size: int
) -> list[Copying]:
    """The tables that are to be copied; `splitter` is the state of the first of them."""
    found = []
    for place, table in enumerate(todo):
        state = splitter if place == 0 and splitter is not None else {}
        count = max(int(state.get("rows", 0)), about.get(table, 0))
        done = int(state.get("index", 0))
        # Statistics may be far off: a chunk is left as long as the table is not done.
        found.append(Copying(table, done, max(-(-count // chunk_size), done + 1), count))
    return found
