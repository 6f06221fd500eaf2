"""The search inside a run: the short way for few keys in many rows, and keys that share a hash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rowkind.state.hashing import KeyHashes
from rowkind.state.sorted_run import Segment
from rowkind.state.store import StateStore

SCHEMA = pa.schema([("v", pa.int64())])


@pytest.mark.parametrize("size", [1 << 17, (1 << 17) + 37, 300_001])
def test_sparse_search_finds_what_a_binary_search_finds(size: int) -> None:
    rng = np.random.default_rng(size)
    h1 = np.unique(rng.integers(0, 2**64, size, dtype=np.uint64))
    rows = len(h1)
    columns = [h1, h1, np.zeros(rows, dtype=np.int8), np.zeros(rows, dtype=np.int64)]
    segment = Segment(pa.record_batch(columns, names=["a", "b", "c", "d"]), 0)
    edges = np.array([0, h1[0], h1[1], h1[-2], h1[-1], 2**64 - 1], dtype=np.uint64)
    asked = np.sort(
        np.concatenate([h1[rng.integers(0, rows, 200)], rng.integers(0, 2**64, 200, dtype=np.uint64), edges])
    )
    assert segment.search(asked).tolist() == np.searchsorted(h1, asked).tolist()


@pytest.mark.parametrize("sort", [(), ("v",)])
def test_keys_that_share_the_first_hash(tmp_path: Path, sort: tuple[str, ...]) -> None:
    """A clash of 64 bits is rare and must not matter: identity is both hashes."""
    for version in range(9):
        store = StateStore(str(tmp_path), "op", 0, version, base=version - 1 if version else None)
        table = store.table("t", SCHEMA, ["k"], sort)
        keys = KeyHashes(np.array([7, 7, 7, 9], dtype=np.uint64), np.array([3, 1, 2, 1], dtype=np.uint64))
        found = table.lookup(keys)
        if version:
            expected = [0, 1, 2, 3] if not sort else sorted([0, 1, 2, 3] * version)
            assert found.key_index.tolist() == expected
            assert found.entries.column("v").to_pylist()[-1] == (version - 1) * 10 + 3
        absent = KeyHashes(np.array([7, 8], dtype=np.uint64), np.array([4, 1], dtype=np.uint64))
        assert not len(table.lookup(absent).key_index)
        table.write(pa.table({"v": [version * 10 + i for i in range(4)]}, SCHEMA), upsert_keys=keys)
        store.commit()
