"""How many rows a batch may hold: few at first, then as many as fit the time and the memory that one should take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.sampling import message_bytes
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.runtime.driver.batch_planner import ROWS_PER_TASK, Batch, Offsets, Pace
from rowkind.runtime.heap import MOST

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

Look = Callable[[Mapping[str, str], Sequence[OffsetRange]], int | None]


class Pacing:
    """The pace of each table, learned from batch to batch; the size of messages before the first one."""

    def __init__(
        self,
        tables: Sequence[KafkaTable],
        cores: int,
        interval: timedelta | None = None,
        look: Look = message_bytes,
        heap: int = MOST,
    ) -> None:
        self._tables = tables
        self._caps = [table.reading.max_rows_per_batch for table in tables]
        self._tasks = [table.reading.parallelism or cores for table in tables]
        self._rows = [min(FIRST_ROWS, cap or FIRST_ROWS) for cap in self._caps]
        self._given = list(self._rows)
        """As many as fit the budget at last."""
        self._bytes: list[int | None] = [None] * len(tables)
        self._wanted = max(interval or WANTED, SHORTEST)
        self._look = look
        self._heap = heap
        self._first = True

    def __call__(self, table: int, start: Offsets, ends: Offsets) -> Pace:
        ranges = [OffsetRange(*p, at, ends[p]) for p, at in start.items() if ends.get(p, at) > at]
        each = self._bytes[table]
        if each is None and sum(r.until - r.start for r in ranges) > FEW:
            each = self._look(self._tables[table].properties, ranges) or UNKNOWN_BYTES
            self._bytes[table] = each
        budget = self._tables[table].reading.max_bytes_per_batch
        given = paced(self._rows[table], self._tasks[table], each, budget, self._heap)
        self._given[table] = given.rows
        return given

    def learn(self, batch: Batch, took: timedelta, counted: Counter[str]) -> None:
        """The first batch starts workers and opens connections: it says little about speed."""
        for table, cap in enumerate(self._caps):
            read = batch.rows_of(table)
            self._bytes[table] = _expected(self._bytes[table], self._tables[table].name, counted)
            if not self._first:
                self._rows[table] = adapted(self._given[table], read, took, self._wanted, cap)
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
        return Pace(rows, tasks)
    if each >= LARGE:
        budget = min(budget // COPIES, heap // SHARE)
    return Pace(min(rows, max(1, budget // each)), tasks, min(ROWS_PER_TASK, max(1, BYTES_PER_TASK // each)))


def adapted(rows: int, read: int, took: timedelta, wanted: timedelta, cap: int | None) -> int:
    """Rows for the next batch, so that it takes about the wanted time: at most four times as many, at least half."""
    if read < rows // 2:
        return rows
    ideal = int(read * wanted.total_seconds() / max(took.total_seconds(), 0.001))
    fitted = max(rows // 2, min(rows * 4, ideal), 1_000)
    return min(fitted, cap) if cap else fitted
