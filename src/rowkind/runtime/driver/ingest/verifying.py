"""Whether topics are what their tables are, for `rowkind ingest --verify`.

Both sides become messages: rows of a table by the way that the job writes them, messages of a topic the last of each
key. Buckets of keys are compared by checksums; of those that differ the messages are compared one by one. Nothing
stands still meanwhile, so a key differs when it does so in the same way at two looks.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial, reduce
from itertools import count
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from rowkind.connectors.mysql.chunks import Chunk, ChunkSplitter
from rowkind.connectors.mysql.connection import connect
from rowkind.connectors.mysql.copying import about_rows
from rowkind.connectors.mysql.facts import check_server, server_facts
from rowkind.connectors.mysql.positions import BinlogPosition, current_end
from rowkind.connectors.mysql.schemas import TableId, TableSchema, list_tables, read_schemas
from rowkind.errors import RowkindError
from rowkind.ingest.addresses import server_address
from rowkind.ingest.comparing import DIFFERING, FOUND, Difference, bucket_count, differing
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import UpsertKafkaSink
from rowkind.ingest.fitting import fits
from rowkind.ingest.planned import selected
from rowkind.ingest.table_output import TableOutput
from rowkind.ingest.topic_schemas import TopicSchema, first_topics
from rowkind.ingest.transforms import varies
from rowkind.plan.expressions import Moment
from rowkind.runtime.counters import counters
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.ingest.binding import Binder
from rowkind.runtime.driver.ingest.runner import fitting_select, staged_schema
from rowkind.runtime.driver.ingest.tables import JobTables
from rowkind.runtime.driver.ingest.topics import latest_of
from rowkind.runtime.driver.spark import cloned
from rowkind.runtime.worker.steps import Step, running
from rowkind.runtime.worker.verify_steps import Choose, Encode, ReadChunks, ReadTopic, Sum
from rowkind.runtime.worker_errors import new_nonce

LOOKS, APART_SECONDS = 10, 2.0
CATCH_UP_SECONDS = 60.0
_passes = count()


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found of a topic."""

    topic: str
    tables: tuple[str, ...]
    rows: int
    """In the topic, as compaction would leave it."""
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A table as it is now, with what the job writes of it."""

    schema: TableSchema
    output: TableOutput
    chunks: tuple[tuple[Chunk, ...], ...]


class Verifier:
    """Compares the topics of a job with their tables. The job may run meanwhile."""

    def __init__(self, spark: SparkSession, job: IngestionJob, notify: Callable[[str], None]) -> None:
        if not isinstance(job.sink, UpsertKafkaSink):
            raise RowkindError("INGEST_NOTHING_TO_VERIFY", type=job.sink.type)
        self._spark = cloned(spark)
        if (zone := job.pipeline.time_zone) not in (None, "default"):
            self._spark.conf.set("spark.sql.session.timeZone", zone)
        self._job = job
        self._notify = notify
        self._binder = Binder(self._spark)
        prefix = job.transactional_id_prefix("verify") if job.exactly_once else None
        self._tables = JobTables(job, self._binder.columns, prefix)
        self._nonce = new_nonce()

    def topics(self) -> Iterator[Verified]:
        """One after the other, in the order of the tables."""
        address = server_address(self._job.source)
        with closing(connect(address)) as self._connection, counters(self._spark) as self._counted:
            self._facts = server_facts(self._connection)
            check_server(self._facts)
            found = self._found()
            about = about_rows(self._connection)
            topics = first_topics(each.output for each in found)
            for topic, schema in topics.items():
                of_topic = [each for each in found if str(each.schema.id) in schema.tables]
                rows = sum(about.get(each.schema.id, 0) for each in of_topic)
                yield self._verified(topic, topics, of_topic, bucket_count(rows))

    def _found(self) -> list[_Found]:
        connection = self._connection
        tables = [TableId(*pair) for pair in selected(self._job, list_tables(connection))]
        schemas = read_schemas(connection, tables).values()
        outputs = [(schema, output) for schema in schemas if (output := self._tables.output(schema)) is not None]
        return [_Found(schema, output, self._chunks(schema)) for schema, output in outputs]

    def _chunks(self, schema: TableSchema) -> tuple[tuple[Chunk, ...], ...]:
        """The chunks of a table, those of a task beside each other."""
        said = self._job.source.chunks
        column = said.key_of(schema.id.database, schema.id.table)
        splitter = ChunkSplitter(schema, column, said.rows, said.even_lower, said.even_upper)
        chunks = tuple(iter(partial(splitter.next, self._connection), None))
        tasks = self._job.chunks_at_once(self._spark.sparkContext.defaultParallelism)
        size = max(1, -(-len(chunks) // tasks))
        return tuple(chunks[at : at + size] for at in range(0, len(chunks), size))

    def _verified(
        self, topic: str, topics: Mapping[str, TopicSchema], tables: Sequence[_Found], buckets: int
    ) -> Verified:
        rows, chosen = self._sums(topic, topics, tables, buckets)
        before: set[Difference] = set()
        for look in range(LOOKS):
            if not chosen:
                break
            if look:
                time.sleep(APART_SECONDS)
            now = self._compared(topic, topics, tables, buckets, chosen)
            if not now or (look and now <= before):
                before = now
                break
            before = now & before if look == LOOKS - 1 else now
        return Verified(
            topic, tuple(str(t.schema.id) for t in tables), rows, tuple(sorted(before, key=attrgetter("key")))
        )

    def _sums(
        self, topic: str, topics: Mapping[str, TopicSchema], tables: Sequence[_Found], buckets: int
    ) -> tuple[int, frozenset[int]]:
        """How many messages the topic has, and the buckets whose checksums differ."""
        step, after = Sum(buckets), self._settled()
        frames = [self._pass(self._expected(topic, topics, each, after), step, Sum.answer) for each in tables]
        expected, found = np.zeros((2, buckets), np.uint64), np.zeros((2, buckets), np.uint64)
        for frame in frames:
            expected += _added(frame.toArrow(), buckets)
        found += _added(self._pass(self._in_topic(topic, topics), step, Sum.answer).toArrow(), buckets)
        return int(found[0].sum()), frozenset(np.flatnonzero((expected != found).any(axis=0)).tolist())

    def _compared(
        self,
        topic: str,
        topics: Mapping[str, TopicSchema],
        tables: Sequence[_Found],
        buckets: int,
        chosen: frozenset[int],
    ) -> set[Difference]:
        after = self._settled()
        frames = [
            self._pass(self._expected(topic, topics, each, after), Choose(buckets, chosen, side), Choose.answer)
            for side, each in enumerate(tables)
        ]
        frames.append(self._pass(self._in_topic(topic, topics), Choose(buckets, chosen, FOUND), Choose.answer))
        keeps = any(each.output.transform.soft_delete for each in tables)
        columns = [_steady(each.output) for each in tables]

        def compare(bucket: pa.Table) -> pa.Table:  # Spark looks at its annotations, which a partial has none of
            return differing(columns, keeps, bucket)

        both = reduce(DataFrame.unionAll, frames).groupBy("bucket")
        told = both.applyInArrow(compare, from_arrow_schema(DIFFERING)).toArrow()
        names = ("key", "expected", "found")
        return {Difference(*map(_text, row)) for row in zip(*(told.column(n).to_pylist() for n in names), strict=True)}

    def _expected(
        self, topic: str, topics: Mapping[str, TopicSchema], found: _Found, after: BinlogPosition
    ) -> DataFrame:
        """The messages that a table is to have."""
        job, output = self._job, found.output
        number, target = next((n, t) for n, t in enumerate(self._tables.targets(output, topics)) if t.topic == topic)
        read = ReadChunks(
            server_address(job.source), self._facts, found.schema, found.chunks, after, self._tables.reading
        )
        rows = self._steps(len(found.chunks), (read,), staged_schema(output))
        if self._tables.computed(output, topics):
            moment = Moment(time.time_ns() // 1000, number)
            rows = self._binder.applied(output.transform, rows, moment)
            wanted = topics[topic].columns
            if not fits(wanted, output.columns):
                rows = self._binder.fitted(rows, fitting_select(wanted, output), output.columns, moment)
        return self._pass(rows, Encode(pickle.dumps(target)), _PAIRS)

    def _in_topic(self, topic: str, topics: Mapping[str, TopicSchema]) -> DataFrame:
        latest = latest_of(self._tables.kafka_table(topic, topics[topic]))
        return self._steps(len(latest.ranges), (ReadTopic(latest),), _PAIRS)

    def _settled(self) -> BinlogPosition:
        """The end of the log, when the job has read it; a job that does not get there is told of."""
        end = current_end(self._connection, self._facts, with_gtids=False)
        if self._job.checkpoint is None:
            return end
        folder, deadline = Checkpoint(self._job.checkpoint), time.monotonic() + CATCH_UP_SECONDS
        while (at := _reached(folder)) is not None and at.place() < end.place():
            if time.monotonic() > deadline:
                self._notify(
                    f"The job has read the log up to {at.file}:{at.pos}, and it ends at {end.file}:{end.pos}: what "
                    "differs may be on its way. Is the job running?"
                )
                return end
            time.sleep(0.2)
        return end

    def _steps(self, tasks: int, steps: tuple[Step, ...], schema: pa.Schema) -> DataFrame:
        numbers = self._spark.range(0, tasks, 1, max(1, tasks))
        return self._mapped(numbers, steps, schema)

    def _pass(self, rows: DataFrame, step: Step, schema: pa.Schema) -> DataFrame:
        return self._mapped(rows, (step,), schema)

    def _mapped(self, rows: DataFrame, steps: tuple[Step, ...], schema: pa.Schema) -> DataFrame:
        step = running(steps, self._counted, next(_passes), self._nonce, b"")
        return rows.mapInArrow(step, from_arrow_schema(schema))


_PAIRS = pa.schema([("key", pa.binary()), ("value", pa.binary())])


def _added(sums: pa.Table, buckets: int) -> npt.NDArray[np.uint64]:
    """Of all tasks."""
    found = np.zeros((2, buckets), np.uint64)
    at = sums.column("bucket").to_numpy()
    for place, name in enumerate(("rows", "checksum")):
        np.add.at(found[place], at, sums.column(name).to_numpy().astype(np.int64).view(np.uint64))
    return found


def _steady(output: TableOutput) -> tuple[str, ...]:
    """The columns of a value that the row alone decides, and neither the clock nor how the row came."""
    return tuple(name for name, tree in output.transform.items if not varies(tree))


def _reached(folder: Checkpoint) -> BinlogPosition | None:
    """Where the last batch that is done ended; None when the checkpoint has none."""
    done = folder.last()
    entry = None if done is None else folder.entry(done)
    return None if entry is None else BinlogPosition.from_json(entry["position"]["log"])


def _text(payload: bytes | None) -> Any:
    return None if payload is None else payload.decode("utf-8", "replace")
