"""`make fuzz`: whatever draws its cases from a seed, round after round with a fresh one, for as long as it is told.

    python -m tests.fuzz --seconds 300 [--seed N] [path …]

Random changelogs through operators and through whole plans, queries made at random, random values and messages through
formats; and generated calls of functions beside Flink, which `make flink` installs. Each round prints a line of JSON;
one that fails ends it, and can be repeated with its seed and `--seconds 0`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time

PATHS = (
    "tests/oracle",
    "tests/formats",
    "tests/operators",
    "tests/state",
    "tests/runtime",
    "tests/sql",
    "tests/plan",
)
CALLS = 1000

BATCHES = "8"
"""Of each plan of the oracle: state that has grown for a while meets more."""


def one_round(seed: int, paths: list[str]) -> bool:
    """All random tests without servers, with this seed."""
    chosen = [
        "-m",
        "random and not spark and not kafka",
        f"--hypothesis-seed={seed}",
        "-q",
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
    ]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen, *paths],
        env={"ROWKIND_BATCHES": BATCHES, **os.environ, "ROWKIND_SEED": str(seed)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    passed = done.returncode == 0
    if not passed:
        print(done.stdout)
    last = done.stdout.strip().splitlines()[-1]
    said = {"seed": seed, "passed": passed, "seconds": round(time.monotonic() - began, 1), "pytest": last}
    print(json.dumps(said), flush=True)
    return passed


def calls_beside_flink(seed: int) -> bool:
    """Generated calls of functions, on Flink and here."""
    command = [sys.executable, "-m", "tools.compare_calls", "--seed", str(seed), "--calls", str(CALLS)]
    return subprocess.run(command, check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=list(PATHS))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    end, seed = time.monotonic() + given.seconds, given.seed
    while one_round(seed, given.paths) and calls_beside_flink(seed):
        seed += 1000  # tests take a range of seeds from it
        if time.monotonic() >= end:
            raise SystemExit(0)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
