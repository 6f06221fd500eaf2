"""One exactly-once job under load, killed with -9 at random moments and resumed, again and again.

`python -m tests.faults.random_kills --kills 200` prints one JSON object. Of every five kills one hits only the Python
workers, whose tasks Spark runs again; the others hit everything that belongs to the job.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.cli.command import Command
from tests.faults.arena import Arena, site
from tests.faults.checks import COPIED, Promise
from tests.faults.consumer import observed
from tests.faults.processes import workers
from tests.faults.scenarios import written

ROWS_A_SECOND = 500
LONGEST_LIFE = 4.0
"""Seconds that a job may go on writing before it is killed."""


class Load(threading.Thread):
    """Steady load on the job's topic until it is told to end."""

    def __init__(self, arena: Arena) -> None:
        super().__init__(daemon=True)
        self._arena = arena
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(1.0):
            self._arena.load(ROWS_A_SECOND)

    def end(self) -> None:
        self._over.set()
        self.join()


def kill_workers(job: Command) -> None:
    for pid in workers(job.process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def torment(arena: Arena, kills: int, chance: random.Random) -> Counter[str]:
    """Start, wait until it writes, kill at a random moment; what was killed, by kind."""
    done: Counter[str] = Counter()
    while sum(done.values()) < kills:
        before = written(arena)
        with arena.start() as job:
            # half of the kills come while it starts or replays, the others in the middle of its work
            if chance.random() < 0.5:
                job.until(lambda before=before: written(arena) > before)  # type: ignore[misc]
            else:
                job.until(lambda: workers(job.process.pid))
            threading.Event().wait(chance.uniform(0, LONGEST_LIFE))
            if chance.random() < 0.2 and sum(done.values()) + 1 < kills:
                kill_workers(job)
                done["workers"] += 1
                threading.Event().wait(chance.uniform(0, LONGEST_LIFE))
            job.kill()
            done["whole job"] += 1
        print(json.dumps(done), flush=True)
    return done


def figures(arena: Arena) -> dict[str, Any]:
    """What another process finds in the output, against what was loaded."""
    copied = Counter(observed(arena.broker.bootstrap, arena.topic("copied")))
    wanted = {(None, value) for value in COPIED.every(arena.events)}  # type: ignore[misc]
    return {
        "rows": len(wanted),
        "lost": len(wanted - copied.keys()),
        "unknown": len(copied.keys() - wanted),
        "duplicated": sum(copied.values()) - len(copied),
        "faults": arena.faults(independent=True),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, site() as ground:
        arena = Arena(ground, Promise.EXACTLY_ONCE, Path(folder), batch=20_000)
        load = Load(arena)
        load.start()
        done = torment(arena, given.kills, random.Random(given.seed))
        load.end()
        with arena.start() as job:
            arena.finish(job)
        found = figures(arena)
    minutes = round((time.monotonic() - started) / 60, 1)
    print(json.dumps({"seed": given.seed, "kills": dict(done), "starts": arena.runs, "minutes": minutes, **found}))
    raise SystemExit(1 if found["faults"] else 0)


if __name__ == "__main__":
    main()
