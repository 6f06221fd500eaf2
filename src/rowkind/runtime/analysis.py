"""Spark's own word on expressions: what they are, or why not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from rowkind.catalog.types import DataType, Field, quote, spark_type
from rowkind.errors import RowkindError, nearest
from rowkind.plan.expressions.functions.table import FUNCTIONS
from rowkind.runtime.types import from_spark

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
            raise refusal(expressions[0], error, fields) from None
        members = [getattr(f.dataType, "fields")[0] for f in schema.fields[1:]]  # noqa: B009
        return [from_spark(m.dataType, m.nullable) for m in members]

    def _empty(self, fields: tuple[Field, ...]) -> DataFrame:
        columns = ", ".join(
            f"{quote(f.name)} {spark_type(f.type)}{'' if f.type.nullable else ' NOT NULL'}"
            for f in (*fields, Field(_ROW, DataType(_INT)))
        )
        return self._spark.createDataFrame([], columns)
