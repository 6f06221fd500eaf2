"""DuckDB in the place of Spark SQL: expressions typed and computed without a JVM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import duckdb
import pyarrow as pa
import sqlglot

from rowkind.kinds import KIND_COLUMN
from rowkind.runtime.driver.plan_operators import changelog_schema
from rowkind.sql import parse_type
from rowkind.types import DataType, Field

_FLINK = {"VARCHAR": "STRING", "INTEGER": "INT", "TIMESTAMP": "TIMESTAMP(6)", "HUGEINT": "DECIMAL(38, 0)"}


@cache
def duck_sql(spark_sql: str) -> str:
    """A Spark expression in DuckDB's words."""
    (text,) = sqlglot.transpile(spark_sql, read="spark", write="duckdb")
    return re.sub(r"INTERVAL '(-?\d+) ([\d:.]+)' DAY TO SECOND", r"INTERVAL '\1 days \2'", text)


class Duck:
    """One connection; implements `plan.analysis.Analyzer`."""

    def __init__(self) -> None:
        self._database = duckdb.connect()
        self._database.execute("SET threads = 1; SET integer_division = true")

    def types(self, expressions: Sequence[str], columns: Sequence[Field]) -> list[DataType]:
        if not expressions:
            return []
        self._database.register("rows_", changelog_schema(tuple(columns)).empty_table())
        texts = [f"{duck_sql(expression)} AS c{i}" for i, expression in enumerate(expressions)]
        made = self._database.execute(f"DESCRIBE SELECT {', '.join(texts)} FROM rows_").fetchall()
        return [parse_type(re.sub(r"^\w+$", lambda m: _FLINK.get(m[0], m[0]), row[1])) for row in made]

    def projected(self, rows: pa.Table, made: Sequence[tuple[str, str]], columns: tuple[Field, ...]) -> pa.Table:
        """The expressions of each row, and its kind."""
        texts = [f'{duck_sql(sql)} AS "{name}"' for sql, name in made]
        return self._ask(f"SELECT {', '.join([*texts, KIND_COLUMN])} FROM rows_", rows, changelog_schema(columns))

    def filtered(self, rows: pa.Table, condition: str) -> pa.Table:
        return self._ask(f"SELECT * FROM rows_ WHERE {duck_sql(condition)}", rows, rows.schema)

    def _ask(self, query: str, rows: pa.Table, schema: pa.Schema) -> pa.Table:
        if not rows.num_rows:
            return schema.empty_table()
        self._database.register("rows_", rows)
        return self._database.sql(query).to_arrow_table().cast(schema)
