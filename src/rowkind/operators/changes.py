"""What every stateful operator does with a changelog: signs, groups, and the difference of old and new results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.state.hashing import KeyHashes, equal_rows

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

SUPPRESSED = "unchanged_results_suppressed"
STALE = "retractions_without_state"
"""Counter: deletes and -U of rows that state does not hold (any more): the table never had them, or the TTL passed."""


def signs(delta: pa.Table) -> Ints:
    """+1 for a row that is added (+I, +U), -1 for one that is taken back (-U, -D)."""
    kinds = column_array(delta, KIND_COLUMN).to_numpy(zero_copy_only=False)
    return np.where((kinds == RowKind.INSERT) | (kinds == RowKind.UPDATE_AFTER), 1, -1).astype(np.int64)


def column_array(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows grouped by equal hashes. Groups are numbered by hash, so the order does not depend on that of the rows."""

    index: Ints
    """The group of each row."""
    first: Ints
    """One row of each group."""
    hashes: KeyHashes
    """The hashes of each group."""

    def __len__(self) -> int:
        return len(self.first)

    def sum(self, values: Ints) -> Ints:
        totals = np.zeros(len(self), dtype=np.int64)
        np.add.at(totals, self.index, values)
        return totals

    def any(self, rows: Bools) -> Bools:
        found = np.zeros(len(self), dtype=bool)
        found[self.index[rows]] = True
        return found


def group(hashes: KeyHashes) -> Groups:
    if _repeats(hashes.h1):
        return _group_few(hashes)
    return _group_by_sort(hashes)


def _group_by_sort(hashes: KeyHashes) -> Groups:
    order = np.argsort(hashes.h1)
    h1, h2 = hashes.h1[order], hashes.h2[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = h1[1:] != h1[:-1]
    if np.any(~new[1:] & (h2[1:] != h2[:-1])):
        order = np.lexsort([hashes.h2, hashes.h1])
        h1, h2 = hashes.h1[order], hashes.h2[order]
        new[1:] = (h1[1:] != h1[:-1]) | (h2[1:] != h2[:-1])
    index = np.empty(len(order), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    return Groups(index, order[new], KeyHashes(h1[new], h2[new]))


def _repeats(h1: npt.NDArray[np.uint64]) -> bool:
    """Whether a look at some rows promises far fewer groups than rows."""
    sample = h1[:: max(1, len(h1) // 1024)]
    return len(h1) > 4096 and len(np.unique(sample)) < len(sample) * 3 // 4


def _group_few(hashes: KeyHashes) -> Groups:
    """By a hash table instead of a sort, which is faster where rows are many and groups are few."""
    codes = pa.array(hashes.h1).dictionary_encode()
    index = codes.indices.to_numpy().astype(np.int64)
    first = np.empty(len(codes.dictionary), dtype=np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]
    if np.any(hashes.h2 != hashes.h2[first[index]]):
        return _group_by_sort(hashes)
    order = np.argsort(hashes.h1[first])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Groups(place[index], first[order], hashes.take(first[order]))


def shortfall(owner: Ints, order: Ints, signs: Ints, held: Ints) -> Ints:
    """How many rows are taken back of each owner that were not there when they were, by the order of the changes.

    `held` is how many each has at first. A changelog that only takes back what it gave has no shortfall in any order
    of its tasks. One whose old rows are not quite those it gave (-U of a change event, with the metadata of the new
    one) must not have its new row cancelled by an old one that came before it.

    >>> one = np.zeros(2, dtype=np.int64)
    >>> [int(shortfall(one, np.array(order), np.array([-1, 1]), np.array([0]))[0]) for order in ([0, 1], [1, 0])]
    [1, 0]
    """
    sequence = np.lexsort([order, owner])
    running = np.cumsum(signs[sequence])
    of = owner[sequence]
    first = np.searchsorted(of, of)
    running -= running[first] - signs[sequence][first]
    lowest = np.zeros(len(held), dtype=np.int64)
    np.minimum.at(lowest, of, running)
    return np.asarray(np.maximum(-lowest - held, 0))


@dataclass(frozen=True, slots=True)
class Difference:
    rows: pa.Table
    of: Ints
    """The number of the result that each row is of."""
    suppressed: int


def difference(
    old: pa.Table, new: pa.Table, had: Bools, has: Bools, *, update_before: bool, keep_unchanged: bool = False
) -> Difference:
    """The changelog from old rows to new ones, which are given side by side: `had` and `has` say which exist."""
    both = had & has
    same = both & equal_rows(old, new, new.column_names)
    update = both if keep_unchanged else both & ~same
    before = (had & ~has) | update if update_before else had & ~has
    after = (has & ~had) | update
    old_rows, new_rows = np.flatnonzero(before), np.flatnonzero(after)
    kinds = np.concatenate(
        [
            np.where(has[old_rows], RowKind.UPDATE_BEFORE, RowKind.DELETE),
            np.where(had[new_rows], RowKind.UPDATE_AFTER, RowKind.INSERT),
        ]
    ).astype(np.int8)
    order = np.argsort(np.concatenate([old_rows * 2, new_rows * 2 + 1]))
    rows = pa.concat_tables([old.take(pa.array(old_rows)), new.take(pa.array(new_rows)).cast(old.schema)])
    rows = rows.append_column(KIND_FIELD, pa.array(kinds)).combine_chunks().take(pa.array(order))
    return Difference(rows, np.concatenate([old_rows, new_rows])[order], 0 if keep_unchanged else int(same.sum()))


KIND_FIELD = pa.field(KIND_COLUMN, pa.int8(), nullable=False)


def plain_columns(schema: pa.Schema) -> list[pa.Field]:
    """The columns of a delta, without the kind."""
    return [field for field in schema if field.name != KIND_COLUMN]


def kept_columns(schema: pa.Schema) -> pa.Schema:
    """The columns of a delta as they stand in state, where each may be NULL."""
    return pa.schema([field.with_nullable(True) for field in plain_columns(schema)])


def scatter(values: pa.Table, index: Ints, size: int) -> pa.Table:
    """A table of `size` rows with the given rows at the given places and NULLs elsewhere."""
    rows = np.full(size, -1, dtype=np.int64)
    rows[index] = np.arange(len(index))
    return values.combine_chunks().take(pa.array(rows, mask=rows < 0))
