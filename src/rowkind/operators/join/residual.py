"""The part of a join condition that is not an equality of columns, as far as it must be known inside a worker."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import duckdb
import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Bools


class Residual(Protocol):
    """A condition over a pair of rows. Picklable; evaluated in Python workers, on many pairs at a time."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What it reads, of both sides."""
        ...

    def evaluate(self, pairs: pa.Table) -> Bools:
        """Whether it is true; false and unknown are the same. `pairs` has `columns`, and one row at least."""
        ...


@dataclass(frozen=True, slots=True)
class DuckResidual:
    """A condition that DuckDB evaluates as Flink does; `residual_sql.duck_residual` makes it and says which these are.

    In `sql` the columns are c0, c1, …, in the order of `columns`: DuckDB does not tell `id` from `ID`.
    """

    sql: str
    columns: tuple[str, ...]

    def evaluate(self, pairs: pa.Table) -> Bools:
        columns = {f"c{at}": _plain(pairs.column(name)) for at, name in enumerate(self.columns)}
        # a fork must not use its parent's database
        cursor = _database(os.getpid()).cursor()
        try:
            cursor.register("pairs", pa.table(columns or {"c0": pa.nulls(pairs.num_rows)}))
            found = cursor.sql(f"SELECT coalesce({self.sql}, FALSE) AS t FROM pairs").to_arrow_table()
        finally:
            cursor.close()
        return np.asarray(found.column("t").to_numpy(zero_copy_only=False))


@lru_cache(maxsize=1)
def _database(process: int) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Instants as the same number of microseconds: DuckDB needs no time zones to compare them."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return column.cast(pa.timestamp(column.type.unit))
    return column
