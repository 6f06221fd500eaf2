"""How rows are made up batch by batch: a position is the number of the next row, and the seed of all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from secrets import randbits
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from rowkind.connectors.contract import (
    Limits,
    Offer,
    Pace,
    Position,
    ReadContext,
    Reader,
    Share,
    Source,
    Split,
    TaskRange,
    Waiting,
)
from rowkind.connectors.datagen.generators import Generator, Rows
from rowkind.connectors.settings import ReadSettings
from rowkind.metrics.traffic import Traffic

CHUNK = 20_000
SAMPLE = 100


class Made(Protocol):
    """A table of rows that are made up."""

    @property
    def name(self) -> str: ...
    @property
    def reading(self) -> ReadSettings: ...
    @property
    def row_schema(self) -> pa.Schema: ...
    @property
    def generators(self) -> tuple[Generator, ...]: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def rows_per_second(self) -> int: ...


class DataGenSource(Source):
    """Offers what a second brings, from the start of this run on. The seed is part of the position: rows that are made
    again are the same.
    """

    def __init__(self, table: Made) -> None:
        self._table = table
        self._split = Split(table.name, 0)
        self._began: tuple[float, int] | None = None
        """When this run first looked, and at which row it was."""

    @property
    def limits(self) -> Limits:
        reading = self._table.reading
        return Limits(reading.max_rows_per_batch, reading.max_bytes_per_batch, reading.parallelism)

    def start(self) -> Position:
        return {"row": 0, "seed": randbits(62)}

    def offer(self, position: Position) -> Offer:
        """Of a bounded table all its rows wait, though not all may be taken yet: it has not ended before they are."""
        row, end = position["row"], self._table.rows
        left = self._due(row) - row if end is None else max(0, end - row)
        return Offer({self._split: Waiting(max(0, left), end is None or left > 0)}, end is not None, position)

    def _due(self, row: int) -> int:
        """The rows of a second come at its beginning, as in Flink."""
        now = time.monotonic()
        if self._began is None:
            self._began = (now, row)
        since, first = self._began
        return first + (int(now - since) + 1) * self._table.rows_per_second

    def share(self, offer: Offer, pace: Pace, splittable: bool) -> Share:
        position = offer.detail
        row, waiting = position["row"], offer.splits[self._split].rows
        count = max(0, min(pace.rows, waiting, self._due(row) - row))
        until = {**position, "row": row + count}
        if not count:
            return Share((), until, {})
        # Rows that are made up have no order among them; whoever asks for tasks gets them.
        several = splittable or self._table.reading.parallelism is not None
        tasks = max(1, min(pace.tasks, count // pace.rows_per_task)) if several else 1
        clock = time.time_ns() // 1000
        zone = datetime.now().astimezone().utcoffset() or timedelta(0)
        local = clock + zone // timedelta(microseconds=1)
        ends = [row + count * task // tasks for task in range(tasks + 1)]
        ranges = [[a, b, position["seed"], clock, local] for a, b in pairwise(ends)]
        return Share(ranges, until, {self._split: count})

    def row_bytes(self, offer: Offer) -> int | None:
        position = offer.detail
        rows = made(self._table, Rows(np.arange(SAMPLE), position["seed"], 0, 0))
        return max(1, int(rows.nbytes) // SAMPLE)


class DataGenReader(Reader):
    """Makes the rows of a range, in order."""

    def __init__(self, table: Made) -> None:
        self._table = table
        self._split = Split(table.name, 0)

    def read(self, task: TaskRange, context: ReadContext) -> Iterator[tuple[Split, pa.RecordBatch]]:
        start, until, seed, clock, local = task
        for first in range(start, until, CHUNK):
            numbers = np.arange(first, min(until, first + CHUNK))
            rows = made(self._table, Rows(numbers, seed, clock, local))
            context.counts.update({"rows-read": rows.num_rows, "bytes-read": rows.nbytes})
            traffic = context.traffic.setdefault(self._split.name, Traffic())
            traffic.read(rows.num_rows, rows.nbytes, None, time.time_ns() // 1_000_000)
            yield self._split, rows


def made(table: Made, rows: Rows) -> pa.RecordBatch:
    """Rows of a table; all of them are new."""
    columns: list[Any] = [generator.make(rows) for generator in table.generators]
    kinds = pa.array(np.zeros(len(rows.numbers), np.int8))
    return pa.RecordBatch.from_arrays([*columns, kinds], schema=table.row_schema)
