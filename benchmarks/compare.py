"""rowkind beside Flink: the same topics, the same broker, one run after the other; ratios of rows per second.

Flink runs with as many tasks as there are cores, RocksDB state and checkpoints every 10 s, once as it comes and once
tuned (mini-batch, two-phase and split distinct aggregation); its better figure counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.generate import fill
from benchmarks.workloads import Workload, workloads
from rowkind.broker import Broker
from tools.flink.client import Flink

PLAIN = {
    "parallelism.default": str(os.cpu_count()),
    "state.backend.type": "rocksdb",
    "execution.checkpointing.interval": "10 s",
}
TUNED = PLAIN | {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    "table.optimizer.distinct-agg.split.enabled": "true",
}


def rowkind(workload: Workload, servers: str, out: str) -> dict[str, Any]:
    tables, insert = (text.format(servers=servers, out=out) for text in (workload.tables, workload.insert))
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.on_rowkind", tables, insert], capture_output=True, text=True
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def flink(workload: Workload, servers: str, out: str, settings: dict[str, str], name: str) -> dict[str, Any]:
    with Flink() as engine:
        engine.run("SELECT 1")
        tables = workload.tables.format(servers=servers, out=out)
        started = time.monotonic()
        answers = engine.run(tables + workload.insert.format(servers=servers, out=out), config=settings)
        seconds = time.monotonic() - started
    if "error" in answers[-1]:
        raise RuntimeError(answers[-1]["error"])
    return {"engine": name, "seconds": round(seconds, 2), "rows_per_second": round(workload.rows / seconds)}


def best(runs: list[dict[str, Any]]) -> float:
    return statistics.median(run.get("steady_rows_per_second") or run["rows_per_second"] for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    chosen = [w for w in workloads(given.scale) if not given.only or w.name in given.only]
    with Broker.start(jvm=["-XX:TieredStopAtLevel=4", "-Xmx2g"]) as broker:
        servers = broker.bootstrap
        for topic in {i for w in chosen for i in w.inputs}:
            fill(servers, topic.topic, topic.kind, topic.rows, given.partitions, given.seed, *topic.shape)
        for workload in chosen:
            compare(workload, servers, given.runs, given.seed)


def compare(workload: Workload, servers: str, runs: int, seed: int) -> None:
    from benchmarks.generate import create

    results: dict[str, list[dict[str, Any]]] = {"rowkind": [], "flink": [], "flink-tuned": []}
    for number in range(runs):
        for engine, found in results.items():
            out = f"{workload.name}-{engine}-{number}"
            create(servers, out, 4)
            if engine == "rowkind":
                found.append(rowkind(workload, servers, out))
            else:
                found.append(flink(workload, servers, out, PLAIN if engine == "flink" else TUNED, engine))
            print(json.dumps({"workload": workload.name, "run": number, **found[-1]}), flush=True)
    rates = {engine: best(found) for engine, found in results.items()}
    ratio = rates["rowkind"] / max(rates["flink"], rates["flink-tuned"])
    summary = {"workload": workload.name, "rows": workload.rows, "seed": seed, "cores": os.cpu_count(), **rates}
    print(json.dumps({**summary, "ratio": round(ratio, 2)}), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    main()
