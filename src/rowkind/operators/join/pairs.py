"""Every pair of rows that share a key, as row numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rowkind.operators.changes import Ints

BLOCK = 1 << 22
"""Pairs at a time, so that memory follows what a condition keeps and not what it is asked about."""


def pairs(left: Ints, right: Ints, keys: int) -> Iterator[tuple[Ints, Ints]]:
    """Blocks of (left row, right row) with equal key numbers; `keys` is greater than any of these.

    >>> [(a.tolist(), b.tolist()) for a, b in pairs(np.array([1, 0, 1]), np.array([1, 2, 1]), 3)]
    [([0, 0, 2, 2], [0, 2, 0, 2])]
    """
    order = np.argsort(right, kind="stable")
    counts = np.bincount(right, minlength=keys)
    starts = np.cumsum(counts) - counts
    matches = counts[left]
    ends = np.cumsum(matches)
    begin = 0
    while begin < len(left):
        done = ends[begin] - matches[begin]
        until = max(begin + 1, int(np.searchsorted(ends, done + BLOCK, side="right")))
        number = matches[begin:until]
        rows = np.repeat(np.arange(begin, until), number)
        if len(rows):
            inside = np.arange(len(rows)) - np.repeat(np.cumsum(number) - number, number)
            yield rows, order[starts[left[rows]] + inside]
        begin = until
