"""Top-N, deduplication and LIMIT: the rows of certain ranks within each partition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN
from rowkind.operators.arrivals import PLACE, SEQUENCE, SEQUENCE_FIELD, Arrivals, Moves, added
from rowkind.operators.changes import KIND_FIELD, STALE, SUPPRESSED, Bools, Ints, column_array, group
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.partitioned import Partitioned
from rowkind.operators.weighted import changelog, net_of
from rowkind.state.contract import Found, Order, State, StateTables
from rowkind.state.hashing import KeyHashes, hash_rows
from rowkind.state.ordering import order_codes, sort_rows

DUPLICATE = "rows_beyond_one_per_identity"
"""Counter: second rows of one key that a batch adds; the last one is kept."""


@dataclass(frozen=True)
class Rank(Partitioned):
    """The rows whose rank in the partition is from `first` to `last`; the output is the input's columns, then the rank.

    Equal rows by `order` rank by arrival, the earliest first, or the latest with `latest_first`. Without an order
    only arrival counts: LIMIT, and deduplication by processing time. `last` None is without end; then, and for RANK and
    DENSE_RANK, whole partitions are read where they change.

    Input that takes nothing back (`append_only`) needs only the best rows in state. Otherwise all are kept, and a row
    that is taken back is found by its content, or by its own key, `identity`: then old rows (-U) may be left out.
    `upsert_key` identifies an output row for whoever reads it: see `changelog`.
    """

    order: tuple[Order, ...] = ()
    first: int = 1
    last: int | None = None
    rank: pa.Field | None = None
    function: str = "ROW_NUMBER"
    append_only: bool = False
    latest_first: bool = False
    identity: tuple[str, ...] | None = None
    upsert_key: tuple[str, ...] | None = None
    update_before: bool = True
    ttl_ms: int = 0

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return pa.schema([*self.columns, pa.field(PLACE, pa.int64()), KIND_FIELD])

    @cached_property
    def output_schema(self) -> pa.Schema:
        return self.with_results(self.rank)

    @property
    def _bound(self) -> int | None:
        """How many rows of a partition decide the result, when that is known."""
        return self.last if self.function == "ROW_NUMBER" else None

    @property
    def _sort(self) -> tuple[Order, ...]:
        return *self.order, Order(SEQUENCE, self.latest_first)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        return self.placed(delta, order + np.arange(delta.num_rows))

    def placed(self, delta: pa.Table, places: Ints) -> pa.Table:
        """As `combine`, of rows that tell when they came."""
        rows = pa.Table.from_arrays(
            [*(delta.column(name) for name in self.columns.names), pa.array(places), delta.column(KIND_COLUMN)],
            schema=self.exchange_schema,
        )
        if not self.append_only or self._bound is None:
            return rows
        owner = group(hash_rows(rows, self.partition)).index
        ranked = sort_rows(rows, (*self.order, Order(PLACE, self.latest_first)), owner)
        best = ranked[positions(owner[ranked]) < self._bound]
        return rows if len(best) == rows.num_rows else rows.take(pa.array(np.sort(best)))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        return self.output(self.ranked(delta, state, batch))

    def ranked(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Standing:
        """The rows of touched partitions that decide the result; state is written here."""
        delta = delta.combine_chunks()
        owners = group(hash_rows(delta, self.partition))
        table = state.table("rows", pa.schema([*self.columns, SEQUENCE_FIELD]), self.partition, self._sort, self.ttl_ms)
        if self.append_only:
            moves = added(delta, owners.index, batch.version)
        else:
            order = tuple(dict.fromkeys(o.column for o in self.order))
            arrivals = Arrivals(tuple(self.columns.names), order, self.identity, self.ttl_ms)
            moves = arrivals.moves(delta, owners, state, batch.version)
        gone = np.bincount(moves.gone_owner, minlength=len(owners))
        found = table.lookup(owners.hashes) if self._bound is None else table.first(owners.hashes, self._bound + gone)
        standing = self._standing(found, moves, len(owners))
        self._write(table, standing, moves, owners.hashes)
        return standing

    def output(self, standing: Standing) -> Output:
        """The changelog; a touched partition in which nothing changed is counted."""
        was, now = self._shown(standing.was), self._shown(standing.now)
        moved = (standing.was != standing.now) & (self.rank is not None)
        goes, comes = np.flatnonzero(was & (~now | moved)), np.flatnonzero(now & (~was | moved))
        at = np.concatenate([goes, comes])
        rows = standing.rows.take(pa.array(at)).drop_columns([SEQUENCE])
        if self.rank is not None:
            ranks = pa.array(np.concatenate([standing.was[goes], standing.now[comes]]), pa.int64())
            rows = rows.append_column(self.rank.name, ranks.cast(self.rank.type))
        net = net_of(group(hash_rows(rows)).index, np.repeat(np.array([-1, 1]), [len(goes), len(comes)]))
        changes = changelog(rows.take(pa.array(net.position)), net.weight, self.upsert_key, self.update_before)
        changed = np.zeros(standing.partitions, dtype=bool)
        changed[standing.owner[at[net.position]]] = True
        counters = {SUPPRESSED: int(np.sum(~changed)), **standing.counters}
        return Output(changes.cast(self.output_schema), {name: n for name, n in counters.items() if n})

    def _shown(self, ranks: Ints) -> Bools:
        shown = ranks >= max(self.first, 1)
        return shown if self.last is None else shown & (ranks <= self.last)

    def _standing(self, found: Found, moves: Moves, partitions: int) -> Standing:
        stored = found.entries.num_rows
        rows = pa.concat_tables([found.entries, moves.rows]).combine_chunks()
        owner = np.concatenate([found.key_index, moves.owner])
        gone = np.isin(column_array(found.entries, SEQUENCE).to_numpy(), column_array(moves.gone, SEQUENCE).to_numpy())
        was, now = np.zeros(len(owner), dtype=np.int64), np.zeros(len(owner), dtype=np.int64)
        codes = order_codes(rows, self._sort)
        before = np.arange(stored)
        was[before] = self._ranks(before, owner, codes[:-1])
        stays = np.concatenate([np.flatnonzero(~gone), np.arange(stored, len(owner))])
        after = stays[np.lexsort([*(code[stays] for code in codes[::-1]), owner[stays]])]
        now[after] = self._ranks(after, owner, codes[:-1])
        counters = {STALE: moves.stale, DUPLICATE: moves.duplicate}
        return Standing(rows, owner, stored, was, now, partitions, counters)

    def _ranks(self, ordered: Ints, owner: Ints, codes: list[Ints]) -> Ints:
        """The ranks of rows that are in order."""
        position = positions(owner[ordered])
        if self.function == "ROW_NUMBER":
            return position + 1
        leads = position == 0
        for code in codes:
            leads[1:] |= code[ordered[1:]] != code[ordered[:-1]]
        leader = np.maximum.accumulate(np.where(leads, np.arange(len(ordered)), 0))
        if self.function == "RANK":
            return np.asarray(position[leader] + 1)
        groups = np.cumsum(leads)
        return np.asarray(groups - groups[np.arange(len(ordered)) - position] + 1)

    def _write(self, table: State, standing: Standing, moves: Moves, hashes: KeyHashes) -> None:
        puts, owner, gone, gone_owner = moves.rows, moves.owner, moves.gone, moves.gone_owner
        if self.append_only and self._bound is not None:
            kept = standing.now <= self._bound
            enters, leaves = kept[standing.stored :], np.flatnonzero(~kept[: standing.stored])
            puts, owner = puts.filter(pa.array(enters)), owner[enters]
            gone, gone_owner = standing.rows.take(pa.array(leaves)), standing.owner[leaves]
        table.write(puts, gone, upsert_keys=hashes.take(owner), delete_keys=hashes.take(gone_owner))


@dataclass(frozen=True, slots=True)
class Standing:
    """Rows that decide the result, the `stored` ones first, with their ranks before and after the batch; 0: none."""

    rows: pa.Table
    owner: Ints
    """The partition of each row, by number."""
    stored: int
    was: Ints
    now: Ints
    partitions: int
    """How many the batch touched."""
    counters: dict[str, int]


def positions(owner: Ints) -> Ints:
    """Of rows in order of their owner: the place of each within its owner's, from 0.

    >>> positions(np.array([0, 0, 3, 3, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.asarray(np.arange(len(owner)) - np.searchsorted(owner, owner))
