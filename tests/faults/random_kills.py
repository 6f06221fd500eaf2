"""One exactly-once job under load, killed with -9 at random moments and resumed, again and again.

`python -m tests.faults.random_kills --kills 200` prints one JSON object. In a life of the job its Python workers are
killed up to three times, whose tasks Spark runs again; then everything that belongs to the job.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.faults.arena import Arena, site
from tests.faults.checks import COPIED, Promise
from tests.faults.consumer import observed
from tests.faults.processes import kill, workers
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


def one_life(arena: Arena, chance: random.Random) -> Iterator[str]:
    """Start, kill parts of it at random moments, then all of it; what was killed, each time."""
    before = written(arena)
    with arena.start() as job:
        # some kills come while it starts or replays, the others in the middle of its work
        if chance.random() < 0.5:
            job.until(lambda: written(arena) > before)
        else:
            job.until(lambda: workers(job.process.pid))
        for _ in range(chance.randint(0, 3)):
            threading.Event().wait(chance.uniform(0, LONGEST_LIFE))
            victims = workers(job.process.pid)
            kill(victims)
            if victims:
                yield "workers"
        threading.Event().wait(chance.uniform(0, LONGEST_LIFE))
        assert job.process.poll() is None, f"it ended: {job.err}"
        job.kill()
        yield "whole job"


def torment(arena: Arena, kills: int, chance: random.Random) -> Counter[str]:
    done: Counter[str] = Counter()
    while sum(done.values()) < kills:
        done.update(one_life(arena, chance))
        print(json.dumps(done), flush=True)
    return done


def figures(arena: Arena) -> dict[str, Any]:
    """What another process finds in the output, against what was loaded."""
    topic = arena.topic("copied")
    copied = Counter(observed(arena.broker.bootstrap, topic)[topic])
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
