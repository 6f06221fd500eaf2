"""Buffers of a sink: the last row of each key, and nothing held back at the end."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkind.operators.buffer import buffered

Row = tuple[int | None, int]


def written(batches: list[list[Row]], max_rows: int) -> list[Row]:
    schema = pa.schema([("k", pa.int64()), ("v", pa.int64())])
    made = [pa.RecordBatch.from_pylist([{"k": k, "v": v} for k, v in rows], schema) for rows in batches]
    return [(r["k"], r["v"]) for b in buffered(made, ["k"], max_rows) for r in b.to_pylist()]


def one_by_one(rows: list[Row], max_rows: int) -> list[Row]:
    """The rule, said simply: a full buffer is written as soon as another row comes."""
    out: list[Row] = []
    held: dict[int | None, Row] = {}
    for row in rows:
        if len(held) == max_rows:
            out += held.values()
            held = {}
        held.pop(row[0], None)
        held[row[0]] = row
    return [*out, *held.values()]


def test_the_last_row_of_a_key_is_written_once() -> None:
    assert written([[(1, 1), (2, 2)], [(1, 3), (1, 4)]], 10) == [(2, 2), (1, 4)]


def test_a_full_buffer_is_written() -> None:
    assert written([[(1, 1), (1, 2), (2, 3), (1, 4)]], 2) == [(1, 2), (2, 3), (1, 4)]
    assert written([[(1, 1), (1, 2)]], 1) == [(1, 1), (1, 2)]


def test_nothing_comes_of_nothing() -> None:
    assert written([], 3) == written([[]], 3) == []


rows = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 99)), max_size=30)


@given(st.lists(rows, max_size=4), st.integers(1, 6))
def test_it_is_the_same_however_rows_are_cut_into_batches(batches: list[list[Row]], max_rows: int) -> None:
    assert written(batches, max_rows) == one_by_one([row for batch in batches for row in batch], max_rows)
