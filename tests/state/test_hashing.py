"""Row hashes: equal for equal SQL values, different otherwise, and the same for ever."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkind.state.hashing import extend, hash_rows

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [None, 0, 1, -1, 127],
    pa.int64(): [None, 0, 1, -1, 2**63 - 1, -(2**63)],
    pa.uint64(): [None, 0, 1, 2**64 - 1],
    pa.float32(): [None, 0.0, 1.5, float("nan"), float("inf")],
    pa.float64(): [None, 0.0, 1.5, float("nan"), float("inf")],
    pa.bool_(): [None, True, False],
    pa.string(): [None, "", "a", "a\0", "\0", "abcdefgh", "abcdefgh\0", "x" * 256, "x" * 257, "x" * 1000],
    pa.large_string(): [None, "", "a", "x" * 300],
    pa.binary(): [None, b"", b"\0", b"\0\0", b"\xff" * 9],
    pa.decimal128(38, 2): [None, Decimal("0.00"), Decimal("1.00"), Decimal("-1.00"), Decimal(10**35)],
    pa.date32(): [None, 0, 1, -1],
    pa.timestamp("us"): [None, 0, 1, 2**60],
    pa.list_(pa.int32()): [None, [], [None], [1], [1, None]],
    pa.struct([("a", pa.int32()), ("b", pa.string())]): [None, {"a": None, "b": None}, {"a": 1, "b": "1"}],
    pa.map_(pa.string(), pa.int32()): [None, [], [("a", 1)], [("a", 1), ("b", 2)]],
}


@pytest.mark.parametrize("type", list(VALUES), ids=str)
def test_different_values_differ_and_position_does_not_matter(type: pa.DataType) -> None:
    values = VALUES[type]
    hashes = hash_rows(pa.table({"x": pa.array(values, type)}))
    assert len({*hashes.h1.tolist()}) == len({*hashes.h2.tolist()}) == len(values)
    assert not {*hashes.h1.tolist()} & {*hashes.h2.tolist()}
    turned = hash_rows(pa.table({"x": pa.chunked_array([pa.array([v], type) for v in reversed(values)])}))
    assert turned.h1.tolist() == hashes.h1.tolist()[::-1]
    sliced = hash_rows(pa.table({"x": pa.array(values, type)}).slice(1))
    assert sliced.h2.tolist() == hashes.h2.tolist()[1:]


def test_repeated_texts_take_a_shorter_way_to_the_same_hash() -> None:
    texts = ["a", None, "", "x" * 300, "region_1"] * 8000
    table = pa.table({"n": range(40_000), "x": pa.array(texts, pa.string())})
    whole = hash_rows(table)
    parts = [hash_rows(table.slice(at, 100)) for at in range(0, 40_000, 100)]
    assert whole.h1.tolist() == [h for part in parts for h in part.h1.tolist()]
    encoded = table.set_column(1, "x", table.column("x").combine_chunks().dictionary_encode())
    assert hash_rows(encoded).h2.tolist() == whole.h2.tolist()


def test_sql_equality() -> None:
    zero = hash_rows(pa.table({"x": [0.0, -0.0]}))
    assert zero.h1[0] == zero.h1[1]
    nan = np.array([0x7FF8000000000000, 0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    assert len(set(hash_rows(pa.table({"x": nan})).h1.tolist())) == 1
    maps = pa.array([[("a", 1), ("b", 2)], [("b", 2), ("a", 1)]], pa.map_(pa.string(), pa.int32()))
    assert len(set(hash_rows(pa.table({"x": maps})).h1.tolist())) == 1


def test_null_is_not_the_value_behind_it() -> None:
    table = pa.table({"a": pa.array([None, 0], pa.int64()), "b": [0, 0]})
    assert len(set(hash_rows(table).h1.tolist())) == 2


def test_columns_do_not_run_together() -> None:
    table = pa.table({"a": ["ab", "a", ""], "b": ["", "b", "ab"]})
    assert len(set(hash_rows(table).h1.tolist())) == 3


def test_extend_is_hash_of_more_columns() -> None:
    table = pa.table({"a": ["x", None, "y"], "b": [1, 2, None]})
    step = extend(hash_rows(table, ["a"]), [table.column("b")])
    assert step.h1.tolist() == hash_rows(table).h1.tolist()


def test_hashes_never_change() -> None:
    """State files of earlier releases hold them."""
    table = pa.table({"i": [1, None, -7], "s": ["", "rowkind", None], "f": [0.5, None, -0.0]})
    hashes = hash_rows(table)
    assert [hex(h) for h in hashes.h1.tolist()] == STABLE_H1
    assert [hex(h) for h in hashes.h2.tolist()] == STABLE_H2


STABLE_H1 = ["0x4bdbbb9930e927ce", "0xd8b7ca6dc2f3b410", "0xd2661267192ee48d"]
STABLE_H2 = ["0x8f4775569c924ce3", "0x1006202c05a71470", "0xb0a9174bcdffd04a"]


@given(st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=60))
def test_equal_exactly_when_the_texts_are(texts: list[str | None]) -> None:
    hashes = hash_rows(pa.table({"x": pa.array(texts, pa.string())}))
    seen = dict(zip(hashes.h1.tolist(), texts, strict=True))
    assert [seen[h] for h in hashes.h1.tolist()] == texts
    assert len(set(texts)) == len(seen)
