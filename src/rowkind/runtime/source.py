"""The range source: a streaming source whose one row a batch says what the batch reads.

Spark runs the reader in a Python process of its own beside the driver; it finds the job through a folder that only the
two of them use (`Control`).
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from rowkind.errors import RowkindError
from rowkind.runtime.batches import BatchPlanner
from rowkind.runtime.control import Control, Inputs
from rowkind.runtime.positions import KafkaPositions
from rowkind.runtime.remote import WorkerError
from rowkind.runtime.watermarks import Watermarks


class RangeReader(SimpleDataSourceStreamReader):
    """Asked by Spark before every batch, and after a restart for the batch that was under way."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._planner: BatchPlanner | None = None

    def initialOffset(self) -> dict[str, Any]:
        # A constant: Spark asks again after a kill in the first batch, and "latest" would then have moved.
        return {}

    def read(self, start: dict[str, Any]) -> tuple[Iterator[tuple[str]], dict[str, Any]]:
        if self._control.stopping:
            return iter(()), start
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
            inputs: Inputs = pickle.loads(self._control.inputs.read_bytes())
            positions = [KafkaPositions(t) for t in inputs.tables]
            watermarks = Watermarks(inputs.tables, inputs.groups, self._control.account)
            self._planner = BatchPlanner(
                positions, inputs.splittable, self._control.pace, inputs.interval, watermarks=watermarks
            )
        return self._planner.next(start)


class RangeSource(DataSource):
    """`spark.readStream.format("rowkind-ranges")`."""

    @classmethod
    def name(cls) -> str:
        return "rowkind-ranges"

    def schema(self) -> str:
        return "batch string"

    def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:
        return RangeReader(Control(Path(self.options["control"])))
