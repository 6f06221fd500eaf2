"""rowkind beside Flink: the same topics, the same broker, one run after the other; ratios of rows per second.

Flink runs with as many tasks as there are cores, RocksDB state and incremental checkpoints into files every 10 s, once
as it comes and once tuned (mini-batch, two-phase and split distinct aggregation); its better figure counts. Each engine
runs a small job of the same kind twice before, so that code is compiled and workers are there. What a job costs
whatever its size is in the second of them: `steady` is the rows by the time that the whole job took longer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.generate import BROKER_JVM, create, fill
from benchmarks.workloads import Workload, workloads
from rowkind.broker import Broker
from tools.flink.client import Flink, flink_version

SMALL = 0.001
PLAIN = {
    "parallelism.default": str(os.cpu_count()),
    "state.backend.type": "rocksdb",
    "execution.checkpointing.interval": "10 s",
    "execution.checkpointing.incremental": "true",
    "restart-strategy.type": "none",
    "taskmanager.memory.managed.size": "2g",
    "taskmanager.memory.network.max": "256m",
}
TUNED = PLAIN | {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    "table.optimizer.distinct-agg.split.enabled": "true",
}

Script = tuple[str, str]
"""Tables and INSERT."""


def on_rowkind(small: Script, whole: Script) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.on_rowkind", *small, *whole]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def on_flink(settings: dict[str, str]) -> Callable[[Script, Script], dict[str, float]]:
    def run(small: Script, whole: Script) -> dict[str, float]:
        started = time.monotonic()
        with Flink() as engine, TemporaryDirectory() as folder:
            engine.run("SELECT 1")
            times = [started, time.monotonic()]
            config = {**settings, "execution.checkpointing.dir": f"file://{folder}"}
            for tables, insert in (small, small, whole):
                answers = engine.run(tables + insert, config=config)
                if "error" in answers[-1]:
                    raise RuntimeError(answers[-1]["error"])
                times.append(time.monotonic())
        took = (end - start for start, end in pairwise(times))
        return dict(zip(("startup", "first", "small", "seconds"), took, strict=True))

    return run


ENGINES = {"rowkind": on_rowkind, "flink": on_flink(PLAIN), "flink-tuned": on_flink(TUNED)}


def measure(engine: str, workload: Workload, small: Workload, servers: str, number: int) -> dict[str, Any]:
    scripts = []
    for size, of in (("small", small), ("whole", workload)):
        out = f"{workload.name}-{engine}-{size}-{number}"
        create(servers, out, 4)
        tables = of.tables if size == "whole" else of.tables.replace("'topic' = '", "'topic' = 'small-", of.reads)
        scripts.append((tables.format(servers=servers, out=out), of.insert))
    took = ENGINES[engine](*scripts)
    steady = (workload.rows - small.rows) / max(took["seconds"] - took["small"], 0.001)
    rates = {"rows_per_second": workload.rows / took["seconds"], "steady": steady}
    rounded = {name: round(value, 2 if value < 1000 else None) for name, value in {**took, **rates}.items()}
    return {"workload": workload.name, "engine": engine, "run": number, **rounded}


def compare(workload: Workload, small: Workload, servers: str, runs: int, engines: Sequence[str]) -> None:
    found: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
    for number in range(runs):
        for engine in engines:
            found[engine].append(measure(engine, workload, small, servers, number))
            print(json.dumps(found[engine][-1]), flush=True)
    summary: dict[str, Any] = {"workload": workload.name, "rows": workload.rows, "cores": os.cpu_count(), "runs": runs}
    for kind in ("rows_per_second", "steady"):
        rates = {engine: statistics.median(run[kind] for run in of) for engine, of in found.items()}
        best = max((rate for engine, rate in rates.items() if engine != "rowkind"), default=None)
        summary[kind] = rates
        if best and "rowkind" in rates:
            summary[f"{kind}_ratio"] = round(rates["rowkind"] / best, 2)
    print(json.dumps(summary), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=list(ENGINES))
    given = parser.parse_args()
    pairs = [
        (whole, small)
        for whole, small in zip(workloads(given.scale), workloads(SMALL), strict=True)
        if not given.only or whole.name in given.only
    ]
    versions = {name: version(name) for name in ("pyspark", "pyarrow", "duckdb", "confluent-kafka")}
    versions["flink"] = flink_version()
    print(json.dumps({"scale": given.scale, "seed": given.seed, "partitions": given.partitions, **versions}))
    with Broker.start(jvm=BROKER_JVM) as broker:
        servers = broker.bootstrap
        for prefix, topic in {("", i) for w, _ in pairs for i in w.inputs} | {
            ("small-", i) for _, s in pairs for i in s.inputs
        }:
            fill(servers, prefix + topic.topic, topic.kind, topic.rows, given.partitions, given.seed, *topic.shape)
        for whole, small in pairs:
            compare(whole, small, servers, given.runs, given.engines)


if __name__ == "__main__":
    main()
