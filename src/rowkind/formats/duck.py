"""DuckDB as a library of vectorised functions: one in-memory database a process, one thread, Arrow in and out."""

from __future__ import annotations

import os
from functools import lru_cache

import duckdb
import pyarrow as pa


@lru_cache(maxsize=1)
def _database(process: int) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})


def compute(texts: pa.Array, *expressions: str) -> list[pa.Array]:
    """Each expression over the column `t`, in the order of its values. Raises duckdb.Error for a text it refuses.

    >>> compute(pa.array(["[1,2]"]), "json_array_length(t)")[0].to_pylist()
    [2]
    """
    # A fork must not use its parent's database.
    cursor = _database(os.getpid()).cursor()
    try:
        cursor.register("texts", pa.table({"t": texts}))
        named = ", ".join(f"{e} AS c{i}" for i, e in enumerate(expressions))
        table = cursor.sql(f"SELECT {named} FROM texts").to_arrow_table()
    except UnicodeDecodeError as error:
        # DuckDB quotes the start of the text in its message, and may cut a character in two.
        raise duckdb.InvalidInputException(str(error)) from None
    finally:
        cursor.close()
    return [_one(column) for column in table.columns]


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def literal(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"
