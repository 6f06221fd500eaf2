"""Entries of several runs as one: the newest of each wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.state.contract import Order
from rowkind.state.ordering import order_codes
from rowkind.state.sorted_run import GONE, H1, H2, WRITTEN, Run

WINDOW_ROWS = 1 << 16
LARGE_WINDOWS = 4
"""Rows of each run that a merge holds at a time, and how many times more it may be before a key is cut."""


def merged(runs: Sequence[Run], sort: Sequence[Order], whole: bool, expired_before: int | None) -> Iterator[pa.Table]:
    """The merge of adjacent runs, given oldest first, in sorted pieces.

    `whole` says that no older run exists: tombstones have then done their work and are left out. Entries last written
    at or before `expired_before` are left out in any case, as tombstones unless `whole`.
    """
    newest_first = runs[::-1]
    at = [0] * len(runs)
    while any(start < run.rows for start, run in zip(at, newest_first, strict=True)):
        bound = min(
            run.hash_at(min(start + WINDOW_ROWS, run.rows) - 1)
            for start, run in zip(at, newest_first, strict=True)
            if start < run.rows
        )
        stops = [run.until(start, bound) for start, run in zip(at, newest_first, strict=True)]
        large = sum(stops) - sum(at) > LARGE_WINDOWS * WINDOW_ROWS * len(runs)
        spans = _within_key(newest_first, at, stops, sort) if large and sort else [(at, stops)]
        for starts, ends in spans:
            pieces = [run.slice(*span) for run, *span in zip(newest_first, starts, ends, strict=True)]
            piece = _resolve(pa.concat_tables(pieces).combine_chunks(), sort, whole, expired_before)
            if piece.num_rows:
                yield piece
        at = stops


def _within_key(
    newest_first: Sequence[Run], at: Sequence[int], stops: Sequence[int], sort: Sequence[Order]
) -> Iterator[tuple[list[int], list[int]]]:
    """Cut rows that one key with very many entries made too many, along the sort columns.

    Of a window of each run, all rows are complete up to the first row at which some run's window ends.
    """
    starts = list(at)
    while starts != list(stops):
        ends = [min(start + WINDOW_ROWS, stop) for start, stop in zip(starts, stops, strict=True)]
        table = pa.concat_tables(
            [run.slice(*span) for run, *span in zip(newest_first, starts, ends, strict=True)]
        ).combine_chunks()
        sizes = [end - start for start, end in zip(starts, ends, strict=True)]
        rank = np.repeat(np.arange(len(sizes)), sizes)
        keys = [numbers(table, H1), numbers(table, H2), *order_codes(table, sort)]
        order = np.lexsort(keys[::-1])
        number = np.cumsum(first_of_each(order, keys))
        edges = [sum(sizes[: i + 1]) - 1 for i in range(len(sizes)) if sizes[i] and ends[i] < stops[i]]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = number
        bound = min((place[edge] for edge in edges), default=len(order))
        taken = np.bincount(rank[place <= bound], minlength=len(sizes))
        ends = [start + int(count) for start, count in zip(starts, taken, strict=True)]
        yield starts, ends
        starts = ends


def _resolve(table: pa.Table, sort: Sequence[Order], whole: bool, expired_before: int | None) -> pa.Table:
    h1, h2 = numbers(table, H1), numbers(table, H2)
    codes = order_codes(table, sort)
    order = sorted_newest_first(h1, h2, codes)
    keep = first_of_each(order, [h1, h2, *codes])
    if expired_before is not None:
        expired = numbers(table, WRITTEN) <= expired_before
        if whole:
            keep &= ~expired[order]
        else:
            gone = pa.array((numbers(table, GONE) != 0) | expired).cast(pa.int8())
            table = table.set_column(table.schema.get_field_index(GONE), GONE, gone)
    if whole:
        keep &= numbers(table, GONE)[order] == 0
    return table.take(pa.array(order[keep]))


def numbers(table: pa.Table, column: str) -> npt.NDArray[Any]:
    return np.asarray(table.column(column).combine_chunks().to_numpy(zero_copy_only=False))


def sorted_newest_first(
    h1: npt.NDArray[np.uint64], h2: npt.NDArray[np.uint64], codes: Sequence[npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """A stable order by key and sort. Runs that are each in order make it a merge, which numpy's stable sort sees."""
    if not codes:
        order = np.argsort(h1, kind="stable")
        sorted_h1, sorted_h2 = h1[order], h2[order]
        if not np.any((sorted_h1[1:] == sorted_h1[:-1]) & (sorted_h2[1:] != sorted_h2[:-1])):
            return order
    return np.lexsort([*codes[::-1], h2, h1])


def first_of_each(order: npt.NDArray[np.int64], columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    """In the given order, whether a row differs from the one before it in some column."""
    first = np.zeros(len(order), dtype=bool)
    first[:1] = True
    for column in columns:
        values = column[order]
        first[1:] |= values[1:] != values[:-1]
    return first
