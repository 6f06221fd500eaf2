"""How many rows a batch may hold: few at first, then as many as fit the time that a batch should take."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.runtime.batches import Batch, Pace

FIRST_ROWS = 200_000
"""Rows of a table in the first batches, before the speed is known."""
WANTED = timedelta(seconds=10)
"""How long a batch should take when there is more to read than one batch holds, unless an interval is set."""
SHORTEST = timedelta(seconds=1)
"""With a backlog, batches are not cut smaller than this for a short interval: their fixed costs would eat the speed."""


class Pacing:
    """The pace of each table, learned from batch to batch."""

    def __init__(self, tables: Sequence[KafkaTable], cores: int, interval: timedelta | None = None) -> None:
        self._caps = [table.scan.max_rows_per_batch for table in tables]
        self._tasks = [table.scan.parallelism or cores for table in tables]
        self._rows = [min(FIRST_ROWS, cap or FIRST_ROWS) for cap in self._caps]
        self._wanted = max(interval or WANTED, SHORTEST)
        self._first = True

    def __call__(self, table: int) -> Pace:
        return Pace(self._rows[table], self._tasks[table])

    def learn(self, batch: Batch, took: timedelta) -> None:
        """The first batch starts workers and opens connections: it says little about speed."""
        if not self._first:
            for table, cap in enumerate(self._caps):
                read = batch.rows_of(table)
                self._rows[table] = adapted(self._rows[table], read, took, self._wanted, cap)
        self._first = False


def adapted(rows: int, read: int, took: timedelta, wanted: timedelta, cap: int | None) -> int:
    """Rows for the next batch, so that it takes about the wanted time: at most four times as many, at least half."""
    if read < rows // 2:
        return rows
    ideal = int(read * wanted.total_seconds() / max(took.total_seconds(), 0.001))
    fitted = max(rows // 2, min(rows * 4, ideal), 1_000)
    return min(fitted, cap) if cap else fitted
