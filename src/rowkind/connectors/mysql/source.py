"""The tables of one server as a source: first all rows, chunk by chunk, then every change; on the driver.

The log is read from the place where the job began and never left: each batch holds a stretch of it, and while tables
are being copied also some of their chunks. A chunk is selected without locks after the start of its batch's stretch
is known; then the end of the log is looked up, and the stretch is read up to there. A row of the chunk whose key does
not occur in the stretch was not changed meanwhile, so it is right as of the end; a row whose key does occur is left
out, since the log has it. So for every key there is either a row of the chunk or changes of the log in a batch, never
both, and nothing older can come after something newer. No chunk needs to be remembered once it is written.

Position: {"log": place in the binlog, "schemas": digest of the schema set there, "todo": tables that are not copied
whole, "splitter": how far the first of them is, "gone": tables that were dropped or renamed and are followed when they
come back, "token": names the staged files of the batch that ended here, "ddl": the statement that ended it}.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from rowkind.connectors.contract import Limits, Offer, Pace, Position, Share, Source, SourceContext, Split, Waiting
from rowkind.connectors.mysql.chunks import Chunk, ChunkSplitter
from rowkind.connectors.mysql.connection import ServerAddress, connect
from rowkind.connectors.mysql.copying import Copying, about_rows, copying
from rowkind.connectors.mysql.facts import ServerFacts, check_server, server_facts
from rowkind.connectors.mysql.gathering import (
    ChunkTask,
    Gathered,
    Lanes,
    LogTask,
    Place,
    gather_chunks,
    gather_log,
)
from rowkind.connectors.mysql.history import TableDdl
from rowkind.connectors.mysql.positions import BinlogPosition, check_available, current_end, earliest
from rowkind.connectors.mysql.schema_set import SchemaSet, schema_set
from rowkind.connectors.mysql.schemas import TableId, TableSchema, list_tables, read_schemas
from rowkind.connectors.mysql.start_mode import StartMode
from rowkind.connectors.mysql.start_times import position_at
from rowkind.connectors.mysql.types import Reading
from rowkind.errors import RowkindError

if TYPE_CHECKING:
    import pymysql

T = TypeVar("T")

LOG = Split("binlog", 0)
SNAPSHOT_ROWS = 200_000
"""Rows of chunks that a batch holds, about."""
EVERYTHING = 2**62
CHUNKS_AT_ONCE = 256
"""Small tables come by hundreds: so many chunks at most, however few rows they hold."""


@dataclass(frozen=True, slots=True)
class Startup:
    """Where reading begins."""

    mode: StartMode = StartMode.INITIAL
    position: BinlogPosition | None = None
    millis: int = 0

    @property
    def copies(self) -> bool:
        return self.mode in (StartMode.INITIAL, StartMode.SNAPSHOT)


@dataclass(frozen=True, slots=True)
class MysqlSettings:
    """What a job says about its source."""

    address: ServerAddress
    server_id: int
    captures: Callable[[TableId], bool]
    """Picklable: it goes to the tasks that read the log."""
    reading: Reading = field(default_factory=Reading)
    startup: Startup = field(default_factory=Startup)
    chunk_size: int = 8096
    chunk_key: Callable[[TableId], str | None] = lambda table: None
    factors: tuple[float, float] = (0.05, 1000.0)
    heartbeat_seconds: float = 30.0
    parallelism: int = 1
    takes_new_tables: bool = False
    """Tables that match when the job is started again are copied, too."""
    takes_created_tables: bool = False
    """Tables that are created while it runs are read from the log."""
    wants: Callable[[TableSchema], bool] = lambda schema: True
    """Whether a captured table is written; it may raise, say of one that has no key."""
    batch_bytes: int = 64 << 20
    sync: bool = True


class MysqlSource(Source):
    """One server. `lanes` says how the rows of a set of tables are laid into files."""

    def __init__(self, settings: MysqlSettings, context: SourceContext, lanes: Callable[[SchemaSet], Lanes]) -> None:
        self.settings = settings
        self._context = context
        self._lanes = lanes
        self._connection: pymysql.Connection[Any] | None = None
        self._facts: ServerFacts | None = None
        self._notes: list[str] = []
        self._looked_for_new = False
        self._about: dict[TableId, int] = {}
        self.seconds_behind = 0.0

    @property
    def limits(self) -> Limits:
        return Limits(None, self.settings.batch_bytes, self.settings.parallelism)

    @property
    def bounded(self) -> bool:
        return self.settings.startup.mode is StartMode.SNAPSHOT

    @property
    def facts(self) -> ServerFacts:
        if self._facts is None:
            self._facts = self._asked(server_facts)
            check_server(self._facts)
        return self._facts

    def schemas(self, position: Position) -> SchemaSet:
        """Of the captured tables, at a position."""
        return schema_set(self._context.folder, position["schemas"])

    def start(self) -> Position:
        facts = self.facts
        log = self._asked(lambda connection: self._begin(connection, facts))
        found = SchemaSet(self._captured())
        if not found.tables and not self.settings.takes_created_tables:
            raise RowkindError("MYSQL_NO_TABLES", server=str(self.settings.address))
        todo = [list(table) for table in sorted(found.tables)] if self.settings.startup.copies else []
        self._looked_for_new = True
        digest = found.keep(self._context.folder, self.settings.sync)
        return {
            "log": log.to_json(),
            "schemas": digest,
            "todo": todo,
            "splitter": None,
            "gone": [],
            "token": None,
            "ddl": [],
        }

    def _begin(self, connection: pymysql.Connection[Any], facts: ServerFacts) -> BinlogPosition:
        startup = self.settings.startup
        match startup.mode:
            case StartMode.EARLIEST:
                return earliest(connection, facts)
            case StartMode.SPECIFIC:
                assert startup.position is not None
                check_available(connection, facts, startup.position)
                return startup.position
            case StartMode.TIMESTAMP:
                settings = self.settings
                return position_at(settings.address, facts, startup.millis // 1000, settings.server_id)
        return current_end(connection, facts)

    def _captured(self) -> dict[TableId, TableSchema]:
        """The tables that are there now and wanted; one without a key is refused, or left with a note."""
        tables = [table for table in self._asked(list_tables) if self.settings.captures(table)]
        schemas = self._asked(lambda connection: read_schemas(connection, tables))
        return {table: schema for table, schema in schemas.items() if self.settings.wants(schema)}

    def copying(self, position: Position) -> list[Copying]:
        """The tables that are not copied whole at a position. The server is asked once how large its tables are."""
        todo = [TableId(*table) for table in position["todo"]]
        if any(table not in self._about for table in todo):
            self._about = dict.fromkeys(todo, 0) | self._asked(about_rows)
        return copying(todo, position["splitter"], self._about, self.settings.chunk_size)

    def offer(self, position: Position) -> Offer:
        fresh = self._new_tables(position)
        at = BinlogPosition.from_json(position["log"])
        end = self._asked(lambda connection: current_end(connection, self.facts, with_gtids=False))
        # A file is known to its own server only: on another one the transactions are looked for.
        new = not at.same_server(end) or end.place() > at.place()
        if at.same_server(end) and end.place() < at.place():
            self._asked(lambda connection: check_available(connection, self.facts, at))
        if not new:
            self.seconds_behind = 0.0
        todo = bool(position["todo"])
        open_ = todo or bool(fresh) or not self.bounded
        waiting = open_ and (new or todo or bool(fresh))
        return Offer({LOG: Waiting(int(waiting), open_)}, self.bounded, (position, at, end, fresh))

    def _new_tables(self, position: Position) -> dict[TableId, TableSchema]:
        """When a job is started again: tables that match and were not there before, when they are to be copied."""
        if self._looked_for_new:
            return {}
        known = self.schemas(position)
        there = [t for t in self._asked(list_tables) if self.settings.captures(t) and t not in known.tables]
        self._asked(lambda c: check_available(c, self.facts, BinlogPosition.from_json(position["log"])))
        found: dict[TableId, TableSchema] = {}
        names = ", ".join(map(str, there))
        if there and self.settings.takes_new_tables:
            read = self._asked(lambda connection: read_schemas(connection, there))
            found = {table: schema for table, schema in read.items() if self.settings.wants(schema)}
            self._notes.append(f"Tables that are new: {names}. They are copied first.")
        elif there:
            self._notes.append(
                f"Tables match that the job did not know when it began, and are left out: {names}. Set "
                "scan.newly-added-table.enabled to copy them."
            )
        self._looked_for_new = True
        return found

    def share(self, offer: Offer, pace: Pace, splittable: bool) -> Share:
        position, at, end, fresh = offer.detail
        if fresh:
            return Share((), self._with_tables(position, fresh), {})
        if not pace.rows or not offer.splits[LOG].rows:
            return Share((), {**position, "token": None, "ddl": []}, {})
        token = uuid.uuid4().hex
        if not position["todo"] or not self._near(at, end):
            log = self._gather_log(position, at, end, pace.bytes, token)
            return self._shared(position, log, [], position["todo"], position["splitter"], token)
        taken, todo, splitter = self._next_chunks(position)
        chunks, changed = self._gather_chunks(position, taken, token)
        end = self._asked(lambda connection: current_end(connection, self.facts, with_gtids=False))
        log = self._gather_log(position, at, end, EVERYTHING, token)
        if log.ddl:
            # Chunks are right as of the end of the stretch, which was not reached: they are read again.
            return self._shared(position, log, [], position["todo"], position["splitter"], token)
        if changed is not None:
            raise changed
        return self._shared(position, log, chunks, todo, splitter, token)

    def _with_tables(self, position: Position, fresh: Mapping[TableId, TableSchema]) -> Position:
        """A batch of its own, as after a statement that has created them."""
        known = SchemaSet({**self.schemas(position).tables, **fresh})
        return {
            **position,
            "schemas": known.keep(self._context.folder, self.settings.sync),
            "todo": [*position["todo"], *(list(table) for table in sorted(fresh))],
            "token": None,
            "ddl": [{"table": str(t), "kind": "create", "statement": "", "from": None, "to": str(t)} for t in fresh],
        }

    def _near(self, at: BinlogPosition, end: BinlogPosition) -> bool:
        """Whether the stretch is small: one that waits for long is read before more chunks are."""
        return at.same_server(end) and at.file == end.file and end.pos - at.pos <= self.settings.batch_bytes

    def _next_chunks(self, position: Position) -> tuple[list[Chunk], list[Any], Mapping[str, Any] | None]:
        """Chunks of the tables that are to be copied, and what is left after them."""
        known = self.schemas(position).tables
        todo, state = list(position["todo"]), position["splitter"]
        taken: list[Chunk] = []
        most = min(CHUNKS_AT_ONCE, max(self.settings.parallelism, SNAPSHOT_ROWS // self.settings.chunk_size))
        while todo and len(taken) < most:
            schema = known.get(TableId(*todo[0]))
            splitter = None if schema is None else self._splitter(schema, state)
            while splitter is not None and len(taken) < most:
                chunk = self._asked(splitter.next)
                if chunk is None:
                    break
                taken.append(chunk)
            if splitter is not None and len(taken) >= most:
                return taken, todo, splitter.state
            todo, state = todo[1:], None
        return taken, todo, None

    def _splitter(self, schema: TableSchema, state: Mapping[str, Any] | None) -> ChunkSplitter:
        settings = self.settings
        lower, upper = settings.factors
        return ChunkSplitter(
            schema,
            settings.chunk_key(schema.id),
            settings.chunk_size,
            lower,
            upper,
            None if state is None else dict(state),
        )

    def _gather_chunks(
        self, position: Position, chunks: Sequence[Chunk], token: str
    ) -> tuple[list[Gathered], RowkindError | None]:
        """The chunks in files; or the error that says that a table is not as its schema, which the log must explain."""
        place, after = self._place(position), BinlogPosition.from_json(position["log"])
        groups = _grouped(chunks, self.settings.parallelism, self._lanes(self.schemas(position)).apart)
        tasks = [ChunkTask(place, tuple(group), after, f"{token}-chunk-{i}.arrow") for i, group in enumerate(groups)]
        try:
            return self._context.run(gather_chunks, tasks), None
        except RowkindError as error:
            if error.condition != "MYSQL_SCHEMA_CHANGED":
                raise
            return [], error

    def _gather_log(
        self, position: Position, at: BinlogPosition, end: BinlogPosition, most: int, token: str
    ) -> Gathered:
        if at.same_server(end) and end.place() <= at.place():
            return Gathered(position=at)
        settings = self.settings
        task = LogTask(
            self._place(position),
            at,
            end,
            settings.server_id,
            settings.heartbeat_seconds,
            most,
            settings.startup.millis if settings.startup.mode is StartMode.TIMESTAMP else 0,
            self._lanes(self.schemas(position)),
            f"{token}-log",
            settings.captures if settings.takes_created_tables else _Known(frozenset(self._followed(position))),
        )
        gathered: Gathered = self._context.run(gather_log, [task])[0]
        self.seconds_behind = gathered.seconds_behind
        self._notes += gathered.notes
        return gathered

    def _followed(self, position: Position) -> set[TableId]:
        """The tables that are known, and those that may be made anew under their names."""
        return {*self.schemas(position).tables, *(TableId(*table) for table in position["gone"])}

    def _place(self, position: Position) -> Place:
        settings = self.settings
        return Place(
            settings.address,
            self.facts,
            settings.reading,
            self._context.folder,
            position["schemas"],
            settings.sync,
        )

    def _shared(
        self,
        position: Position,
        log: Gathered,
        chunks: Sequence[Gathered],
        todo: list[Any],
        splitter: Mapping[str, Any] | None,
        token: str,
    ) -> Share:
        assert log.position is not None
        known = self.schemas(position)
        for change in log.ddl:
            known = self._changed(known, change)
        if log.ddl:
            todo = [table for table in todo if TableId(*table) in known.tables]
            splitter = splitter if todo and todo[0] == position["todo"][0] else None
        gone = sorted(table for table in self._followed(position) if table not in known.tables)
        tasks: list[dict[str, Any]] = [
            {"lane": lane, "file": file, "rows": rows, "minus": []}
            for lane, files in log.files.items()
            for file, rows in files.items()
        ]
        logged = [task["file"] for task in tasks]
        for gathered in chunks:
            for files in gathered.files.values():
                tasks += [{"lane": "", "file": file, "rows": rows, "minus": logged} for file, rows in files.items()]
        until = {
            "log": log.position.to_json(),
            "schemas": known.keep(self._context.folder, self.settings.sync),
            "todo": todo,
            "splitter": splitter,
            "gone": [list(table) for table in gone],
            "token": token,
            "ddl": [_told(change) for change in log.ddl],
        }
        return Share(tasks, until, {LOG: sum(sum(task["rows"].values()) for task in tasks)})

    def _changed(self, known: SchemaSet, ddl: TableDdl) -> SchemaSet:
        if ddl.before is not None and (ddl.after is None or ddl.after.id != ddl.before.id) and ddl.kind != "truncate":
            known = known.without(ddl.before.id)
        if ddl.after is not None and ddl.kind != "truncate" and self.settings.wants(ddl.after):
            known = known.with_table(ddl.after)
        return known

    def done(self, position: Position) -> Mapping[str, int]:
        from rowkind.state.files import Folder

        folder = Folder(self._context.folder)
        for name in folder.names():
            if position["token"] and name.startswith(position["token"]):
                folder.remove(name)
        return {}

    def take_notes(self) -> list[str]:
        taken, self._notes = self._notes, []
        return taken

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _asked(self, question: Callable[[pymysql.Connection[Any]], T]) -> T:
        """What the server answers on a connection that stays open; one that broke is made again once."""
        if self._connection is not None:
            try:
                return question(self._connection)
            except RowkindError as error:
                if not error.retryable:
                    raise
            self.close()
            self._facts = None  # it may come back with other settings, or be another server
        self._connection = connect(self.settings.address)
        return question(self._connection)


@dataclass(frozen=True, slots=True)
class _Known:
    """Captures the tables that are known, and no new ones."""

    tables: frozenset[TableId]

    def __call__(self, table: TableId) -> bool:
        return table in self.tables


def _grouped(chunks: Sequence[Chunk], parallelism: int, apart: Container[TableId]) -> list[list[Chunk]]:
    """Chunks in as many groups as are read at once, and a table that must stay apart in groups of its own."""
    most = -(-len(chunks) // max(1, parallelism))
    groups: list[list[Chunk]] = []
    for chunk in chunks:
        other = not groups or (groups[-1][0].table != chunk.table and _any_in(apart, groups[-1][0], chunk))
        if other or len(groups[-1]) >= most:
            groups.append([])
        groups[-1].append(chunk)
    return groups


def _any_in(tables: Container[TableId], *chunks: Chunk) -> bool:
    return any(chunk.table in tables for chunk in chunks)


def _told(ddl: TableDdl) -> dict[str, Any]:
    """A statement as an entry has it."""
    return {
        "table": str(ddl.table),
        "kind": ddl.kind,
        "statement": ddl.statement,
        "from": None if ddl.before is None else str(ddl.before.id),
        "to": None if ddl.after is None else str(ddl.after.id),
    }
