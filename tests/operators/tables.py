"""Tables that change at random, by what is known of their rows, and the bag of rows that a changelog amounts to."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from rowkind.kinds import KIND_COLUMN, RowKind
from tests.operators.harness import Change, Row, canonical

KIND = pa.field(KIND_COLUMN, pa.int8(), nullable=False)


class Changing:
    """A table; `key` makes rows unique by these columns. Rows may repeat when there is none."""

    def __init__(
        self, rng: random.Random, make: Callable[[], Row], key: tuple[str, ...] | None = None, appends: bool = False
    ) -> None:
        self.rng, self.make, self.key, self.appends = rng, make, key, appends
        self.rows: list[Row] = []

    def changes(self, count: int) -> list[Change]:
        return [change for _ in range(count) for change in self._change()]

    def upserts(self, count: int) -> list[Change]:
        """At most one change a key, without old rows; deletes have the key only."""
        assert self.key is not None
        before = {self._key(row): row for row in self.rows}
        self.changes(count)
        after = {self._key(row): row for row in self.rows}
        gone = [(RowKind.DELETE, self._only_key(row)) for at, row in before.items() if at not in after]
        put = [
            (RowKind.UPDATE_AFTER if at in before else RowKind.INSERT, row)
            for at, row in after.items()
            if row != before.get(at) or self.rng.random() < 0.1
        ]
        return [*gone, *put]

    def _only_key(self, row: Row) -> Row:
        return {name: value if name in (self.key or ()) else None for name, value in row.items()}

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.key or ())

    def _change(self) -> list[Change]:
        draw = self.rng.random()
        if self.appends or not self.rows or draw < 0.4:
            return self._put(self.make())
        if draw < 0.65:
            return [(RowKind.DELETE, self.rows.pop(self.rng.randrange(len(self.rows))))]
        old = self.rng.choice(self.rows)
        new = self.make()
        if self.key is not None:
            new = {**new, **{name: old[name] for name in self.key}}
        if self.rng.random() < 0.4:
            kept = self.rng.choice(list(new))
            new = {**old, kept: new[kept]}
        return self._replace(old, new)

    def _put(self, row: Row) -> list[Change]:
        if self.key is not None:
            old = next((r for r in self.rows if self._key(r) == self._key(row)), None)
            if old is not None:
                return self._replace(old, row)
        elif self.rows and self.rng.random() < 0.3:
            row = dict(self.rng.choice(self.rows))
        self.rows.append(row)
        return [(RowKind.INSERT, row)]

    def _replace(self, old: Row, new: Row) -> list[Change]:
        self.rows.remove(old)
        if self.key is not None and any(self._key(r) == self._key(new) for r in self.rows):
            return [(RowKind.DELETE, old)]
        self.rows.append(new)
        return [(RowKind.UPDATE_BEFORE, old), (RowKind.UPDATE_AFTER, new)]


def removals_first(delta: pa.Table) -> pa.Table:
    """A row that moves to another partition may come before it goes: whoever reads by key must weigh, not order."""
    adds = [RowKind(kind).adds for kind in delta.column(KIND_COLUMN).to_pylist()]
    return delta.take(pa.array(sorted(range(len(adds)), key=lambda at: adds[at]), pa.int64()))


def identity(row: Row) -> tuple[Any, ...]:
    return tuple(canonical(value) for value in row.values())


class Bag:
    """How often each row is there. Refuses to take away what is not there."""

    def __init__(self) -> None:
        self.rows: Counter[tuple[Any, ...]] = Counter()

    def apply(self, delta: pa.Table) -> None:
        changes = Counter[tuple[Any, ...]]()
        for change in delta.to_pylist():
            kind = RowKind(change.pop(KIND_COLUMN))
            row = identity(change)
            sign = 1 if kind.adds else -1
            assert changes[row] * sign >= 0, f"{row} both comes and goes in one batch"
            changes[row] += sign
        for row, number in changes.items():
            self.rows[row] += number
            assert self.rows[row] >= 0, f"{row} was taken away, but is not there"
        self.rows = +self.rows
