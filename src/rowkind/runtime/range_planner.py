"""The planner of a job's batches, built from the folder through which the driver talks to the range source."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from rowkind.errors import RowkindError
from rowkind.runtime.batches import BatchPlanner
from rowkind.runtime.control import Control, Inputs
from rowkind.runtime.positions import KafkaPositions
from rowkind.runtime.watermarks import Watermarks


class RangePlanner:
    """What the next batch reads, until the driver wishes to stop."""

    def __init__(self, folder: Path) -> None:
        self._control = Control(folder)
        self._planner: BatchPlanner | None = None

    def next(self, start: dict[str, Any]) -> dict[str, Any] | None:
        if self._control.stopping:
            return None
        self._planner = self._planner or self._built()
        try:
            found = self._planner.next(start)
        except RowkindError as error:
            if error.condition != "KAFKA_UNREACHABLE" or not start:
                raise
            self._control.set_waiting(str(error.params["servers"]))
            return None  # a job that has begun waits until the broker is back
        self._control.set_waiting(None)
        return found

    def _built(self) -> BatchPlanner:
        inputs: Inputs = pickle.loads(self._control.inputs.read_bytes())
        positions = [KafkaPositions(t) for t in inputs.tables]
        watermarks = Watermarks(inputs.tables, inputs.groups, self._control.account)
        pace, interval = self._control.pace, inputs.interval
        return BatchPlanner(positions, inputs.splittable, pace, interval, watermarks=watermarks)
