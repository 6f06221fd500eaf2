"""Spark's own word on expressions: what they are, or why not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from rowkind.errors import RowkindError, nearest
from rowkind.plan.expressions.functions.all import FUNCTIONS
from rowkind.runtime.driver.spark_types import from_spark
from rowkind.types import INT, DataType, Field, quote, spark_type

_ROW = "__rowkind_row"


class SparkAnalyzer:
    """Answers the planner by the schema of a projection over an empty table; implements `plan.analysis.Analyzer`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tables = lru_cache(maxsize=64)(self._empty)
        self._known: dict[tuple[str, tuple[Field, ...]], DataType] = {}

    def types(self, expressions: Sequence[str], columns: Sequence[Field]) -> list[DataType]:
        """The type of each expression over the columns."""
        fields = tuple(columns)
        unknown = [e for e in dict.fromkeys(expressions) if (e, fields) not in self._known]
        if unknown:
            found = self._ask(unknown, fields)
            self._known.update(((e, fields), type) for e, type in zip(unknown, found, strict=True))
        return [self._known[e, fields] for e in expressions]

    def _ask(self, expressions: list[str], fields: tuple[Field, ...]) -> list[DataType]:
        """All at once; when Spark refuses, one by one, so that the refused one is named."""
        try:
            return self._project(expressions, fields)
        except PySparkException:
            if len(expressions) > 1:
                return [self._ask([e], fields)[0] for e in expressions]
            raise

    def _project(self, expressions: list[str], fields: tuple[Field, ...]) -> list[DataType]:
        # The row column makes Spark refuse aggregates, and the struct makes it refuse generators such as explode.
        wrapped = [f"struct({e}) AS c{i}" for i, e in enumerate(expressions)]
        try:
            schema = self._tables(fields).selectExpr(_ROW, *wrapped).schema
        except PySparkException as error:
            if len(expressions) > 1:
                raise
            raise refusal(expressions[0], error) from None
        structs = [f.dataType for f in schema.fields[1:]]
        return [from_spark(s[0].dataType, s[0].nullable) for s in structs if isinstance(s, StructType)]

    def _empty(self, fields: tuple[Field, ...]) -> DataFrame:
        columns = ", ".join(
            f"{quote(f.name)} {spark_type(f.type)}{'' if f.type.nullable else ' NOT NULL'}"
            for f in (*fields, Field(_ROW, INT))
        )
        return self._spark.createDataFrame([], columns)


def refusal(expression: str, error: PySparkException) -> RowkindError:
    """Spark's reason in one line: no stack, no plan."""
    condition = error.getCondition() or ""
    if condition.startswith("UNRESOLVED_ROUTINE"):
        name = (error.getMessageParameters() or {}).get("routineName", "").replace("`", "")
        return RowkindError("UNKNOWN_FUNCTION", where="", function=name, suggestion=nearest(name.upper(), FUNCTIONS))
    first = next((line for line in str(error).splitlines() if line.strip()), condition)
    reason = re.sub(r"^\[[A-Z_.0-9]+\] | SQLSTATE: \w+.*$", "", first).strip()
    return RowkindError("EXPRESSION_REFUSED", expression=expression, reason=reason)
