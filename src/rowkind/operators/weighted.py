"""Rows with weights, and the changelog they amount to: how many of each row a batch adds, or takes away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from rowkind.kinds import RowKind
from rowkind.operators.changes import KIND_FIELD, Ints, group
from rowkind.state.hashing import hash_rows


class Net(NamedTuple):
    """Distinct ids whose weights do not cancel out: one position of each, in order of id, and the sum."""

    position: Ints
    weight: Ints


def net_of(ids: Ints, weights: Ints) -> Net:
    """
    >>> net_of(np.array([7, 3, 7, 5]), np.array([1, 2, -1, -1]))
    Net(position=array([1, 3]), weight=array([ 2, -1]))
    """
    _, first, index = np.unique(ids, return_index=True, return_inverse=True)
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, index, weights)
    keep = np.flatnonzero(total)
    return Net(first[keep], total[keep])


def changelog(rows: pa.Table, weights: Ints, key: Sequence[str] | None, update_before: bool) -> pa.Table:
    """The rows with their kinds: each as often as its weight says. The rows are distinct, the weights not zero.

    `key` identifies a row of the result: where one row of a key goes and another comes it is an update, and its old
    row is left out unless `update_before`. Without a key there are only inserts and deletes.
    """
    adds = weights > 0
    if key is None:
        kinds = np.where(adds, RowKind.INSERT, RowKind.DELETE)
        order = np.argsort(adds, kind="stable")
    else:
        keys = group(hash_rows(rows, key))
        came, went = keys.any(adds)[keys.index], keys.any(~adds)[keys.index]
        kinds = np.where(
            adds,
            np.where(went, RowKind.UPDATE_AFTER, RowKind.INSERT),
            np.where(came, RowKind.UPDATE_BEFORE, RowKind.DELETE),
        )
        order = np.argsort(keys.index * 2 + adds, kind="stable")
        if not update_before:
            order = order[kinds[order] != RowKind.UPDATE_BEFORE]
    times = np.abs(weights[order])
    if times.max(initial=1) > 1:
        order = np.repeat(order, times)
    return rows.take(pa.array(order)).append_column(KIND_FIELD, pa.array(kinds[order].astype(np.int8)))
