"""Speed of joins and rankings, one partition, one core. Prints one JSON line.

    python benchmarks/operators.py [--keys 1000000] [--batch 100000] [--rounds 10] [--only join rank]

join: two upsert tables by id, one row a key on both sides; a batch updates rows of both sides (half each), as their
-U and +U. join_upserts: the same without -U. join_many: orders (an id of their own, ten a customer) with customers.
rank: Top-3 by score of a million groups, rows only added. rank_retract: the same with updates. A round is combine,
process and commit; `keys_per_s` counts changed rows of the inputs (an update is one), by the mean round.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.join_kind import JoinKind
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.contract import BatchContext, Operator
from rowkind.operators.join.regular_join import Join
from rowkind.operators.join.sides import JoinSide, Multiplicity
from rowkind.operators.rank.top_n import Rank
from rowkind.state import compaction
from rowkind.state.contract import Order
from rowkind.state.hashing import use_key
from rowkind.state.store import StateStore

KIND = pa.field(KIND_COLUMN, pa.int8())
USERS = pa.schema([("id", pa.int64()), ("name", pa.string()), ("score", pa.float64()), KIND])
CITIES = pa.schema([("user", pa.int64()), ("city", pa.string()), ("since", pa.int64()), KIND])
Deltas = list[pa.Table]


class Keyed:
    """A table of `keys` rows whose values follow from the key and how often it was updated."""

    def __init__(self, schema: pa.Schema, keys: int, rng: np.random.Generator) -> None:
        self.schema, self.rng = schema, rng
        self.updates = np.full(keys, -1, dtype=np.int64)

    def change(self, ids: np.ndarray, old_rows: bool) -> pa.Table:
        """New rows for the ids, and the old ones where there are any."""
        before, after = self.updates[ids], self.updates[ids] + 1
        self.updates[ids] = after
        had = before >= 0
        parts = [self._rows(ids, after, np.where(had, RowKind.UPDATE_AFTER, RowKind.INSERT))]
        if old_rows:
            parts.insert(0, self._rows(ids[had], before[had], np.full(int(had.sum()), RowKind.UPDATE_BEFORE)))
        return pa.concat_tables(parts).combine_chunks()

    def _rows(self, ids: np.ndarray, updates: np.ndarray, kinds: np.ndarray) -> pa.Table:
        values = [self._column(f, ids, updates) for f in list(self.schema)[:-1]]
        return pa.table([*values, pa.array(kinds.astype(np.int8))], schema=self.schema)

    def _column(self, field: pa.Field, ids: np.ndarray, updates: np.ndarray) -> pa.Array:
        if field.name in ("id", "user", "order"):
            return pa.array(ids)
        if field.name == "group":
            return pa.array(ids // 10)
        mixed = (ids * 2654435761 + updates * 40503) % 1_000_003
        if pa.types.is_string(field.type):
            return pa.array(np.char.add("value ", mixed.astype("U7")))
        return pa.array(mixed).cast(field.type)


def unique_join(keys: int, batch: int, rng: np.random.Generator, upserts: bool) -> tuple[Operator, Iterator[Deltas]]:
    sides = [JoinSide(USERS, ("id",), Multiplicity.ONE_PER_KEY), JoinSide(CITIES, ("user",), Multiplicity.ONE_PER_KEY)]
    join = Join(sides[0], sides[1], JoinKind.INNER, upsert_key=("id",), update_before=not upserts)
    tables = [Keyed(USERS, keys, rng), Keyed(CITIES, keys, rng)]

    def batches() -> Iterator[Deltas]:
        for at in range(0, keys, batch):
            yield [table.change(np.arange(at, min(keys, at + batch)), True) for table in tables]
        while True:
            yield [table.change(some(rng, keys, batch // 2), not upserts) for table in tables]

    return join, batches()


def many_join(keys: int, batch: int, rng: np.random.Generator) -> tuple[Operator, Iterator[Deltas]]:
    orders = pa.schema([("order", pa.int64()), ("group", pa.int64()), ("price", pa.float64()), KIND])
    sides = [
        JoinSide(orders, ("group",), Multiplicity.DISTINCT),
        JoinSide(CITIES, ("user",), Multiplicity.ONE_PER_KEY),
    ]
    join = Join(sides[0], sides[1], JoinKind.LEFT, upsert_key=("order",))
    left, right = Keyed(orders, keys, rng), Keyed(CITIES, keys // 10 + 1, rng)

    def batches() -> Iterator[Deltas]:
        for at in range(0, keys, batch):
            ids = np.arange(at, min(keys, at + batch))
            yield [left.change(ids, True), right.change(np.unique(ids // 10), True)]
        while True:
            ids = some(rng, keys // 10, batch // 100)
            yield [left.change(some(rng, keys, batch - len(ids)), True), right.change(ids, True)]

    return join, batches()


def top_three(keys: int, batch: int, rng: np.random.Generator, appends: bool) -> tuple[Operator, Iterator[Deltas]]:
    rows = pa.schema([("order", pa.int64()), ("group", pa.int64()), ("score", pa.float64()), KIND])
    rank = Rank(
        rows,
        ("group",),
        (Order("score", descending=True),),
        last=3,
        append_only=appends,
        identity=None if appends else ("order",),
        upsert_key=("order",),
    )
    table = Keyed(rows, keys * 10, rng)

    def batches() -> Iterator[Deltas]:
        for at in range(0, keys, batch):
            yield [table.change(np.arange(at, min(keys, at + batch)) * 10, True)]
        while True:
            ids = some(rng, keys, batch) * 10 + (rng.integers(0, 10, batch) if appends else 0)
            table.updates[ids] = -1 if appends else table.updates[ids]
            yield [table.change(np.unique(ids), True)]

    return rank, batches()


def some(rng: np.random.Generator, keys: int, size: int) -> np.ndarray:
    return rng.permutation(keys)[:size]


def measured(operator: Operator, batches: Iterator[Deltas], load: int, rounds: int) -> dict[str, Any]:
    root = tempfile.mkdtemp(prefix="rowkind-bench-")
    times, changed, out = [], [], []
    try:
        for version in range(load + rounds):
            deltas = next(batches)
            start = time.process_time()
            base = version - 1 if version else None
            exchanged = pa.concat_tables([operator.combine(delta, at) for at, delta in enumerate(deltas)])
            store = StateStore(root, "op", 0, version, base=base, oldest=version - 1)
            result = operator.process(exchanged, store, BatchContext(version))
            store.commit()
            if version >= load:
                times.append(time.process_time() - start)
                changed.append(sum(adds(delta) for delta in deltas))
                out.append(result.rows.num_rows)
            compaction.wait_for_background()
    finally:
        shutil.rmtree(root)
    return {
        "cpu_ms": round(statistics.median(times) * 1e3, 1),
        "max_cpu_ms": round(max(times) * 1e3, 1),
        "keys_per_s": round(sum(changed) / sum(times)),
        "rows_out": round(statistics.fmean(out)),
    }


def adds(delta: pa.Table) -> int:
    kinds = delta.column(KIND_COLUMN).to_numpy()
    return int(np.sum((kinds == RowKind.INSERT) | (kinds == RowKind.UPDATE_AFTER)))


WORKLOADS: dict[str, Callable[[int, int, np.random.Generator], tuple[Operator, Iterator[Deltas]]]] = {
    "join": lambda keys, batch, rng: unique_join(keys, batch, rng, upserts=False),
    "join_upserts": lambda keys, batch, rng: unique_join(keys, batch, rng, upserts=True),
    "join_many": many_join,
    "rank": lambda keys, batch, rng: top_three(keys, batch, rng, appends=True),
    "rank_retract": lambda keys, batch, rng: top_three(keys, batch, rng, appends=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=list(WORKLOADS), choices=list(WORKLOADS))
    options = parser.parse_args()
    report: dict[str, Any] = {"benchmark": "operators", "seed": options.seed, "python": platform.python_version()}
    report |= {"pyarrow": pa.__version__, "numpy": np.__version__, "cores": os.cpu_count()}
    report |= {"keys": options.keys, "batch": options.batch}
    use_key(b"as a job does")
    for name in options.only:
        operator, batches = WORKLOADS[name](options.keys, options.batch, np.random.default_rng(options.seed))
        load = -(-options.keys // options.batch)
        report[name] = measured(operator, batches, load, options.rounds)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
