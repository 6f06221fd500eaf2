"""Notes how far event time is in the rows that a worker reads, split by split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.timers import micros
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.steps import SPLIT, Batches

WATERMARK = "__watermark"


@dataclass(frozen=True, slots=True)
class Watch:
    """Notes the watermark of every split, from a column of times; leaves its own columns out."""

    table: int
    column: str
    delay: int

    def run(self, batches: Batches, counts: Tally) -> Batches:
        for batch in batches:
            self._note(batch, counts)
            yield batch.select([name for name in batch.schema.names if name not in (SPLIT, WATERMARK)])

    def _note(self, batch: pa.RecordBatch, counts: Tally) -> None:
        times = batch.column(self.column)
        valid = times.is_valid().to_numpy(zero_copy_only=False)
        marks = micros(times)[valid] - self.delay
        splits = batch.column(SPLIT).to_numpy(zero_copy_only=False)[valid]
        for number in np.unique(splits).tolist():
            counts.mark((self.table, number), int(marks[splits == number].max()))
