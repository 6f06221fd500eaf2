"""Frames of OVER: stretches of rows that overlap, and what is folded over each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rowkind.operators.changes import Floats, Ints

Columns = Sequence[npt.NDArray[Any]]
MANY = 1 << 20


@dataclass(frozen=True, slots=True)
class Frames:
    """One frame an element: the rows from position `first` to `last`, both included."""

    first: Ints
    last: Ints

    def __len__(self) -> int:
        return len(self.first)

    def sum(self, values: Ints) -> Ints:
        """
        >>> Frames(np.array([0, 0, 1]), np.array([0, 2, 2])).sum(np.array([5, 7, 11])).tolist()
        [5, 23, 18]
        """
        until = np.concatenate([[0], np.cumsum(values)])
        return np.asarray(until[self.last + 1] - until[self.first])

    def sum_floats(self, values: Floats) -> Floats:
        """Not by differences, since a frame must not see the rounding errors of values that are not in it."""
        return np.asarray(self.fold([values], lambda a, b: [a[0] + b[0]], [0.0])[0])

    def least(self, codes: Ints) -> Ints:
        highest = np.iinfo(np.int64).max
        return np.asarray(self.fold([codes], lambda a, b: [np.minimum(a[0], b[0])], [highest])[0])

    def fold(self, rows: Columns, join: Callable[[Columns, Columns], Columns], empty: Sequence[float]) -> Columns:
        """What `join` makes of the rows of each frame, in n log n: blocks of 1, 2, 4 … rows, and each frame cut so."""
        found = [np.full(len(self), nothing, dtype=column.dtype) for column, nothing in zip(rows, empty, strict=True)]
        length, at = self.last - self.first + 1, self.first.copy()
        longest, size = int(length.max(initial=0)), 1
        while size <= longest:
            here = np.flatnonzero(length & size)
            joined = join([column[here] for column in found], [column[at[here]] for column in rows])
            for column, values in zip(found, joined, strict=True):
                column[here] = values
            at[here] += size
            rows = join([column[:-size] for column in rows], [column[size:] for column in rows])
            size *= 2
        return found

    def members(self) -> Iterator[tuple[Frames, Ints, Ints]]:
        """Some frames at a time, and their rows one by one: the number of the frame among those, and the position."""
        length = self.last - self.first + 1
        until = np.cumsum(length)
        begin = 0
        while begin < len(self):
            taken = until[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(until, taken + MANY, side="right")))
            some = Frames(self.first[begin:end], self.last[begin:end])
            frame = np.repeat(np.arange(end - begin), length[begin:end])
            before = np.repeat(until[begin:end] - length[begin:end] - taken, length[begin:end])
            yield some, frame, np.arange(len(frame)) - before + some.first[frame]
            begin = end


def runs(*columns: Ints) -> tuple[Ints, Ints]:
    """For rows in order of the columns: the positions of the first and of the last row that is equal to each.

    >>> [found.tolist() for found in runs(np.array([4, 4, 7]))]
    [[0, 0, 2], [1, 1, 2]]
    """
    size = len(columns[0])
    new = np.ones(size, dtype=bool)
    if size:
        new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    begins = np.flatnonzero(new)
    number = np.cumsum(new) - 1
    return begins[number], np.append(begins[1:], size)[number] - 1
