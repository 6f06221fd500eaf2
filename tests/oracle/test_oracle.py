"""Random changelogs through whole plans, without Spark: after every batch each result equals batch SQL.

`ROWKIND_CASES` sets how many runs each group of queries has, `ROWKIND_SEED` the seed of the first,
`ROWKIND_BATCHES` how many batches a run has.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.oracle.corpus import GROUPS, Case, cases
from tests.oracle.duck import Duck
from tests.oracle.engine import PlanEngine
from tests.oracle.planning import corpus_script, job_of
from tests.oracle.random_queries import random_cases
from tests.oracle.sources import Sources

SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))
RUNS = int(os.environ.get("ROWKIND_CASES", "1"))
BATCHES = int(os.environ.get("ROWKIND_BATCHES", "4"))
RANDOM_QUERIES = 8


def test_the_corpus_is_large_enough() -> None:
    names = [case.name for group in GROUPS for case in cases(group)]
    assert len(names) == len(set(names)) >= 60


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.random
@pytest.mark.parametrize("run", range(RUNS))
def test_every_result_equals_batch_sql_after_every_batch(tmp_path: Path, group: str, run: int) -> None:
    rng = seeded(SEED + run)
    wanted = [case for case in cases(group) if os.environ.get("ROWKIND_QUERY") in (None, case.name)]
    compare(wanted, rng, tmp_path)


@pytest.mark.random
@pytest.mark.parametrize("run", range(RUNS))
def test_random_queries_equal_batch_sql_after_every_batch(tmp_path: Path, run: int) -> None:
    rng = seeded(SEED + run)
    compare(random_cases(rng, RANDOM_QUERIES), rng, tmp_path)


def seeded(seed: int) -> random.Random:
    print(f"ROWKIND_SEED={seed}")
    return random.Random(seed)


def compare(wanted: list[Case], rng: random.Random, folder: Path) -> None:
    """One job with all the queries, in batches of random changes."""
    duck, sources = Duck(), Sources(rng)
    engine = PlanEngine(job_of(corpus_script(sources, wanted, duck), duck), folder, duck, rng)
    for number in range(BATCHES):
        changes = sources.change(rng.choice([0, 3, 40, 120]))
        engine.batch(changes, sources.marks)
        expected = sources.batch({case.name: case.batch for case in wanted})
        for case in wanted:
            found = engine.rows(f"out_{case.name}")
            assert found == expected[case.name], f"{case.name} after batch {number}: {case.query}"
