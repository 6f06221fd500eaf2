"""The net change per key: what a batch of changes amounts to, whatever order they arrived in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.changes import Ints
from rowkind.state.hashing import KeyHashes, hash_rows


def net_change(changes: pa.Table, key: list[str]) -> pa.Table:
    """One row per key that changed: its row as +U where one is left, else a -D. A key left as it was gives nothing.

    Rows are weighed, not ordered: an old row that one operator takes back and the same row that another adds cancel
    out, so it does not matter which of the two is seen first.
    """
    if changes.num_rows == 0:
        return changes
    kinds = changes.column(KIND_COLUMN).to_numpy()
    weights = np.where((kinds == RowKind.INSERT) | (kinds == RowKind.UPDATE_AFTER), 1, -1)
    columns = [name for name in changes.column_names if name != KIND_COLUMN]
    _, last, of_row = groups(hash_rows(changes, columns))
    net = np.bincount(of_row, weights).astype(np.int64)
    keys, _, of_key = groups(hash_rows(changes.take(pa.array(last)), key))
    chosen = np.full(len(keys), -1)
    for sign in (-1, 1):
        hit = np.flatnonzero(np.sign(net) == sign)
        hit = hit[np.argsort(last[hit], kind="stable")]
        chosen[of_key[hit]] = hit
    picked = chosen[chosen >= 0]
    picked = picked[np.argsort(last[picked], kind="stable")]
    kind = np.where(net[picked] > 0, RowKind.UPDATE_AFTER, RowKind.DELETE).astype(np.int8)
    rows = changes.take(pa.array(last[picked]))
    return rows.set_column(rows.column_names.index(KIND_COLUMN), KIND_COLUMN, pa.array(kind))


def groups(hashes: KeyHashes) -> tuple[Ints, Ints, Ints]:
    """The first row of each distinct hash, the last one, and for every row its group."""
    h1, h2 = hashes.h1, hashes.h2
    order = np.lexsort((np.arange(len(h1)), h2, h1))
    fresh = np.ones(len(order), bool)
    fresh[1:] = (h1[order][1:] != h1[order][:-1]) | (h2[order][1:] != h2[order][:-1])
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(fresh) - 1
    starts = np.flatnonzero(fresh)
    ends = np.append(starts, len(order))[1:] - 1
    return order[starts], order[ends], group
