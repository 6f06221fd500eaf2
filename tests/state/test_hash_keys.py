"""Hashes by a secret key: rows that were made to collide without it do not, and each job has a key of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.state.hashing import KeyHashes, hash_rows, use_key
from tests.runtime.test_checkpoint import plan


@pytest.fixture(autouse=True)
def plain_afterwards() -> Iterator[None]:
    yield
    use_key(b"")


def forged(count: int) -> pa.Table:
    """Pairs of different two-word keys whose first 64 bits are equal for who hashes without a key.

    The word that a second column adds is mixed into the hash of the first, so it can undo any difference between two
    of those. The other 64 bits are then equal for one such pair in 2**64, found after 2**32 tries.
    """
    first = np.arange(2 * count, dtype=np.int64)
    state = hash_rows(pa.table({"a": first})).h1 + np.uint64(0x9E3779B97F4A7C15)
    second = np.zeros(2 * count, dtype=np.int64)
    second[count:] = (state[:count] ^ state[count:]).view(np.int64)
    return pa.table({"a": first, "b": second})


def shared(hashes: KeyHashes, count: int) -> int:
    return int((hashes.h1[:count] == hashes.h1[count:]).sum())


def test_forged_rows_do_not_collide_in_a_job() -> None:
    rows = forged(1000)
    assert shared(hash_rows(rows), 1000) == 1000
    use_key(b"the secret of a job")
    assert shared(hash_rows(rows), 1000) == 0


def test_the_hashes_of_a_key_are_the_same_for_ever() -> None:
    rows = pa.table({"n": pa.array([1, None]), "s": ["a", "a long text of several words"]})
    plain = hash_rows(rows)
    use_key(bytes(range(16)))
    keyed = hash_rows(rows)
    assert keyed.h1.tolist() == PINNED[0]
    assert keyed.h2.tolist() == PINNED[1]
    use_key(b"")
    assert hash_rows(rows).h1.tolist() == plain.h1.tolist()


PINNED: tuple[list[int], list[int]] = (
    [3879124933812712963, 16559800949094665167],
    [13484258247172637296, 8375676042355078837],
)


def test_keyed_hashes_spread_as_plain_ones_do() -> None:
    """Every bit of consecutive numbers' hashes is set in about half of them, whatever the key."""
    rows = pa.table({"n": np.arange(20_000)})
    for number in range(20):
        use_key(f"key {number}".encode())
        hashes = hash_rows(rows)
        for lane in (hashes.h1, hashes.h2):
            assert len(np.unique(lane)) == 20_000
            bits = np.unpackbits(lane.view(np.uint8)).reshape(-1, 64).mean(axis=0)
            assert np.all(np.abs(bits - 0.5) < 0.03), number


def test_a_checkpoint_keeps_its_key_and_no_other_has_it(tmp_path: Path) -> None:
    first, _ = Checkpoint(f"{tmp_path}/a").open(plan())
    again, _ = Checkpoint(f"{tmp_path}/a").open(plan(sink="c"))
    other, _ = Checkpoint(f"{tmp_path}/b").open(plan())
    assert len(bytes.fromhex(first.hash_key)) == 16
    assert again.hash_key == first.hash_key != other.hash_key
    assert json.loads((tmp_path / "a" / "job.json").read_text())["hash_key"] == first.hash_key
    assert first.hash_key not in repr(first)
