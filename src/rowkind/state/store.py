"""The state of one operator in one partition, at one version."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.state.belonging import require_mark
from rowkind.state.compaction import maintain, take_up
from rowkind.state.contract import Order
from rowkind.state.files import Folder
from rowkind.state.listing import Listing, read_listing, write_listing
from rowkind.state.open_runs import OpenRuns
from rowkind.state.ordering import orders
from rowkind.state.retention import remove_before
from rowkind.state.sorted_run import Place, Run, RunInfo, stored_schema, write_delta
from rowkind.state.table import StateTable, TableDefinition

_open = OpenRuns()
"""Of this process."""


class StateStore:
    """Implements `StateTables` for one task: reads version `base`, writes version `version`.

    Runs in a Python worker. The runtime makes one per task, gives it to the operator, and calls `commit` once the
    operator is done. Nothing else needs to happen when the task fails. A version counts only when the driver's
    manifest says so: until then it may be written again, from the same base.

    `base` is the last committed version in which this operator ran, None when there is none; `clock_ms` is the
    batch's clock; `oldest` is the oldest version that must stay readable: files needed only before it are removed.
    `checkpoint` is the id of the checkpoint that the folder must be part of.
    With `sync` the version is on the disk when `commit` returns.
    """

    def __init__(
        self,
        root: str,
        operator: str,
        partition: int,
        version: int,
        *,
        base: int | None,
        clock_ms: int = 0,
        oldest: int | None = None,
        cache: str | None = None,
        checkpoint: str = "",
        sync: bool = False,
    ) -> None:
        if checkpoint:
            require_mark(root, checkpoint)
        self.version = version
        self.clock_ms = clock_ms
        self._oldest = None if oldest is None or base is None else min(oldest, base)
        self._place = Place(operator, partition, version, checkpoint)
        self._folder = Folder(f"{root.rstrip('/')}/{operator}/{partition}", cache, sync)
        self._base_version = base
        self._base = Listing() if base is None else read_listing(self._folder, base, self._place)
        _open.keep_only(self._folder, (info for runs in self._base.tables.values() for info in runs))
        self._folder.prune(self._base.names)
        self._opened: dict[str, tuple[StateTable, tuple[RunInfo, ...]]] = {}

    def table(
        self, name: str, schema: pa.Schema, key: Sequence[str], sort: Sequence[str | Order] = (), ttl_ms: int = 0
    ) -> StateTable:
        if name in self._opened:
            return self._opened[name][0]
        definition = TableDefinition(name, schema.remove_metadata(), tuple(key), orders(sort), ttl_ms)
        self._check_definition(definition)
        runs = take_up(self._folder, definition, self._base.tables.get(name, ()))
        table = StateTable(definition, [self._run(info) for info in runs], self.clock_ms)
        self._opened[name] = table, runs
        return table

    @property
    def expired(self) -> int:
        """Entries that the operator asked for after their time (`table.exec.state.ttl`)."""
        return sum(table.expired for table, _ in self._opened.values())

    def commit(self) -> None:
        """Write the batch's deltas, then the listing that makes them version `version`."""
        tables = dict(self._base.tables)
        definitions = dict(self._base.definitions)
        for name, (table, runs) in self._opened.items():
            runs = maintain(self._folder, table, runs, [self._run(info) for info in runs])
            if table.delta is not None and table.delta.num_rows:
                schema = stored_schema(table.definition.schema)
                delta = write_delta(self._folder, name, self.version, self.clock_ms, schema, table.delta)
                runs = (*runs, delta)
            tables[name] = runs
            definitions[name] = table.definition.identity
        listing = Listing(tables, definitions, self._base_version)
        write_listing(self._folder, self.version, listing, self._place.checkpoint)
        if self._oldest is not None:
            remove_before(self._folder, self.version, self._oldest, self._place)
            self._folder.clear_abandoned()

    def _check_definition(self, definition: TableDefinition) -> None:
        stored = self._base.definitions.get(definition.name)
        if stored is not None and stored != definition.identity:
            raise RowkindError(
                "STATE_TABLE_DIFFERS",
                table=definition.name,
                operator=self._place.operator,
                stored=stored,
                wanted=definition.identity,
            )

    def _run(self, info: RunInfo) -> Run:
        return _open.run(self._folder, info, self._place)
