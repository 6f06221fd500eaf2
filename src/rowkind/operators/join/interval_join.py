"""Joins of append-only rows whose times lie within bounds of each other; a row goes when nothing can match it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import RowKind
from rowkind.operators.changes import KIND_FIELD, Bools, Groups, Ints, column_array, group, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.join.pairs import pairs
from rowkind.operators.join.two_inputs import places
from rowkind.operators.join.two_sided import Side, TwoSided, keyed_rows
from rowkind.operators.timers import DueTimes, Now, by_close, check_times, micros
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, extend, hash_rows

_HELD = pa.schema([(name, pa.int64()) for name in ("__at", "__i1", "__i2", "__n")] + [("__matched", pa.bool_())])
_EXPIRING = pa.schema([("h1", pa.int64()), ("h2", pa.int64())])


@dataclass(frozen=True)
class IntervalSide(Side):
    """One input: equal keys match, and so do times: `reach` microseconds past a row's time nothing matches it."""

    time: str
    reach: int


@dataclass(frozen=True)
class IntervalJoin(TwoSided[IntervalSide]):
    """`right.time - left.time` lies in [lower, upper] microseconds. An unmatched row of an outer side is padded when
    time has passed its bound. A row that comes too late to be kept is still joined with what is kept of the other side,
    but not with another one that is too late: as if it had come alone.

    Results are given in the order of the time at which there can be one: the later time of the two rows, or the bound.
    """

    proctime: bool = False

    @cached_property
    def output_schema(self) -> pa.Schema:
        return pa.schema([*self.left.columns, *self.right.columns, KIND_FIELD])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        side = self.sides[input]
        check_times(delta.column(side.time), side.time)
        if not self.kind.unmatched[input]:
            delta = delta.filter(pa.array(keyed_rows(delta, side.keys)))
        return self._exchange.pack(input, delta, hash_rows(delta, side.keys), signs(delta) * places(delta, order))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now, due_times = Now.of(batch, self.proctime), DueTimes(state)
        due = due_times.due(now.after)
        given = [self._exchange.unpack(delta, at) for at in (0, 1)]
        hashes = [hash_rows(rows, side.keys) for (rows, _), side in zip(given, self.sides, strict=True)]
        index = state.table("expiring", _EXPIRING, ("close",), ("h1", "h2"))
        expiring = index.lookup(by_close(due))
        touched = group(concat_hashes(*hashes, _hashes(expiring.entries)))
        numbers = np.split(touched.index, np.cumsum([len(h) for h in hashes]))
        pools = [
            _Pool.of(side, name, *rows, number, touched, state)
            for side, name, rows, number in zip(self.sides, ("left", "right"), given, numbers[:2], strict=True)
        ]
        li, ri = self._joined(pools, len(touched), now.before)
        parts = [_Results(li, ri, np.maximum(pools[0].at[li], pools[1].at[ri]))]
        timers: list[tuple[Ints, KeyHashes]] = []
        for at, pool in enumerate(pools):
            expired = (pool.at + self.sides[at].reach <= now.after) | ~pool.keyed
            alone = np.flatnonzero(expired & ~pool.matched) if self.kind.unmatched[at] else np.zeros(0, dtype=np.int64)
            alone = np.repeat(alone, pool.number[alone])
            nothing = np.full(len(alone), -1)
            bound = pool.at[alone] + np.where(pool.keyed[alone], self.sides[at].reach, 0)
            parts.append(_Results(alone, nothing, bound) if at == 0 else _Results(nothing, alone, bound))
            timers.append(pool.write(expired, self.sides[at].reach, touched))
        close = np.concatenate([found for found, _ in timers])
        keys = concat_hashes(*(found for _, found in timers))
        once = group(extend(by_close(close), [pa.array(keys.h1), pa.array(keys.h2)])).first
        index.write(
            _entries(keys.take(once)),
            expiring.entries,
            upsert_keys=by_close(close[once]),
            delete_keys=by_close(due[expiring.key_index]),
        )
        due_times.write(close, due)
        timer = due_times.next(now.after, close) if self.proctime else None
        return Output(self._rows(pools, parts), {}, timer)

    def _joined(self, pools: list[_Pool], keys: int, passed: int) -> tuple[Ints, Ints]:
        """Pairs of rows that match, as often as they come new; notes which rows have a match."""
        left, right = pools
        late = [pool.at + side.reach <= passed for pool, side in zip(pools, self.sides, strict=True)]
        found: list[tuple[Ints, Ints]] = []
        a, b = np.flatnonzero(left.keyed), np.flatnonzero(right.keyed)
        for x, y in pairs(left.key[a], right.key[b], keys):
            li, ri = a[x], b[y]
            apart = right.at[ri] - left.at[li]
            fits = (apart >= -self.right.reach) & (apart <= self.left.reach)
            fits &= (left.fresh[li] > 0) | (right.fresh[ri] > 0)
            fits &= ~(late[0][li] & late[1][ri])
            li, ri = li[fits], ri[fits]
            if self.residual is not None and len(li):
                true = self.residual.evaluate(self._pairs(left, right, li, ri))
                li, ri = li[true], ri[true]
            left.matched[li] = True
            right.matched[ri] = True
            times = left.number[li] * right.number[ri] - left.old[li] * right.old[ri]
            found.append((np.repeat(li, times), np.repeat(ri, times)))
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(li for li, _ in found)]), np.concatenate([none, *(ri for _, ri in found)])

    def _pairs(self, left: _Pool, right: _Pool, li: Ints, ri: Ints) -> pa.Table:
        assert self.residual is not None
        sides = ((left.rows, li), (right.rows, ri))
        columns = {name: rows.column(name).take(pa.array(at)) for rows, at in sides for name in rows.column_names}
        return pa.table({name: columns[name] for name in self.residual.columns})

    def _rows(self, pools: list[_Pool], parts: list[_Results]) -> pa.Table:
        li, ri, time = (np.concatenate([getattr(part, name) for part in parts]) for name in _Results.__slots__)
        came = np.maximum(np.append(pools[0].place, 0)[li], np.append(pools[1].place, 0)[ri])
        order = np.lexsort([ri, li, came, time])
        sides = li[order], ri[order]
        taken = [pool.rows.take(pa.array(at, mask=at < 0)) for pool, at in zip(pools, sides, strict=True)]
        kinds = pa.array(np.full(len(order), RowKind.INSERT, dtype=np.int8))
        return pa.Table.from_arrays([*taken[0].columns, *taken[1].columns, kinds], schema=self.output_schema)


@dataclass(frozen=True, slots=True)
class _Results:
    """Results as row numbers of the two pools, -1 for a side that is padded, and the time of each."""

    left: Ints
    right: Ints
    time: Ints


@dataclass(frozen=True)
class _Pool:
    """The distinct rows of one side with touched keys: how many were there and how many are now."""

    rows: pa.Table
    key: Ints
    keyed: Bools
    at: Ints
    old: Ints
    fresh: Ints
    had_match: Bools
    matched: Bools
    identity: KeyHashes
    place: Ints
    """Where a row is in the batch's input for the first time; 0 if it is not."""
    name: str
    state: StateTables

    @property
    def number(self) -> Ints:
        return self.old + self.fresh

    @staticmethod
    def of(
        side: IntervalSide, name: str, given: pa.Table, places: Ints, number: Ints, touched: Groups, state: StateTables
    ) -> _Pool:
        table = state.table(name, _schema(side), ("key",), ("__at", "__i1", "__i2"))
        found = table.lookup(touched.hashes)
        both = pa.concat_tables([found.entries.select(side.columns.names), given]).combine_chunks()
        key = np.concatenate([found.key_index, number])
        fresh = np.repeat(np.array([0, 1]), [len(found.key_index), len(number)])
        old = np.concatenate([column_array(found.entries, "__n").to_numpy(), np.zeros(len(number), dtype=np.int64)])
        stored = column_array(found.entries, "__matched").to_numpy(zero_copy_only=False)
        same = group(hash_rows(both))
        first = same.first
        matched = same.any(np.concatenate([stored, np.zeros(len(number), dtype=bool)]).astype(bool))
        rows = both.take(pa.array(first))
        at = micros(column_array(rows, side.time))
        keyed = keyed_rows(rows, side.keys)
        counts = same.sum(old), same.sum(fresh)
        place = np.zeros(len(same), dtype=np.int64)
        latest_first = np.argsort(-places)
        place[same.index[len(found.key_index) :][latest_first]] = places[latest_first]
        return _Pool(rows, key[first], keyed, at, *counts, matched.copy(), matched, same.hashes, place, name, state)

    def write(self, expired: Bools, reach: int, touched: Groups) -> tuple[Ints, KeyHashes]:
        """Keeps what may still match; gives when new rows expire, and their keys."""
        stays = ~expired & ((self.fresh > 0) | (self.matched != self.had_match))
        goes = expired & (self.old > 0)
        schema = pa.schema([*_HELD, *self.rows.schema])
        table = self.state.table(self.name, schema, ("key",), ("__at", "__i1", "__i2"))
        table.write(
            self._entries(stays, schema),
            self._entries(goes, schema),
            upsert_keys=touched.hashes.take(self.key[stays]),
            delete_keys=touched.hashes.take(self.key[goes]),
        )
        new = ~expired & (self.old == 0)
        return self.at[new] + reach, touched.hashes.take(self.key[new])

    def _entries(self, chosen: Bools, schema: pa.Schema) -> pa.Table:
        hashes = self.identity.take(chosen)
        numbers = [self.at[chosen], hashes.h1.view(np.int64), hashes.h2.view(np.int64), self.number[chosen]]
        columns = [*map(pa.array, numbers), pa.array(self.matched[chosen])]
        return pa.Table.from_arrays([*columns, *self.rows.filter(pa.array(chosen)).columns], schema=schema)


def _schema(side: IntervalSide) -> pa.Schema:
    return pa.schema([*_HELD, *side.columns])


def _entries(keys: KeyHashes) -> pa.Table:
    return pa.table({"h1": keys.h1.view(np.int64), "h2": keys.h2.view(np.int64)}, _EXPIRING)


def _hashes(entries: pa.Table) -> KeyHashes:
    return KeyHashes(*(column_array(entries, name).to_numpy().view(np.uint64) for name in ("h1", "h2")))
