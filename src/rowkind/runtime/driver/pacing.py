"""How many rows a batch may hold: few at first, then as many as fit the time and the memory that one should take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from rowkind.connectors.contract import Offer, Pace, Source
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.heap import MOST

ROWS_PER_TASK = 20_000
"""Rows that are worth a task, unless they are large."""
FIRST_ROWS = 200_000
"""Rows of a table in the first batches, before the speed is known."""
WANTED = timedelta(seconds=10)
"""How long a batch should take when there is more to read than one batch holds, unless an interval is set."""
SHORTEST = timedelta(seconds=1)
"""With a backlog, batches are not cut smaller than this for a short interval: their fixed costs would eat the speed."""
BYTES_PER_TASK = 16 * 1024 * 1024
"""Of messages that are worth a task, however few they are."""
LARGE, COPIES = 64 * 1024, 4
"""On their way through Spark's memory large rows are copied whole, several times, into buffers that double in size."""
SHARE = 32
"""Of Java's heap, for a batch of large rows: Spark keeps the buffers of a task for up to two seconds after its end."""
FEW = 16
"""So few messages are read without a look at their size."""
UNKNOWN_BYTES = 1024 * 1024
"""Taken for the size of a message where none could be looked at: the usual limit of a topic."""


class Pacing:
    """The pace of each table, learned from batch to batch; the size of rows before the first one."""

    def __init__(
        self,
        names: Sequence[str],
        sources: Sequence[Source],
        cores: int,
        interval: timedelta | None = None,
        heap: int = MOST,
    ) -> None:
        self._names = names
        self._sources = sources
        self._limits = [source.limits for source in sources]
        self._tasks = [limits.tasks or cores for limits in self._limits]
        self._rows = [min(FIRST_ROWS, limits.rows or FIRST_ROWS) for limits in self._limits]
        self._given = list(self._rows)
        """As many as fit the budget at last."""
        self._bytes: list[int | None] = [None] * len(sources)
        self._wanted = max(interval or WANTED, SHORTEST)
        self._heap = heap
        self._first = True

    def __call__(self, table: int, offer: Offer) -> Pace:
        each = self._bytes[table]
        if each is None and sum(waiting.rows for waiting in offer.splits.values()) > FEW:
            each = self._sources[table].row_bytes(offer) or UNKNOWN_BYTES
            self._bytes[table] = each
        given = paced(self._rows[table], self._tasks[table], each, self._limits[table].bytes, self._heap)
        self._given[table] = given.rows
        return given

    def learn(self, batch: Batch, took: timedelta, counted: Counter[str]) -> None:
        """The first batch starts workers and opens connections: it says little about speed."""
        for table, limits in enumerate(self._limits):
            read = batch.rows_of(table)
            self._bytes[table] = _expected(self._bytes[table], self._names[table], counted)
            if not self._first:
                self._rows[table] = adapted(self._given[table], read, took, self._wanted, limits.rows)
        self._first = False


def _expected(known: int | None, table: str, counted: Counter[str]) -> int | None:
    """The size of a message from now on: larger ones are believed at once, smaller ones step by step."""
    rows = counted[f"{table}.rows-read"]
    if not rows:
        return known
    each = max(1, counted[f"{table}.bytes-read"] // rows)
    return each if known is None else max(each, (known + each) // 2)


def paced(rows: int, tasks: int, each: int | None, budget: int, heap: int = MOST) -> Pace:
    """Not more rows than fit the budget at the size of a message, and tasks that are worth their bytes."""
    if each is None:
        return Pace(rows, budget, tasks, ROWS_PER_TASK)
    if each >= LARGE:
        budget = min(budget // COPIES, heap // SHARE)
    return Pace(min(rows, max(1, budget // each)), budget, tasks, min(ROWS_PER_TASK, max(1, BYTES_PER_TASK // each)))


def adapted(rows: int, read: int, took: timedelta, wanted: timedelta, cap: int | None) -> int:
    """Rows for the next batch, so that it takes about the wanted time: at most four times as many, at least half."""
    if read < rows // 2:
        return rows
    ideal = int(read * wanted.total_seconds() / max(took.total_seconds(), 0.001))
    fitted = max(rows // 2, min(rows * 4, ideal), 1_000)
    return min(fitted, cap) if cap else fitted
