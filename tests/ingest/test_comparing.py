"""Messages of tables and topics compared, without either."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from rowkind.ingest.comparing import (
    FOUND,
    SIDED,
    Difference,
    bucket_count,
    buckets_of,
    checksums,
    differing,
    in_buckets,
    same,
)

PAIRS = pa.schema([("key", pa.binary()), ("value", pa.binary())])


def pairs(rows: list[tuple[bytes, bytes]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(c, pa.binary()) for c in zip(*rows, strict=True)], schema=PAIRS)


def sided(*rows: tuple[int, str, str]) -> pa.Table:
    columns = [[0] * len(rows), [r[0] for r in rows], [r[1].encode() for r in rows], [r[2].encode() for r in rows]]
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, SIDED, strict=True)], schema=SIDED)


def test_checksums_do_not_know_the_order() -> None:
    rows = [(b"%d" % n, b"v%d" % n) for n in range(1000)]
    other = random.Random(1).sample(rows, len(rows))
    one, two = checksums([pairs(rows)], 7), checksums([pairs(other[:300]), pairs(other[300:])], 7)
    assert one.equals(two)
    assert sum(one.column("rows").to_pylist()) == 1000


@pytest.mark.parametrize("change", [(b"17", b"other"), (b"new", b"v17")])
def test_one_bucket_differs_for_one_value(change: tuple[bytes, bytes]) -> None:
    rows = [(b"%d" % n, b"v%d" % n) for n in range(1000)]
    changed = [change if key == b"17" else (key, value) for key, value in rows]
    one, two = checksums([pairs(rows)], 50), checksums([pairs(changed)], 50)
    differ = [n for n in range(50) if one.slice(n, 1) != two.slice(n, 1)]
    buckets = buckets_of(pa.array([b"17", change[0]]), 50).tolist()
    assert differ == sorted(set(buckets))
    (kept,) = in_buckets([pairs(rows)], 50, frozenset(differ), 3)
    assert b"17" in kept.column("key").to_pylist()
    assert set(kept.column("bucket").to_pylist()) == set(differ)
    assert set(kept.column("side").to_pylist()) == {3}


def test_buckets_hold_about_a_chunk() -> None:
    assert [bucket_count(rows) for rows in (0, 1, 8097, 10**12)] == [1, 1, 2, 4096]


def test_keys_that_differ() -> None:
    bucket = sided(
        (0, "1", '{"a":1}'),
        (0, "2", '{"a":2}'),
        (0, "3", '{"a":3}'),
        (FOUND, "1", '{"a":1}'),
        (FOUND, "2", '{"a":22}'),
        (FOUND, "4", '{"a":4}'),
    )
    found = differing([("a",)], False, bucket).to_pylist()
    assert {r["key"]: (r["expected"], r["found"]) for r in found} == {
        b"2": (b'{"a":2}', b'{"a":22}'),
        b"3": (b'{"a":3}', None),
        b"4": (None, b'{"a":4}'),
    }
    assert {r["key"] for r in differing([("a",)], True, bucket).to_pylist()} == {b"2", b"3"}
    assert differing([("a",)], False, sided((0, "1", "{}"), (FOUND, "1", "{}"))).num_rows == 0


def test_tables_that_share_a_topic() -> None:
    """Either row of a key that two tables have may be there; each is compared by the columns of its table."""
    bucket = sided((0, "1", '{"a":1,"b":null}'), (1, "1", '{"a":null,"b":2}'), (FOUND, "1", '{"a":7,"b":2}'))
    assert differing([("a",), ("b",)], False, bucket).num_rows == 0
    assert differing([("a",), ("a", "b")], False, bucket).num_rows == 1


def test_values_of_before_a_column_came() -> None:
    assert same(b'{"id":1,"extra":null}', b'{"id":1}', ("id", "extra"))
    assert not same(b'{"id":1,"extra":5}', b'{"id":1}', ("id", "extra"))
    assert same(b'{"id":1}', b'{"id":1,"dropped":5}', ("id",))
    assert not same(b'{"id":12345678901234567890.1}', b'{"id":12345678901234567890.2}', ("id",))
    assert not same(b'{"id":1}', b"[1]", ("id",))
    assert not same(b'{"id":1}', b"not json", ("id",))


def test_differences_in_words() -> None:
    assert str(Difference('{"id":1}', '{"id":1}', None)) == '{"id":1}: the table has {"id":1}, the topic has no message'
    assert str(Difference('{"id":1}', None, "{}")) == '{"id":1}: the table has no such row, the topic has {}'
