"""A source driven without Spark: its tasks run here, and what they gather is applied to tables as a topic would be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from rowkind.broker.process import wait_until
from rowkind.connectors.contract import Pace, Position, Share, SourceContext
from rowkind.connectors.mysql.gathering import Lanes
from rowkind.connectors.mysql.schemas import TableId
from rowkind.connectors.mysql.source import LOG, MysqlSettings, MysqlSource
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.ingest_steps import StagedTasks
from tests.connectors.mysql.conftest import Database

PACE = Pace(2**62, 16 << 20, 2, 1)
SECONDS = 20


@dataclass(frozen=True, slots=True)
class InDatabase:
    """Captures all tables of a database."""

    name: str

    def __call__(self, table: TableId) -> bool:
        return table.database == self.name


@dataclass
class Follower:
    """Follows all tables of a database; `state` has their rows by key."""

    db: Database
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    state: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)
    position: Position | None = None
    batches: int = 0
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.restart()

    def restart(self) -> None:
        """As a job does that is started again."""
        given = {"server_id": 4712, "sync": False, **self.settings}
        address = given.pop("address", self.db.address)
        context = SourceContext(str(self.folder), lambda function, tasks: [function(task) for task in tasks])
        settings = MysqlSettings(replace(address, connect_seconds=5), captures=InDatabase(self.db.name), **given)
        self.source = MysqlSource(settings, context, lambda schemas: Lanes(parts=2))

    def step(self) -> Share:
        """One batch, or a share of nothing."""
        if self.position is None:
            self.position = self.source.start()
        offer = self.source.offer(self.position)
        pace = PACE if offer.splits[LOG].rows else replace(PACE, rows=0)
        share = self.source.share(offer, pace, True)
        self._apply(share, self.position)
        self.batches += bool(share.tasks)
        self.notes += self.source.take_notes()
        self.position = share.until
        self.source.done(self.position)
        return share

    def until_equal(self, *tables: str) -> None:
        """Go on until these tables are what they are on the server."""
        self.until(lambda: all(self.rows(table) == self.state.get(table, {}) for table in tables))

    def until(self, condition: Callable[[], bool]) -> None:
        def holds() -> bool:
            self.step()
            return condition()

        assert wait_until(holds, SECONDS), (self.position, self.state)

    def rows(self, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
        """The rows of a table whose first column is its key."""
        with self.db.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.db.name}.{table}")
            names = [column[0] for column in cursor.description]
            return {(row[0],): dict(zip(names, row, strict=True)) for row in cursor.fetchall()}

    def _apply(self, share: Share, before: Position) -> None:
        schemas = self.source.schemas(before).tables
        keys = {str(table): schema.primary_key for table, schema in schemas.items()}
        staged = StagedTasks(
            str(self.folder), tuple(t["file"] for t in share.tasks), tuple(tuple(t["minus"]) for t in share.tasks)
        )
        numbers = pa.RecordBatch.from_pydict({"id": list(range(len(share.tasks)))})
        for name, rows in staged.sections(iter([numbers]), keys, Tally()):
            table = self.state.setdefault(name.partition(".")[2], {})
            for row in rows.to_pylist():
                self._apply_row(table, row, keys[name])

    def _apply_row(self, table: dict[tuple[Any, ...], dict[str, Any]], row: dict[str, Any], key: Any) -> None:
        kind = RowKind(row[KIND_COLUMN])
        values = {name: value for name, value in row.items() if not name.startswith("__")}
        place = tuple(values[name] for name in key)
        if kind.adds:
            table[place] = values
        else:
            table.pop(place, None)
