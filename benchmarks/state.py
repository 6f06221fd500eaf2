"""Speed of the state store: read and rewrite k keys of n, one partition, one core. Prints one JSON line.

    python benchmarks/state.py [--keys 100000 1000000 10000000] [--batches 1000 100000] [--rounds 20] [--lmdb]

Each round looks up k random keys (one in ten is new) and writes them all back, as an aggregate does. CPU time is that
of the task's thread, without merges in the background. `--lmdb` runs the same on an LMDB cache with packed values, the
alternative that was measured against it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import struct
import tempfile
import time
from typing import Any

import lmdb
import numpy as np
import pyarrow as pa

from rowkind.state import compaction
from rowkind.state.hashing import hash_rows, use_key
from rowkind.state.store import StateStore

SCHEMA = pa.schema([("rows", pa.int64()), ("total", pa.float64())])
LOAD_ROWS = 500_000


def keys_of(numbers: np.ndarray) -> pa.Table:
    return pa.table({"id": numbers})


def runs(root: str, keys: int, batches: list[int], rounds: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    use_key(b"as a job does")
    version = 0
    for at in range(0, keys, LOAD_ROWS):
        numbers = np.arange(at, min(at + LOAD_ROWS, keys))
        version = step(root, version, numbers)
        compaction.wait_for_background()
    result = {}
    for size in batches:
        times = []
        for _ in range(rounds):
            numbers = np.unique(rng.integers(0, keys * 10 // 9, size * 11 // 10))[:size]
            rng.shuffle(numbers)
            start, cpu = time.perf_counter(), time.thread_time()
            version = step(root, version, numbers)
            times.append((time.perf_counter() - start, time.thread_time() - cpu))
        result[str(size)] = summary(times, size)
    compaction.wait_for_background()
    return result


def step(root: str, version: int, numbers: np.ndarray) -> int:
    base = version - 1 if version else None
    store = StateStore(root, "bench", 0, version, base=base, clock_ms=version, oldest=version - 2)
    table = store.table("groups", SCHEMA, ["id"])
    hashes = hash_rows(keys_of(numbers))
    found = table.lookup(hashes)
    rows, total = np.zeros(len(numbers), np.int64), np.zeros(len(numbers))
    rows[found.key_index] = found.entries.column("rows").to_numpy()
    total[found.key_index] = found.entries.column("total").to_numpy()
    table.write(pa.table({"rows": rows + 1, "total": total + 0.5}), upsert_keys=hashes)
    store.commit()
    return version + 1


def on_lmdb(root: str, keys: int, batches: list[int], rounds: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    env = lmdb.open(root, map_size=1 << 36, writemap=True, sync=False, metasync=False)
    for at in range(0, keys, LOAD_ROWS):
        lmdb_step(env, np.arange(at, min(at + LOAD_ROWS, keys)))
    result = {}
    for size in batches:
        times = []
        for _ in range(rounds):
            numbers = np.unique(rng.integers(0, keys * 10 // 9, size * 11 // 10))[:size]
            start, cpu = time.perf_counter(), time.thread_time()
            lmdb_step(env, numbers)
            times.append((time.perf_counter() - start, time.thread_time() - cpu))
        result[str(size)] = summary(times, size)
    env.close()
    return result


def lmdb_step(env: lmdb.Environment, numbers: np.ndarray) -> None:
    value = struct.Struct("<qd")
    keys = [n.to_bytes(8, "big") for n in numbers.tolist()]
    with env.begin(write=True) as txn, txn.cursor() as cursor:
        found = dict(cursor.getmulti(keys))
        puts = []
        for key in keys:
            old = found.get(key)
            rows, total = value.unpack(old) if old else (0, 0.0)
            puts.append((key, value.pack(rows + 1, total + 0.5)))
        cursor.putmulti(puts)


def summary(times: list[tuple[float, float]], size: int) -> dict[str, float]:
    wall, cpu = [w for w, _ in times], [c for _, c in times]
    return {
        "median_ms": round(statistics.median(wall) * 1e3, 2),
        "max_ms": round(max(wall) * 1e3, 2),
        "keys_per_s": round(size / statistics.fmean(wall)),
        "cpu_median_ms": round(statistics.median(cpu) * 1e3, 2),
        "keys_per_cpu_s": round(size / statistics.fmean(cpu)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--batches", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lmdb", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"benchmark": "state", "seed": options.seed, "python": platform.python_version()}
    report["pyarrow"], report["numpy"], report["cores"] = pa.__version__, np.__version__, os.cpu_count()
    for name, run in {"runs": runs, **({"lmdb": on_lmdb} if options.lmdb else {})}.items():
        report[name] = {}
        for keys in options.keys:
            root = tempfile.mkdtemp(prefix="rowkind-bench-")
            try:
                report[name][str(keys)] = run(root, keys, options.batches, options.rounds, options.seed)
            finally:
                shutil.rmtree(root)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
