"""What a connector is: the four small things that the planner and the runtime know of it.

On the driver a *Source* says where reading starts, what is there now, and cuts a share of it into tasks; a *Sink* says
what it takes, prepares, recovers and cleans up. In a worker a *Reader* turns a task's range into Arrow rows with their
kinds, and a *Writer* writes rows, flushes, and commits with a marker where it can. A resolved `Table` is the way to all
four: it is frozen and picklable, and is sent to workers as it is.

Before the first batch of a run, on the driver: `Sink.prepare`; under a promise `Sink.settle` for every task that an
earlier run has recorded as `Used`, then `Sink.insert`. The order of a batch, and who is called when:

1. `Source.start`, once in the life of a job, before its first batch.
2. `Source.offer` and `Source.share`, before every batch. What they answer is in the batch's entry, which is in the
   checkpoint before anything is read: a batch that is run again, on any number of cores, reads the same.
3. `Sink.used` for every task that will write under a promise; that is in the checkpoint before it does.
4. `Reader.read`, once for every task; again when Spark runs a task again.
5. `Table.writer` for the first row of a task, `Writer.write`, then `Writer.flush`, `Writer.commit` under a promise, and
   `Writer.close` in every case.
6. `Letters.send`, when all sinks are written.
7. `Source.done`, after the manifest: to let go of what only this batch needed, and for the eyes of others, such as
   offsets of a consumer group.

A batch whose entry is there and whose manifest is not is run again from 3 on, by this run or by another.

Positions and ranges of tasks are JSON that only the connector understands. What can be read only once in the same way,
such as the rows of a SELECT, is *gathered* while the batch is planned: `Source.share` runs tasks of its own that put
the rows into files of the checkpoint, and the batch's entry names the files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import pyarrow as pa

from rowkind.connectors.metadata import MetadataField
from rowkind.connectors.settings import Guarantee as Guarantee
from rowkind.connectors.settings import ReadSettings, Side, WriteSettings
from rowkind.definitions import MetadataColumn, PhysicalColumn, TableDefinition
from rowkind.kinds import KIND_COLUMN, ChangelogMode
from rowkind.metrics.traffic import Traffic
from rowkind.types import Field, arrow_type

Position = Mapping[str, Any]
"""Where a source is. JSON; it may cover many tables, and hold what the source must remember: chunks that are done, the
schemas at this place, partitions that are known."""

TaskRange = Any
"""What one task reads. JSON."""


class Split(NamedTuple):
    """A part of an input that has an order and an event time of its own, such as a partition of a topic."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a split has for the next batch: rows, as far as they can be counted, and whether more may come later."""

    rows: int
    open: bool = True


@dataclass(frozen=True, slots=True)
class Limits:
    """What a table allows a batch: rows, bytes and tasks at most; None where it does not say."""

    rows: int | None
    bytes: int
    tasks: int | None


@dataclass(frozen=True, slots=True)
class Pace:
    """How much of a source a batch may take, and how it is cut: rows, bytes, tasks at most, rows worth a task."""

    rows: int
    bytes: int
    tasks: int
    rows_per_task: int


@dataclass(frozen=True, slots=True)
class Offer:
    """What a source has now. `detail` is the source's own and is handed back to it; it never leaves the driver."""

    splits: Mapping[Split, Waiting]
    bounded: bool
    """Whether the source has an end. A job whose sources all have one ends when none of them has rows any more."""
    detail: Any = None


@dataclass(frozen=True, slots=True)
class Share:
    """What a batch takes of an offer."""

    tasks: Sequence[TaskRange]
    """None: nothing is read."""
    until: Position
    """Where the source is after the batch."""
    rows: Mapping[Split, int]
    """How many of each split are read; those of which nothing is read are left out."""
    moves: bool = False
    """Whether a batch is worth its while for the position alone, without any rows."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What is to be counted of the source itself when the batch is done, such as topics that were deleted."""


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What a source may use of its job."""

    folder: str
    """Of the checkpoint, for files that the source needs until a batch is done. Every worker can reach it."""
    run: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
    """Runs a module-level function for each argument as tasks of Spark, and answers what they returned, in order."""


class Source(ABC):
    """One input of a job, on the driver. Made when the job starts, used by the job's thread alone.

    Errors that pass by themselves, such as servers that do not answer, are RowkindErrors with `retryable`: a job that
    has begun waits and calls again.
    """

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """What the table allows a batch."""

    @abstractmethod
    def start(self) -> Position:
        """Where the job begins. Called once in the life of a job; after a failure before the first entry, again."""

    @abstractmethod
    def offer(self, position: Position) -> Offer:
        """What there is after a position; new partitions and tables are found here. Cheap: called all the time.

        Raises when what comes next is lost, unless the table goes on without it: a batch that cannot be read is not
        begun.
        """

    @abstractmethod
    def share(self, offer: Offer, pace: Pace, splittable: bool) -> Share:
        """Cut the next batch out of an offer. A pace of no rows takes nothing, but may move the position.

        A source may end a batch where it has to: at the border of a transaction, or before a change of schema. With
        `splittable` a split may be read by several tasks at once, earlier rows by tasks with lower numbers.
        """

    def row_bytes(self, offer: Offer) -> int | None:
        """The size of a row, looked up before the first batch; None where it is not known."""
        return None

    def done(self, position: Position) -> Mapping[str, int]:
        """A batch that ended here is done; answers what to count. Called after its manifest, perhaps more than once or
        not at all.
        """
        return {}

    def take_notes(self) -> list[str]:
        """What the user should know, told once."""
        return []

    def close(self) -> None:  # noqa: B027
        """The job is over: let go of connections. Called once, in every case."""


@dataclass(slots=True)
class ReadContext:
    """What a reader adds to while it reads."""

    counts: Counter[str] = field(default_factory=Counter)
    """By the names of docs/metrics.md, without the table: `rows-read`, `bytes-read`, …"""
    traffic: dict[str, Traffic] = field(default_factory=dict)
    """By the name of the split: rows, bytes and times for the metrics."""
    set_aside: Callable[[pa.RecordBatch], None] = lambda letters: None
    """Takes messages that cannot be read, in the columns that `Letters` of the table sends."""


class Reader(ABC):
    """Reads in a worker. Made once per process and table, then kept: it may hold connections and decoders.

    Nothing may be opened before the first call: workers are forked from a process that holds no connections.
    """

    @abstractmethod
    def read(self, task: TaskRange, context: ReadContext) -> Iterator[tuple[Split, pa.RecordBatch]]:
        """The rows of a task, in order, each piece with the split it comes from: the table's columns, the kind last.

        Read to the end by the caller. After an error the reader must be usable again.
        """


class Letters(ABC):
    """Where messages go that cannot be read, on the driver: once, after the sinks of their batch are written."""

    @abstractmethod
    def send(self, letters: Iterator[pa.RecordBatch]) -> None:
        """Returns when they are there."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What exactly-once needs to know of an INSERT in a batch: the same when the batch is run again."""

    insert: Any
    """What `Sink.insert` answered: picklable, it tells the INSERTs of a job apart in the sink."""
    version: int
    """The number of the batch."""
    entry: str
    """The id of the batch's entry, which tells it from another batch of that number."""


class Writer(ABC):
    """Writes the rows of one task. Made for each task of a batch; what is behind it may be kept in the process."""

    @abstractmethod
    def write(self, rows: pa.RecordBatch) -> None:
        """Hand rows on, in order: the table's columns, the kind last. They need not be there before `flush`."""

    @abstractmethod
    def flush(self, wait: bool) -> None:
        """All that was handed on is there, or the error is raised. Without `wait` it need not be there yet."""

    def commit(self) -> None:
        """Under a promise: rows and marker count together from here on. Called once, after `flush`."""
        raise NotImplementedError

    @abstractmethod
    def close(self, failed: bool) -> None:
        """The task is over. After a failure nothing of it may be kept; called in every case."""


@dataclass(slots=True)
class WriteContext:
    """Which task writes, and what it promises."""

    sink: str
    """The sink's name in its job."""
    task: int
    tasks: int
    counts: Counter[str] = field(default_factory=Counter)
    """As those of a `ReadContext`: `rows-written`, …"""
    traffic: dict[str, Traffic] = field(default_factory=dict)
    """By the name of the part that was written, such as a topic; told when the writer is closed."""
    promise: Promise | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """A task that has written under a promise, as a checkpoint remembers it for `Sink.settle`."""

    prefix: str
    """What its transactions begin with: it names them in errors."""
    name: str
    """Of the INSERT."""
    place: str
    """The servers that it wrote to."""
    task: int
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What else the sink needs. JSON."""


class Sink(ABC):
    """One output of a job, on the driver. Where it can promise exactly-once it has all of the methods, else the first.

    A sink is also asked to settle what other tables of its connector have left; so tables that are read have one, too.
    """

    @property
    @abstractmethod
    def guarantees(self) -> frozenset[Guarantee]:
        """What it can promise at all."""

    @abstractmethod
    def prepare(self) -> list[str]:
        """Before a job starts: look at what is there, create what is missing. The strings are warnings."""

    def insert(self, name: str, lineage: str) -> Any:
        """How transactions know an INSERT; `lineage` is what markers of this checkpoint carry. Picklable."""
        raise NotImplementedError

    def used(self, insert: Any, task: int) -> Used:
        """What a checkpoint must remember of a task that is about to write."""
        raise NotImplementedError

    def reach(self, used: Used) -> int:
        """How surely this sink gets to what a task has left: 0 for not at all, the highest of a job is asked."""
        return 0

    def settle(self, used: Used, lineage: str) -> Marker | None:
        """End what a task left open, before the first batch of a run; answers what is in. Called from any thread."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Marker:
    """Of a task's last batch that is in: its number, and the id of the entry that it was run from."""

    version: int
    entry: str


@dataclass(frozen=True, slots=True)
class LookupCache:
    """Which answers of a lookup a worker keeps, by key."""

    max_rows: int | None = None
    expire_after_write: timedelta | None = None
    expire_after_access: timedelta | None = None
    keeps_missing: bool = True
    """Whether a key without rows is remembered as such."""


class Lookup(ABC):
    """Finds rows of a table by key, in a worker: `JOIN t FOR SYSTEM_TIME AS OF` a processing time.

    No connector has one yet: the planner reads every such table as a whole, and joins by `TemporalJoin`. For a table
    with a lookup it will put a step behind the left input instead, without state and without an exchange: made once per
    process and table, then kept with its connection. The step asks for each key of a batch once, less those whose
    answers `cache` still holds, and pads left rows without an answer in a LEFT JOIN. No answer is part of a checkpoint:
    a batch that is run again may find newer rows, as in Flink, so the left input must only add rows.
    """

    cache: LookupCache | None = None
    """None: every batch asks again."""

    @abstractmethod
    def find(self, keys: pa.RecordBatch) -> pa.RecordBatch:
        """The rows whose columns equal one of the keys, each once, in any order: the table's columns without a kind.

        The columns of `keys` are named as in the table; keys differ from each other and hold no nulls. After an error
        the lookup must be usable again; one that passes by itself is a RowkindError with `retryable`.
        """


@dataclass(frozen=True, slots=True)
class Table(ABC):
    """A definition with its options read and checked, for the side it is used on. Frozen, hashable, picklable.

    Made on the driver for every statement that uses it. The planner asks what rows it has and what it takes; runtime
    asks for the four parts. Nothing here opens a connection or reads a file.
    """

    definition: TableDefinition
    side: Side
    connector: str
    changelog: ChangelogMode
    """What a read emits, or what a write takes."""
    metadata: tuple[MetadataField, ...]
    """Of a source every METADATA column, of a sink those that are written."""
    reading: ReadSettings
    writing: WriteSettings

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def upsert(self) -> bool:
        return self.changelog is ChangelogMode.UPSERT

    @property
    def primary_key(self) -> tuple[str, ...]:
        return self.definition.primary_key

    @property
    def physical(self) -> tuple[Field, ...]:
        return self.definition.physical

    @property
    def stored_columns(self) -> tuple[Field, ...]:
        """Physical and metadata columns in table order: what is read, or what an INSERT provides."""
        used = {m.name for m in self.metadata}
        key = self.definition.primary_key
        return tuple(
            Field(c.name, c.type.not_null() if c.name in key else c.type)
            for c in self.definition.columns
            if isinstance(c, PhysicalColumn) or (isinstance(c, MetadataColumn) and c.name in used)
        )

    @property
    def row_schema(self) -> pa.Schema:
        """Of rows on their way from a reader or to a writer: physical columns, metadata columns and the kind."""
        columns = [pa.field(c.name, arrow_type(c.type)) for c in self.physical]
        columns += [pa.field(m.name, arrow_type(m.message_type)) for m in self.metadata]
        return pa.schema([*columns, pa.field(KIND_COLUMN, pa.int8())])

    @property
    @abstractmethod
    def bounded(self) -> bool:
        """Whether a read comes to an end."""

    @property
    def place(self) -> str:
        """Where rows are outside, such as topics; empty where the name of the table says all there is to say.

        Tells INSERTs into tables of one name apart, so it must not change while a job rests.
        """
        return ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the splits that are known before a job starts: its metrics have them as labels."""
        return ()

    @property
    def details(self) -> tuple[str, ...]:
        """What EXPLAIN shows of the table after its connector."""
        return ()

    @property
    def takes_new_rows_only(self) -> str:
        """Of a sink that takes no changes: why, and what to do, for the error. Whole sentences."""
        return f"A '{self.connector}' table only takes new rows."

    @property
    def order_key(self) -> tuple[str, ...]:
        """Columns whose equal rows must stay in their order when rows are spread over tasks; empty: any order."""
        return self.primary_key

    def column_place(self, column: str) -> str:
        """Where in the message a column is read from: another place is another column to a checkpoint."""
        return "value"

    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What tells the table's rows from those of another, as JSON: by it a checkpoint knows a table again.

        Without credentials, addresses and whatever may change while a job rests: where reading starts, how fast it is.
        """

    @property
    def lasting_key(self) -> tuple[str, str] | None:
        """Of a table whose rows are replaced by key outside: where, and what decides the bytes of a key.

        Two runs of a job must agree in it: the same row under another key would never be replaced.
        """
        return None

    def lookup(self) -> Lookup | None:
        """How rows are found by key, for FOR SYSTEM_TIME AS OF; None where the table is read as a whole instead."""
        return None

    def source(self, context: SourceContext) -> Source:
        """On the driver, once a job. This and `reader` are there on the side that is read."""
        raise NotImplementedError

    def reader(self) -> Reader:
        """In a worker, once a process."""
        raise NotImplementedError

    def letters(self) -> Letters | None:
        """On the driver: where messages that cannot be read go; None where they fail the job or are skipped."""
        return None

    @property
    def transaction_prefix(self) -> str | None:
        """What transactions that write the table begin with: markers of another would not be found again."""
        return None

    def sink(self) -> Sink:
        """On the driver, once a job. `writer` is there on the side that is written."""
        raise NotImplementedError

    def writer(self, context: WriteContext) -> Writer | None:
        """In a worker, for each task that has rows. None under a promise that is kept already: its rows are in."""
        raise NotImplementedError
