"""`rowkind ingest --verify` in a worker: rows of tables and messages of topics, as checksums or as they are."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from rowkind.connectors.mysql.chunk_reading import chunk_rows
from rowkind.connectors.mysql.chunks import Chunk
from rowkind.connectors.mysql.connection import ServerAddress
from rowkind.connectors.mysql.facts import ServerFacts
from rowkind.connectors.mysql.gathering import inserted
from rowkind.connectors.mysql.positions import BinlogPosition
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schemas import TableSchema
from rowkind.connectors.mysql.types import Reading
from rowkind.ingest.comparing import SIDED, SUMS, checksums, in_buckets
from rowkind.ingest.message_rows import messages
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.steps import Batches


@dataclass(frozen=True, slots=True)
class ReadChunks:
    """Chunks of one table. The input of a task is the number of its chunks."""

    address: ServerAddress
    facts: ServerFacts
    schema: TableSchema
    chunks: tuple[tuple[Chunk, ...], ...]
    after: BinlogPosition
    reading: Reading

    def run(self, batches: Batches, counts: Tally) -> Batches:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                chunks, zeros = self.chunks[task], Counts()
                read = chunk_rows(self.address, self.facts, self.schema, chunks, self.after, self.reading, zeros)
                yield from (inserted(rows) for rows in read)


@dataclass(frozen=True, slots=True)
class Encode:
    """Rows to the messages that a job writes of them."""

    target: bytes
    """Pickled."""

    def run(self, batches: Batches, counts: Tally) -> Batches:
        target = pickle.loads(self.target)
        for rows in batches:
            yield messages(rows, target, Counter()).select(["key", "value"])


class Reads(Protocol):
    def __call__(self, task: int) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True, slots=True)
class ReadTopic:
    """What is in a topic, a task for each partition."""

    reads: Reads

    def run(self, batches: Batches, counts: Tally) -> Batches:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from self.reads(task)


@dataclass(frozen=True, slots=True)
class Sum:
    """Checksums of buckets."""

    buckets: int
    answer = SUMS

    def run(self, batches: Batches, counts: Tally) -> Batches:
        yield checksums(batches, self.buckets)


@dataclass(frozen=True, slots=True)
class Choose:
    """The messages of some buckets."""

    buckets: int
    chosen: frozenset[int]
    side: int
    answer = SIDED

    def run(self, batches: Batches, counts: Tally) -> Batches:
        yield from in_buckets(batches, self.buckets, self.chosen, self.side)
