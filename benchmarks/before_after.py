"""Two versions of rowkind on the same topics, in turns: what a change costs, in CPU seconds of the whole job.

    python -m benchmarks.before_after FOLDER [--rows 1000000] [--pairs 3] [--only copy pvuv]

FOLDER is a checkout of the version before, with its own `.venv` (`make install warm`); this one is the version after.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

from benchmarks.compare import SMALL
from benchmarks.generate import BROKER_JVM, create, fill
from benchmarks.workloads import Workload, workloads
from rowkind.broker import Broker

HERE = Path(__file__).parent.parent


def run(folder: Path, small: tuple[str, str], whole: tuple[str, str]) -> dict[str, float]:
    """A workload on one version, measured by this version's program, in a session of processes of its own."""
    command = [str(folder / ".venv/bin/python"), str(HERE / "benchmarks/on_rowkind.py"), *small, *whole]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    ran = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False, start_new_session=True
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def scripts(small: Workload, whole: Workload, servers: str, name: str) -> list[tuple[str, str]]:
    made = []
    for prefix, of in (("small-", small), ("", whole)):
        out = f"{prefix}{name}"
        create(servers, out, 4)
        tables = of.tables.replace("'topic' = '", f"'topic' = '{prefix}", of.reads)
        made.append((tables.format(servers=servers, out=out), of.insert))
    return made


def compare(small: Workload, whole: Workload, servers: str, before: Path, pairs: int) -> None:
    found: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for number in range(pairs):
        for version, folder in (("before", before), ("after", HERE)):
            took = run(folder, *scripts(small, whole, servers, f"{whole.name}-{version}-{number}"))
            found[version].append(took)
            print(json.dumps({"workload": whole.name, "version": version, **took}), flush=True)
    medians = {
        kind: {version: round(statistics.median(of[kind] for of in runs), 2) for version, runs in found.items()}
        for kind in ("cpu", "seconds", "small")
    }
    ratio = round(medians["cpu"]["after"] / medians["cpu"]["before"], 3)
    print(json.dumps({"workload": whole.name, "rows": whole.rows, **medians, "cpu_ratio": ratio}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    chosen = [
        (small, resized)
        for full, small in zip(workloads(1.0), workloads(SMALL), strict=True)
        if not given.only or full.name in given.only
        for resized in [next(w for w in workloads(given.rows / full.rows) if w.name == full.name)]
    ]
    with Broker.start(jvm=BROKER_JVM) as broker:
        for small, whole in chosen:
            for prefix, of in (("small-", small), ("", whole)):
                for topic in of.inputs:
                    fill(broker.bootstrap, prefix + topic.topic, topic.kind, topic.rows, 4, 1, *topic.shape)
            compare(small, whole, broker.bootstrap, given.before.resolve(), given.pairs)


if __name__ == "__main__":
    main()
