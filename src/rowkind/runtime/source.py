"""The range source: a streaming source whose one row a batch says what the batch reads.

Spark runs the reader in a Python process of its own beside the driver; it finds the job through a folder that only the
two of them use (`Control`). Spark starts several more Python processes that only need the classes here, a second of a
core each with everything imported; so what plans batches is imported by the one process that does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from rowkind.errors import RowkindError
from rowkind.runtime.remote import WorkerError

if TYPE_CHECKING:
    from rowkind.runtime.range_planner import RangePlanner


class RangeReader(SimpleDataSourceStreamReader):
    """Asked by Spark before every batch, and after a restart for the batch that was under way."""

    def __init__(self, control: str) -> None:
        self._control = control
        self._planner: RangePlanner | None = None

    def initialOffset(self) -> dict[str, Any]:
        # A constant: Spark asks again after a kill in the first batch, and "latest" would then have moved.
        return {}

    def read(self, start: dict[str, Any]) -> tuple[Iterator[tuple[str]], dict[str, Any]]:
        try:
            end = self._next(start)
        except RowkindError as error:
            raise WorkerError(error) from error
        # Spark takes a new offset for new data: with nothing to read it must be the very same one.
        return (iter(()), start) if end is None else (iter([(json.dumps(end),)]), end)

    def readBetweenOffsets(self, start: dict[str, Any], end: dict[str, Any]) -> Iterator[tuple[str]]:
        return iter([(json.dumps(end),)])

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing to do: the checkpoint alone decides where a job goes on."""

    def _next(self, start: dict[str, Any]) -> dict[str, Any] | None:
        if self._planner is None:
            from rowkind.runtime.range_planner import RangePlanner

            self._planner = RangePlanner(Path(self._control))
        return self._planner.next(start)


class RangeSource(DataSource):
    """`spark.readStream.format("rowkind-ranges")`."""

    @classmethod
    def name(cls) -> str:
        return "rowkind-ranges"

    def schema(self) -> str:
        return "batch string"

    def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:
        return RangeReader(self.options["control"])
