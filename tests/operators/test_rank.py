"""Top-N, deduplication and LIMIT against a recomputation in plain Python, after every batch of random changelogs."""

from __future__ import annotations

import random
from collections import Counter
from functools import cmp_to_key, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.operators.changes import STALE
from rowkind.operators.rank.top_n import Rank
from rowkind.state.contract import Order
from tests.operators.harness import Change, Engine, Row, Table, canonical, delta_of
from tests.operators.tables import KIND, Bag, Changing, identity, removals_first
from tests.seeds import seeds

INPUT = pa.schema(
    [("p", pa.string()), ("id", pa.int64()), ("score", pa.float64()), ("name", pa.string()), ("n", pa.int32()), KIND]
)
RANK = pa.field("rank", pa.int64(), nullable=False)


class Log:
    """All live rows in order of arrival; what is taken back is the oldest equal row, or the one of that identity."""

    def __init__(self, identity: tuple[str, ...] | None) -> None:
        self.identity = identity
        self.rows: list[Row] = []

    def apply(self, changes: list[Change]) -> None:
        """Additions and retractions of equal rows of one batch meet, wherever they stand in it."""
        if self.identity is not None:
            net = Counter[tuple[Any, ...]]()
            for kind, row in changes:
                net[identity(row)] += 1 if kind.adds else -1
            for kind, row in changes:
                if net[identity(row)]:
                    self.rows = [r for r in self.rows if self._key(r) != self._key(row)]
                    self.rows += [row] if kind.adds and net[identity(row)] > 0 else []
            return
        self.rows += [row for kind, row in changes if kind.adds]
        for kind, row in changes:
            if not kind.adds:
                self.rows.remove(row)

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.identity or ())


def compare(order: tuple[Order, ...], left: Row, right: Row) -> int:
    for item in order:
        a, b = left[item.column], right[item.column]
        if canonical(a) == canonical(b):
            continue
        nulls_first = (not item.descending) if item.nulls_first is None else item.nulls_first
        if a is None or b is None:
            return -1 if (a is None) == nulls_first else 1
        less = (a != a, a) < (b != b, b)
        return -1 if less != item.descending else 1
    return 0


def expected(rank: Rank, rows: list[Row]) -> Counter[tuple[Any, ...]]:
    partitions: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        partitions.setdefault(tuple(row[name] for name in rank.partition), []).append(row)
    result: Counter[tuple[Any, ...]] = Counter()
    for members in partitions.values():
        members = members[::-1] if rank.latest_first else members
        members = sorted(members, key=cmp_to_key(partial(compare, rank.order)))
        at, groups = 0, 0
        for position, row in enumerate(members):
            if position == 0 or compare(rank.order, members[position - 1], row):
                at, groups = position, groups + 1
            number = {"ROW_NUMBER": position + 1, "RANK": at + 1, "DENSE_RANK": groups}[rank.function]
            if rank.first <= number and (rank.last is None or number <= rank.last):
                result[identity({**row, "rank": number} if rank.rank is not None else row)] += 1
    return result


def random_row(rng: random.Random) -> Row:
    return {
        "p": rng.choice([None, "", "a", "b"]),
        "id": rng.randrange(15),
        "score": rng.choice([None, -0.0, 0.0, 1.5, -2.25, float("inf"), float("nan")]),
        "name": rng.choice([None, "", "x", "y", "zebra"]),
        "n": rng.randrange(3),
    }


def random_rank(rng: random.Random) -> tuple[Rank, str]:
    """A rank, and what its input is: appends, bag (rows repeat), keyed (by id), upserts (no old rows)."""
    input = rng.choice(["appends", "bag", "keyed", "upserts"])
    partition = rng.choice([(), ("p",), ("p",), ("n", "p")])
    if input == "upserts":
        partition = rng.choice([(), ("id",)])
    order = tuple(
        Order(column, rng.random() < 0.5, rng.choice([None, True, False]))
        for column in rng.sample(["score", "name", "n", "p"], rng.choice([0, 1, 1, 2]))
    )
    function = rng.choice(["ROW_NUMBER"] * 4 + ["RANK", "DENSE_RANK"])
    first = rng.choice([1, 1, 1, 2, 3])
    last = rng.choice([None, first, first, first + 1, first + 3])
    with_rank = rng.random() < 0.5
    key: tuple[str, ...] | None = None
    if function == "ROW_NUMBER" and with_rank:
        key = (*partition, "rank")
    elif function == "ROW_NUMBER" and first == last:
        key = partition
    elif input in ("keyed", "upserts"):
        key = ("id",)
    if rng.random() < 0.2:
        key = None
    rank = Rank(
        INPUT,
        partition,
        order,
        first,
        last,
        RANK if with_rank else None,
        function,
        input == "appends",
        rng.random() < 0.3,
        ("id",) if input == "upserts" or (input == "keyed" and rng.random() < 0.5) else None,
        key,
        key is None or rng.random() < 0.6,
    )
    return rank, input


@pytest.mark.parametrize("seed", seeds(20))
def test_random_changelogs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    rank, input = random_rank(rng)
    engine = Engine([rank], tmp_path, rng.choice([1, 2, 3]), rng)
    key = ("id",) if input in ("keyed", "upserts") else None
    source = Changing(rng, lambda: random_row(rng), key, input == "appends")
    log = Log(rank.identity)
    bag = Bag() if rank.update_before else None
    table = Table(rank.upsert_key, upsert=not rank.update_before) if rank.upsert_key is not None else None
    for _ in range(rng.randrange(2, 7)):
        size = rng.choice([0, 1, 4, 20])
        changes = source.upserts(size) if input == "upserts" else source.changes(size)
        out = engine.batch(delta_of(changes, INPUT), tasks=rng.choice([1, 2, 4]))
        log.apply(changes)
        wanted = expected(rank, log.rows)
        if bag is not None:
            bag.apply(out)
            assert bag.rows == wanted, rank
        if table is not None:
            table.apply(removals_first(out))
            assert Counter(identity(row) for row in table.rows.values()) == wanted, rank
    assert not engine.counters[STALE]
