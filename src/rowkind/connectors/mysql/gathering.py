"""Gathering, in a worker: rows of chunks and of the binlog into staged files.

What is read here cannot be read again in the same way, so a batch is planned around the files that come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.connectors.mysql.chunk_reading import chunk_rows
from rowkind.connectors.mysql.chunks import Chunk
from rowkind.connectors.mysql.connection import ServerAddress, connect
from rowkind.connectors.mysql.facts import ServerFacts
from rowkind.connectors.mysql.history import SchemaHistory, TableDdl
from rowkind.connectors.mysql.positions import BinlogPosition, binlog_files, check_available
from rowkind.connectors.mysql.reader import BinlogReader, Piece, TableChanges
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.schema_set import schema_set
from rowkind.connectors.mysql.schemas import TableId
from rowkind.connectors.mysql.staged import EVENT_TIME, SEQUENCE, StagedFile
from rowkind.connectors.mysql.types import Reading
from rowkind.connectors.mysql.walker import Undone
from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.state.hashing import hash_rows

POLL_BYTES = 16 << 20
POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a gathering task works: the server, the checkpoint's folder, the schemas. Sent to workers."""

    address: ServerAddress
    facts: ServerFacts
    reading: Reading
    folder: str
    schemas: str
    """The digest of the schema set."""
    sync: bool


@dataclass(frozen=True, slots=True)
class Lanes:
    """Tables whose rows must stay apart from others, because Spark computes on them, and those in one piece.

    A lane is a name in the files; the rows of a lane are spread over `parts` by key, or all in one part where the key
    of the messages is not that of the table.
    """

    apart: Mapping[TableId, str] = field(default_factory=dict)
    unsplit: frozenset[TableId] = frozenset()
    parts: int = 1

    def of(self, table: TableId) -> str:
        return self.apart.get(table, "all")


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """Chunks, read one after the other into one file."""

    place: Place
    chunks: tuple[Chunk, ...]
    after: BinlogPosition
    """What the log has up to here is in the rows."""
    file: str


@dataclass(frozen=True, slots=True)
class LogTask:
    """A stretch of the binlog into files."""

    place: Place
    start: BinlogPosition
    until: BinlogPosition
    """A border; nothing after it is read."""
    server_id: int
    heartbeat_seconds: float
    most_bytes: int
    """Of the log; the transaction under way then is still read to its end."""
    since_ms: int
    """Changes of before are left out."""
    lanes: Lanes
    begin: str
    """Of the names of the files."""
    captures: Any
    """Whether a new table is captured: a picklable callable of a TableId."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a task has put into files."""

    files: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    """By lane and name of the file: rows of each table."""
    counts: Mapping[str, int] = field(default_factory=dict)
    position: BinlogPosition | None = None
    """How far the log was read: a border."""
    ddl: tuple[TableDdl, ...] = ()
    """What the statement did that ended the stretch; the position is after it."""
    notes: tuple[str, ...] = ()
    seconds_behind: float = 0.0


def gather_chunks(task: ChunkTask) -> Gathered:
    """Read chunks into a file. Runs as a task of Spark."""
    place = task.place
    schemas = schema_set(place.folder, place.schemas).tables
    rows, zero_dates = Counter[str](), Counter[str]()
    with StagedFile(place.folder, task.file, place.sync) as file:
        for table, chunks in groupby(task.chunks, key=attrgetter("table")):
            counts = Counts()
            for batch in chunk_rows(
                place.address, place.facts, schemas[table], tuple(chunks), task.after, place.reading, counts
            ):
                file.add(str(table), inserted(batch))
                rows[str(table)] += batch.num_rows
            zero_dates[f"{table}.zero-dates"] += counts.zero_dates
    return Gathered({"": {task.file: dict(rows)}} if file.rows else {}, zero_dates)


def inserted(rows: pa.RecordBatch) -> pa.RecordBatch:
    size = rows.num_rows
    return _marked(
        rows, np.full(size, RowKind.INSERT, np.int8), np.arange(size, dtype=np.int64), np.zeros(size, np.int64)
    )


def _marked(
    rows: pa.RecordBatch,
    kinds: npt.NDArray[np.int8],
    sequence: npt.NDArray[np.int64],
    times: npt.NDArray[np.int64],
) -> pa.RecordBatch:
    columns = [*rows.columns, pa.array(times), pa.array(sequence), pa.array(kinds)]
    return pa.RecordBatch.from_arrays(columns, names=[*rows.schema.names, EVENT_TIME, SEQUENCE, KIND_COLUMN])


def gather_log(task: LogTask) -> Gathered:
    """Read a stretch of the binlog into files, up to its end, a DDL statement or the wanted size. A task of Spark."""
    undone: set[tuple[str, int]] = set()
    while True:
        try:
            return _gathered(task, undone)
        except Undone as transaction:
            undone.add(transaction.place)
        except RowkindError as error:
            if error.condition != "MYSQL_LOG_REFUSED" or not task.start.file:
                raise
            task = _by_transactions(task, error)


def _by_transactions(task: LogTask, refused: RowkindError) -> LogTask:
    """The server has removed a file: it may still have all that follows the transactions that were read."""
    place, start = task.place, task.start
    with closing(connect(place.address)) as connection:
        check_available(connection, place.facts, start)
        if not start.gtids or start.file in binlog_files(connection):
            raise refused
    return replace(task, start=replace(start, file=""))


def _gathered(task: LogTask, undone: Collection[tuple[str, int]]) -> Gathered:
    place = task.place
    schemas = schema_set(place.folder, place.schemas).tables
    history = SchemaHistory(schemas, captures=task.captures, mariadb=place.facts.mariadb, folds=place.facts.folds)
    reader = BinlogReader(
        place.address, place.facts, task.start, task.server_id, history, place.reading, task.heartbeat_seconds, undone
    )
    with closing(reader), _Files(task) as files:
        ended = _read(task, reader, files)
    return Gathered(files.rows(), files.counts, ended.position, ended.ddl, tuple(history.notes), ended.seconds_behind)


@dataclass(frozen=True, slots=True)
class _Ended:
    position: BinlogPosition
    ddl: tuple[TableDdl, ...]
    seconds_behind: float


def _read(task: LogTask, reader: BinlogReader, files: _Files) -> _Ended:
    read, behind = 0, 0.0
    while True:
        piece: Piece = reader.poll(POLL_BYTES, POLL_SECONDS, task.until)
        read += piece.bytes
        behind = behind if piece.seconds_behind is None else piece.seconds_behind
        for number, part in enumerate(piece.parts):
            if isinstance(part, TableDdl):
                return _Ended(part.position, _of_one_statement(piece.parts[number:]), behind)
            files.add(part)
        if piece.reached or (piece.at_border and read >= task.most_bytes):
            return _Ended(piece.position, (), behind)


def _of_one_statement(parts: Sequence[TableChanges | TableDdl]) -> tuple[TableDdl, ...]:
    """All that the statement at the head of these parts did: it may have named several tables."""
    found = []
    for part in parts:
        if not isinstance(part, TableDdl) or part.position != parts[0].position:  # type: ignore[union-attr]
            break
        found.append(part)
    return tuple(found)


class _Files:
    """The files of a stretch, made when the first row comes: one for each lane and part."""

    def __init__(self, task: LogTask) -> None:
        self._task = task
        self._open = ExitStack()
        self._files: dict[tuple[str, int], StagedFile] = {}
        self._rows: dict[str, dict[str, Counter[str]]] = {}
        self.counts: Counter[str] = Counter()

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def add(self, changes: TableChanges) -> None:
        # The two images of an update are an even number and the next one.
        sequence = changes.sequence.to_numpy() >> 1
        times = changes.timestamp.to_numpy()
        rows = _marked(changes.rows, changes.kinds.to_numpy(), sequence, times)
        if self._task.since_ms:
            rows = rows.filter(pa.array(times >= self._task.since_ms))
        table, lanes = changes.schema.id, self._task.lanes
        self.counts[f"{table}.zero-dates"] += changes.zero_dates
        if table in lanes.unsplit or lanes.parts == 1 or not changes.schema.primary_key:
            self._put(table, 0, rows)
            return
        parts = hash_rows(rows, list(changes.schema.primary_key)).h1 % np.uint64(lanes.parts)
        for part in np.unique(parts):
            self._put(table, int(part), rows.filter(pa.array(parts == part)))

    def _put(self, table: TableId, part: int, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        lane = self._task.lanes.of(table)
        file = self._files.get((lane, part))
        if file is None:
            name = f"{self._task.begin}-{lane}-{part}.arrow"
            file = self._open.enter_context(StagedFile(self._task.place.folder, name, self._task.place.sync))
            self._files[lane, part] = file
        file.add(str(table), rows)
        self._rows.setdefault(lane, {}).setdefault(file.name, Counter())[str(table)] += rows.num_rows

    def rows(self) -> dict[str, dict[str, dict[str, int]]]:
        return {lane: {name: dict(c) for name, c in files.items()} for lane, files in self._rows.items()}
