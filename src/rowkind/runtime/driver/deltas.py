"""A delta on its way through a batch: a DataFrame, and the worker steps that are still to be taken on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from rowkind.runtime.worker.steps import Pick, Step, running

_passes = count()


@dataclass(frozen=True)
class Delta:
    """Steps gather until Spark itself has to look at the rows: then they run together, in one Python worker."""

    source: DataFrame
    schema: pa.Schema
    counters: Any
    nonce: str
    """What the errors of this job's workers are marked with."""
    hash_key: bytes = b""
    steps: tuple[Step, ...] = ()

    def then(self, step: Step, schema: pa.Schema) -> Delta:
        """One more step; `schema` is what it makes."""
        return replace(self, steps=(*self.steps, step), schema=schema)

    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""
        if not self.steps:
            return self.source
        source, steps = self.source, self.steps
        if not _told_apart(source.columns):
            plain = [f"_{i}" for i in range(len(source.columns))]
            steps = (Pick(tuple(zip(source.columns, plain, strict=True))), *steps)
            source = source.toDF(*plain)
        run = running(steps, self.counters, next(_passes), self.nonce, self.hash_key)
        return source.mapInArrow(run, from_arrow_schema(self.schema))


def _told_apart(names: list[str]) -> bool:
    """Whether PySpark finds these columns again: it hands them to a worker by name, each looked up by itself.

    It takes a dot in a name for a member of a struct, and looks up with the settings of whatever session is active in
    its thread, where `id` and `ID` may be one name.
    """
    plain = not any(re.search(r"\W", name) for name in names)
    return plain and len({name.lower() for name in names}) == len(names)
