"""GROUP BY over a changelog, SELECT DISTINCT, and aggregates without GROUP BY."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import Keeps
from rowkind.operators.aggregate.accumulators import Accumulator, Rows, accumulator_of, ints
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.endings import Ending
from rowkind.operators.aggregate.kept_values import NUMBER, PART, PLACE, Slot, arrived, slot_rows, slots_of, truth
from rowkind.operators.aggregate.multiset import count_values, keep_extremes
from rowkind.operators.aggregate.sequence import keep_endings, keep_lists
from rowkind.operators.changes import (
    KIND_FIELD,
    STALE,
    SUPPRESSED,
    Bools,
    Groups,
    Ints,
    column_array,
    difference,
    group,
    scatter,
    signs,
)
from rowkind.operators.contract import BatchContext, Output
from rowkind.state.contract import State, StateTables
from rowkind.state.hashing import concat_hashes, equal_rows, hash_rows

ROWS, CAME = "__rows", "__came"


@dataclass(frozen=True, slots=True)
class Partials:
    """Accumulator columns by name, and the group that each row belongs to."""

    columns: dict[str, pa.Array]
    group: Ints


@dataclass(frozen=True)
class Aggregate:
    """`SELECT group, calls FROM input GROUP BY group`. The output has the group columns, then the calls.

    Without group columns the one result row exists from the first batch on. Input that takes nothing back
    (`append_only`) needs less state: no row counts, no values for MIN and MAX, no multiplicities for DISTINCT.
    """

    input: pa.Schema
    group: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    append_only: bool = False
    update_before: bool = True
    ttl_ms: int = 0
    unchanged: bool = False
    """Whether results are given again that did not change."""
    doubtful: bool = False
    """Whether rows may be taken back that were never given: see `shortfall`."""
    tells: bool = False
    """Whether results tell the place of their last row: groups have none of their own."""

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.input,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.group

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        return slots_of(self.calls, self.input, self.append_only, self.doubtful, self.ttl_ms > 0)

    @cached_property
    def accumulators(self) -> dict[int, Accumulator]:
        """By position of the call; calls that read a list or sorted values have none."""
        kept = {at for slot in self.slots if slot.keeps is not Keeps.DISTINCT for at in slot.calls}
        return {at: self._accumulator(call) for at, call in enumerate(self.calls) if at not in kept}

    def _accumulator(self, call: AggregateCall) -> Accumulator:
        return accumulator_of(call, None if call.argument is None else self.input.field(call.argument).type)

    @cached_property
    def columns(self) -> dict[int, list[str]]:
        return {at: [f"__a{at}_{i}" for i in range(len(a.types))] for at, a in self.accumulators.items()}

    @cached_property
    def _accumulator_fields(self) -> list[pa.Field]:
        return [
            pa.field(name, type)
            for at, names in self.columns.items()
            for name, type in zip(names, self.accumulators[at].types, strict=True)
        ]

    @cached_property
    def _kept_calls(self) -> list[int]:
        """Calls whose result is stored in the group's row, since it is not computed from accumulators."""
        return [at for slot in self.slots if slot.keeps is not Keeps.DISTINCT for at in slot.calls]

    @cached_property
    def _distinct_calls(self) -> frozenset[int]:
        return frozenset(at for slot in self.slots if slot.keeps is Keeps.DISTINCT for at in slot.calls)

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        fields = [*(self.input.field(name) for name in self.group), pa.field(ROWS, pa.int64())]
        fields += [pa.field(CAME, pa.int64())] * self.tells
        fields += self._accumulator_fields
        if self.slots:
            fields += [pa.field(PART, pa.int8()), pa.field(NUMBER, pa.int64())]
            fields += [pa.field(slot.column, slot.type) for slot in self.slots]
        if any(slot.placed for slot in self.slots):
            fields.append(pa.field(PLACE, pa.int64()))
        return pa.schema(fields)

    @cached_property
    def output_schema(self) -> pa.Schema:
        groups = [self.input.field(name) for name in self.group]
        return pa.schema([*groups, *(call.field for call in self.calls), KIND_FIELD])

    @cached_property
    def _state_schema(self) -> pa.Schema:
        rows = [] if self.append_only else [pa.field(ROWS, pa.int64())]
        kept = [pa.field(f"__r{at}", self._kept_type(at)) for at in self._kept_calls]
        return pa.schema([*rows, *self._accumulator_fields, *kept])

    def _kept_type(self, at: int) -> pa.DataType:
        call = self.calls[at]
        assert call.argument is not None
        return call.type if call.entry.keeps is Keeps.LIST else self.input.field(call.argument).type

    # before the exchange

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        """Partial accumulators per group, and net numbers per group and value."""
        hashes = hash_rows(delta, self.group)
        weights = signs(delta)
        places = order + np.arange(delta.num_rows)
        groups = group(hashes)
        columns = {name: column_array(delta, name).take(pa.array(groups.first)) for name in self.group}
        columns[ROWS] = pa.array(groups.sum(weights))
        if self.tells:
            columns[CAME] = pa.array(latest(groups, places))
        for at, accumulator in self.accumulators.items():
            call = self.calls[at]
            if at not in self._distinct_calls:
                rows = self._rows(call, delta, weights, groups, places)
                columns |= zip(self.columns[at], accumulator.partial(rows), strict=True)
        if not self.slots:
            return pa.table({f.name: columns[f.name] for f in self.exchange_schema}, self.exchange_schema)
        columns[PART] = pa.array(np.zeros(len(groups), dtype=np.int8))
        parts = [self.padded(columns, len(groups))]
        for slot in self.slots:
            found = slot_rows(slot, delta, weights, hashes, places)
            taken = pa.array(found.row)
            part = {name: column_array(delta, name).take(taken) for name in self.group}
            part[PART] = pa.array(np.full(len(found.row), slot.number, dtype=np.int8))
            part |= {slot.column: found.values, NUMBER: pa.array(found.number), PLACE: pa.array(found.place)}
            parts.append(self.padded(part, len(found.row)))
        return pa.concat_tables(parts)

    def _rows(self, call: AggregateCall, delta: pa.Table, weights: Ints, groups: Groups, places: Ints) -> Rows:
        if call.filter is not None:
            weights = weights * truth(column_array(delta, call.filter))
        values = None if call.argument is None else column_array(delta, call.argument)
        return Rows(values, weights, groups, places)

    def padded(self, columns: dict[str, pa.Array], size: int) -> pa.Table:
        arrays = [columns.get(f.name) for f in self.exchange_schema]
        return pa.Table.from_arrays(
            [pa.nulls(size, f.type) if a is None else a for a, f in zip(arrays, self.exchange_schema, strict=True)],
            schema=self.exchange_schema,
        )

    # after the exchange

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        return self.merge(delta, state, batch, distinct_done=False)

    def merge(self, delta: pa.Table, state: StateTables, batch: BatchContext, distinct_done: bool) -> Output:
        delta = self._sequenced(self.canonical(delta.combine_chunks()), batch.version)
        hashes = hash_rows(delta, self.group)
        if not self.group:
            hashes = concat_hashes(hashes, hash_rows(pa.table({"x": [0]}), ()))
        groups = group(hashes)
        counters: Counter[str] = Counter()
        table = state.table("groups", self._state_schema, self.group, ttl_ms=self.ttl_ms)
        found = table.lookup(groups.hashes)
        old = scatter(found.entries, found.key_index, len(groups))
        had = np.zeros(len(groups), dtype=bool)
        had[found.key_index] = True

        new = self._new_accumulators(delta, groups, old, state, counters, distinct_done)
        new |= self._new_kept(delta, groups, old, state, batch, counters)
        has = self._alive(groups, new, counters)

        stored = pa.table({f.name: new[f.name] for f in self._state_schema}, self._state_schema)
        group_keys = {name: column_array(delta, name).take(pa.array(groups.first)) for name in self.group}
        before = self._results(group_keys, {name: column_array(old, name) for name in old.column_names})
        after = self._results(group_keys, new)
        again = self.unchanged or self.ttl_ms > 0
        change = difference(before, after, had, has, update_before=self.update_before, keep_unchanged=again)
        counters[SUPPRESSED] += change.suppressed
        self._write(table, groups, old, stored, had, has)
        came = latest(groups, ints(column_array(delta, CAME)))[change.of] if self.tells else None
        counted = {k: v for k, v in counters.items() if v}
        return Output(change.rows.cast(self.output_schema), counted, came=came)

    def canonical(self, delta: pa.Table) -> pa.Table:
        """Rows in an order of their own: float sums must not depend on what the exchange delivers first."""
        floating = [f.name for f in self._accumulator_fields if pa.types.is_floating(f.type)]
        if not floating:
            return delta
        hashes = hash_rows(delta, floating)
        return delta.take(pa.array(np.lexsort([hashes.h2, hashes.h1])))

    def _sequenced(self, delta: pa.Table, version: int) -> pa.Table:
        """Places in the batch's input, which FIRST_VALUE and LAST_VALUE keep, as numbers that grow with the version."""
        for at, accumulator in self.accumulators.items():
            if isinstance(accumulator, Ending):
                name = self.columns[at][1]
                place = column_array(delta, name)
                ranks = np.unique(ints(place), return_inverse=True)[1]
                sequence = pa.array((version << 32) + ranks, mask=place.is_null().to_numpy(zero_copy_only=False))
                delta = delta.set_column(delta.schema.get_field_index(name), name, sequence)
        return delta

    def _new_accumulators(
        self,
        delta: pa.Table,
        groups: Groups,
        old: pa.Table,
        state: StateTables,
        counters: Counter[str],
        distinct_done: bool,
    ) -> dict[str, pa.Array]:
        """Stored columns and the batch's, merged: each stored row is one more partial of its group."""
        sources = [partials_of(old, np.arange(len(groups))), partials_of(delta, groups.index[: delta.num_rows])]
        if not distinct_done:
            sources += self.distinct_partials(delta, groups, state, counters)
        result: dict[str, pa.Array] = {}
        for at, columns in self.merged(sources, groups).items():
            result |= zip(self.columns[at], self.accumulators[at].settle(columns), strict=True)
        if not self.append_only:
            rows = _padded_zeros(ints(column_array(delta, ROWS)), len(groups.index))
            result[ROWS] = pa.array(groups.sum(rows) + ints(column_array(old, ROWS)))
        return result

    def merged(self, sources: list[Partials], groups: Groups) -> dict[int, list[pa.Array]]:
        """The accumulators of each call from all sources that have them."""
        result = {}
        for at, accumulator in self.accumulators.items():
            names = self.columns[at]
            given = [source for source in sources if names[0] in source.columns]
            columns = [pa.concat_arrays([source.columns[name] for source in given]) for name in names]
            members = Groups(np.concatenate([source.group for source in given]), groups.first, groups.hashes)
            result[at] = accumulator.merge(columns, members)
        return result

    def distinct_partials(
        self, delta: pa.Table, groups: Groups, state: StateTables, counters: Counter[str]
    ) -> list[Partials]:
        """What the values that came to or left their group do to the accumulators of DISTINCT calls, per group."""
        partials = []
        for slot in self.slots:
            if slot.keeps is not Keeps.DISTINCT:
                continue
            rows = arrived(slot, delta, groups)
            moves = count_values(slot, rows, state, self.append_only, self.ttl_ms)
            counters[STALE] += moves.stale
            moved = np.flatnonzero(moves.sign)
            owners = Groups(rows.pair_group[moved], groups.first, groups.hashes)
            values = rows.pair_values.take(pa.array(moved))
            input_rows = Rows(values, moves.sign[moved], owners, np.zeros(len(moved), dtype=np.int64))
            columns: dict[str, pa.Array] = {}
            for at in slot.calls:
                columns |= zip(self.columns[at], self.accumulators[at].partial(input_rows), strict=True)
            partials.append(Partials(columns, np.arange(len(groups))))
        return partials

    def _new_kept(
        self,
        delta: pa.Table,
        groups: Groups,
        old: pa.Table,
        state: StateTables,
        batch: BatchContext,
        counters: Counter[str],
    ) -> dict[str, pa.Array]:
        """The stored results of calls that are not computed from accumulators."""
        result: dict[str, pa.Array] = {}
        for slot in self.slots:
            if slot.keeps is Keeps.DISTINCT:
                continue
            calls = [self.calls[at] for at in slot.calls]
            names = [f"__r{at}" for at in slot.calls]
            cached = [column_array(old, name) for name in names]
            rows = arrived(slot, delta, groups)
            if slot.keeps is Keeps.EXTREME:
                pairs = [(call.entry.last, before) for call, before in zip(calls, cached, strict=True)]
                kept = keep_extremes(slot, rows, groups, pairs, state, self.ttl_ms)
                values, stale = kept.values, kept.stale
            elif slot.keeps is Keeps.ENDING:
                values, stale = keep_endings(slot, rows, groups, calls, state, batch.version, self.ttl_ms)
            else:
                touched, fresh, stale = keep_lists(slot, rows, groups, calls, state, batch.version, self.ttl_ms)
                values = [_replaced(before, touched, new) for before, new in zip(cached, fresh, strict=True)]
            counters[STALE] += stale
            result |= zip(names, values, strict=True)
        return result

    def _alive(self, groups: Groups, new: dict[str, pa.Array], counters: Counter[str]) -> Bools:
        """Which groups exist after the batch: those that have rows."""
        if not self.group or self.append_only:
            return np.ones(len(groups), dtype=bool)
        rows = ints(new[ROWS])
        counters[STALE] += int(-rows[rows < 0].sum())
        return np.asarray(rows > 0)

    def _results(self, keys: dict[str, pa.Array], columns: dict[str, pa.Array]) -> pa.Table:
        arrays = list(keys.values())
        for at, call in enumerate(self.calls):
            if at in self.accumulators:
                arrays.append(self.accumulators[at].result([columns[name] for name in self.columns[at]]))
            elif call.entry.never_null:
                arrays.append(_empty_maps(columns[f"__r{at}"]))
            else:
                arrays.append(columns[f"__r{at}"].cast(call.type))
        schema = pa.schema([f.with_nullable(True) for f in self.output_schema][:-1])
        return pa.Table.from_arrays(arrays, schema=schema)

    def _write(self, table: State, groups: Groups, old: pa.Table, stored: pa.Table, had: Bools, has: Bools) -> None:
        same = had & (equal_rows(old, stored, stored.column_names) if stored.num_columns else True)
        put, drop = has & (~same | bool(self.ttl_ms)), had & ~has
        table.write(
            _only(stored, put),
            _only(stored, drop),
            upsert_keys=groups.hashes.take(put),
            delete_keys=groups.hashes.take(drop),
        )


def latest(groups: Groups, places: Ints) -> Ints:
    """The last place of each group; 0 for a group without rows."""
    last = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(last, groups.index[: len(places)], places)
    return last


def partials_of(table: pa.Table, index: Ints) -> Partials:
    return Partials({name: column_array(table, name) for name in table.column_names}, index)


def _only(table: pa.Table, rows: Bools) -> pa.Table:
    return table.filter(pa.array(rows)) if table.num_columns else table


def _padded_zeros(values: Ints, size: int) -> Ints:
    return np.concatenate([values, np.zeros(size - len(values), dtype=np.int64)])


def _replaced(before: pa.Array, index: Ints, values: pa.Array) -> pa.Array:
    rows = np.arange(len(before))
    rows[index] = len(before) + np.arange(len(index))
    return pa.concat_arrays([before, values]).take(pa.array(rows))


def _empty_maps(maps: pa.Array) -> pa.Array:
    """COLLECT of nothing is an empty multiset, not NULL."""
    if not maps.null_count:
        return maps
    return pa.array([[] if m is None else m for m in maps.to_pylist()], maps.type)
