"""The corpus of tests/oracle through the whole engine: after every wave each result equals batch SQL.

One statement set holds a sample of each group of queries, so that five topics feed every operator at once. After every
wave the job is stopped and resumed from its checkpoint. `make test` takes one query of a group and two waves, `make
faults` six and three.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowkind.runtime.driver.job import Job
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory
from tests.oracle.corpus import GROUPS, Case, cases
from tests.oracle.messages import upserted, weighed, written
from tests.oracle.planning import corpus_script
from tests.oracle.sources import NAMES, Sources

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))
TIMED = {case.name for group in GROUPS for case in cases(group) if "closed" in case.batch}
PARTITIONS = {"a": 3, "b": 2, "c": 1, "d": 1, "e": 1}


@pytest.mark.parametrize(("queries", "waves"), [(1, 2), pytest.param(6, 3, marks=pytest.mark.matrix)])
def test_every_result_equals_batch_sql_after_every_wave(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path, queries: int, waves: int
) -> None:
    print(f"ROWKIND_SEED={SEED}")
    rng = random.Random(SEED)
    sources = Sources(rng)
    wanted = [case for group in GROUPS for case in _sample(rng, group, queries)]
    topics = {name: topic(partitions=PARTITIONS[name]) for name in NAMES}
    topics |= {f"out_{case.name}": topic(partitions=2) for case in wanted}
    for _ in range(waves):
        lab = labs(str(tmp_path / "checkpoint"))
        job = lab.job(_script(lab, sources, wanted, topics))
        sent = _changed(lab, sources, topics)
        _read(lab, job, sum(sent[table.name] for table in job.plan.tables))
        expected = sources.batch({case.name: case.batch for case in wanted})
        for case in wanted:
            _check(lab, job, case, topics[f"out_{case.name}"], expected[case.name])
        job.stop()
        job.wait()


def _changed(lab: Lab, sources: Sources, topics: dict[str, str]) -> dict[str, int]:
    """One wave of changes; how many messages each source got."""
    sent = {name: list(written(name, changes)) for name, changes in sources.change(100).items()}
    for name, pairs in sent.items():
        lab.client.produce(topics[name], pairs)
    return {name: len(pairs) for name, pairs in sent.items()}


def _read(lab: Lab, job: Job, sent: int) -> None:
    """All messages are read, and the batch that read the last of them is done."""
    lab.until(lambda: job.progress.rows_in >= sent, job)


def _check(lab: Lab, job: Job, case: Case, topic: str, expected: Counter[tuple[Any, ...]]) -> None:
    def found() -> Counter[tuple[Any, ...]]:
        pairs = [(record.key, record.value) for record in lab.records(topic)]
        return upserted(pairs) if case.key else weighed(pairs)

    if case.name in TIMED:  # time moves on in a batch of its own, behind the rows
        lab.until(lambda: found() == expected, job)
    assert found() == expected, case.name


def _sample(rng: random.Random, group: str, queries: int) -> list[Case]:
    found = list(cases(group))
    return rng.sample(found, min(queries, len(found)))


def _script(lab: Lab, sources: Sources, wanted: list[Case], topics: dict[str, str]) -> str:
    script = corpus_script(sources, wanted, SparkAnalyzer(lab.session.spark))
    lines = []
    for line in script.splitlines():
        name = line.removeprefix("CREATE TABLE ").partition(" ")[0]
        lines.append(line.replace("{at}", f"{{kafka}}, 'topic' = '{topics[name]}'") if name in topics else line)
    return "SET 'pipeline.name' = 'oracle';\n" + "\n".join(lines)
