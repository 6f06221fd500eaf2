"""The state store against a dictionary: random batches, restarts, replays, compactions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rowkind.state import compaction
from rowkind.state.contract import Order
from rowkind.state.store import StateStore

UNIQUE = pa.schema([("k", pa.string()), ("n", pa.int64()), ("s", pa.string())])
SORTED = pa.schema([("k", pa.int64()), ("v", pa.float64()), ("t", pa.string()), ("n", pa.int32())])
SORT = (Order("v", descending=True), Order("t"))


@pytest.fixture(autouse=True)
def small_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiers and windows so small that a few rows pass through all of the compaction."""
    monkeypatch.setattr(compaction, "SMALLEST_TIER", 4)
    monkeypatch.setattr("rowkind.state.merge.WINDOW_ROWS", 3)
    monkeypatch.setattr("rowkind.state.merge.LARGE_WINDOWS", 0)
    monkeypatch.setattr("rowkind.state.sorted_run.SEGMENT_ROWS", 5)


def order_of(entry: dict[str, Any]) -> tuple[Any, ...]:
    v = entry["v"]
    return (v is None, -v if v is not None else 0.0, entry["t"] is not None, entry["t"] or "")


@pytest.mark.parametrize("seed", range(8))
def test_unique_table_equals_a_dictionary(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(compaction, "INLINE_ROWS", rng.choice([0, 10, 1000]))
    model: dict[str | None, dict[str, Any]] = {}
    keys = [None, *(f"key-{i}" * rng.choice([1, 1, 1, 60]) for i in range(30))]
    base = None
    for version in range(20):
        for attempt in range(rng.choice([1, 1, 2])):
            store = StateStore(str(tmp_path), "op", 0, version, base=base, oldest=version - 2)
            table = store.table("t", UNIQUE, ["k"])
            asked = rng.sample(keys, rng.randrange(len(keys)))
            found = table.lookup(pa.table({"k": pa.array(asked, pa.string())}))
            got = dict(zip([asked[i] for i in found.key_index], found.entries.to_pylist(), strict=True))
            assert got == {k: model[k] for k in asked if k in model}
            assert list(found.key_index) == sorted(found.key_index)
            touched = rng.sample(keys, rng.randrange(8))
            cut = rng.randrange(len(touched) + 1)
            puts = [{"k": k, "n": rng.randrange(9), "s": rng.choice([None, "", "x"])} for k in touched[:cut]]
            drops = [{"k": k} for k in touched[cut:]]
            table.write(pa.Table.from_pylist(puts, UNIQUE), pa.Table.from_pylist(drops, pa.schema([UNIQUE.field("k")])))
            if attempt or rng.random() < 0.9:
                store.commit()
                committed = puts, drops
        store.commit()
        committed = puts, drops
        compaction.wait_for_background()
        base = version
        model.update({p["k"]: p for p in committed[0]})
        for drop in committed[1]:
            model.pop(drop["k"], None)


@pytest.mark.parametrize("seed", range(8))
def test_sorted_table_equals_a_dictionary(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(compaction, "INLINE_ROWS", rng.choice([0, 10, 1000]))
    model: dict[tuple[Any, ...], dict[str, Any]] = {}
    values = [None, -1.5, 0.0, 2.0, float("inf")]
    texts = [None, "", "a", "b"]
    keys = list(range(4))
    for version in range(18):
        store = StateStore(str(tmp_path), "op", 3, version, base=version - 1 if version else None)
        table = store.table("t", SORTED, ["k"], SORT)
        asked = rng.sample([*keys, 99], 3)
        for limit, last in ((None, False), (1, False), (2, True), (3, False), (np.array([0, 2, 5]), True)):
            batch = pa.table({"k": asked})
            found = table.lookup(batch) if limit is None else table.first(batch, limit, last=last)
            expected: list[tuple[int, dict[str, Any]]] = []
            for i, k in enumerate(asked):
                entries = sorted((e for e in model.values() if e["k"] == k), key=order_of)
                n = len(entries) if limit is None else int(np.broadcast_to(limit, 3)[i])
                chosen = entries[max(0, len(entries) - n) :] if last else entries[:n]
                expected += [(i, e) for e in chosen]
            assert list(zip(found.key_index.tolist(), found.entries.to_pylist(), strict=True)) == expected
        touched = rng.sample([(k, v, t) for k in keys for v in values for t in texts], rng.randrange(16))
        cut = rng.randrange(len(touched) + 1)
        puts = [{"k": k, "v": v, "t": t, "n": rng.randrange(9)} for k, v, t in touched[:cut]]
        drops = [{"k": k, "v": v, "t": t} for k, v, t in touched[cut:]]
        table.write(pa.Table.from_pylist(puts, SORTED), pa.Table.from_pylist(drops, SORTED))
        store.commit()
        compaction.wait_for_background()
        model.update({(p["k"], p["v"], p["t"]): p for p in puts})
        for d in drops:
            model.pop((d["k"], d["v"], d["t"]), None)
