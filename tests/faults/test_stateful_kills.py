"""kill -9 of Python workers and drivers around the writing of state, each run on another number of cores.

Joins, groupings with DISTINCT, Top-N and normalisation work on one checkpoint; every run opens the state from its files
alone. What the sinks hold in the end equals batch SQL over the messages.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.cli.command import started
from tests.kafka_client import KafkaClient, TopicFactory
from tests.oracle.corpus import Case, cases
from tests.oracle.duck import Duck
from tests.oracle.messages import upserted, written
from tests.oracle.planning import corpus_script
from tests.oracle.sources import NAMES, Sources

pytestmark = pytest.mark.kafka

SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))
QUERIES = ("counts", "filtered_calls", "full_join_materialised", "many_to_many", "top_two", "group_then_join", "anti")
PLACES = (("before-state", 1), ("after-state", 4), ("after-sinks", 2), ("before-state", 2), ("after-manifest", 4))
"""Where a process is killed, and the number of cores of that run; `make test` draws one of them."""
ROWS_PER_BATCH = 60


@pytest.mark.parametrize(
    "places",
    [
        pytest.param((random.Random(SEED).choice(PLACES),), marks=pytest.mark.fault),
        pytest.param(PLACES, marks=pytest.mark.matrix),
    ],
    ids=["somewhere", "everywhere"],
)
def test_kills_around_state_on_any_number_of_cores_leave_the_right_tables(
    kafka: str, kafka_client: KafkaClient, topic: TopicFactory, tmp_path: Path, places: tuple[tuple[str, int], ...]
) -> None:
    print(f"ROWKIND_SEED={SEED}")
    sources = Sources(random.Random(SEED))
    wanted = [case for group in ("aggregates", "joins", "ranks", "combinations") for case in cases(group)]
    wanted = [case for case in wanted if case.name in QUERIES]
    topics = {name: topic() for name in (*NAMES, *(f"out_{case.name}" for case in wanted))}
    # some batches before, between and after the kills
    for name, changes in sources.change(ROWS_PER_BATCH * (len(places) + 2)).items():
        kafka_client.produce(topics[name], list(written(name, changes)))
    script = tmp_path / "job.sql"
    script.write_text(_script(sources, wanted, topics, kafka))
    arguments = ("run", str(script), "--checkpoint", str(tmp_path / "checkpoint"))
    for number, (place, cores) in enumerate(places):
        happened = tmp_path / f"{number}-{place}"
        fail = {"ROWKIND_FAIL_AT": f"{place}:{1 + number}:{happened}"}
        with started(tmp_path / f"run-{number}", *arguments, "--master", f"local[{cores}]", env=fail) as run:
            run.until(happened.exists)
            run.kill()
    with started(tmp_path / "last", *arguments) as run:
        assert run.wait() == 0, run.err
    expected = sources.batch({case.name: case.batch for case in wanted})
    for case in wanted:
        found = upserted((r.key, r.value) for r in kafka_client.consume_all(topics[f"out_{case.name}"]))
        assert found == expected[case.name], case.name


def _script(sources: Sources, wanted: list[Case], topics: dict[str, str], servers: str) -> str:
    """Bounded sources in small batches, so that every kill meets a batch of its own."""
    lines = []
    for line in corpus_script(sources, wanted, Duck()).splitlines():
        name = line.removeprefix("CREATE TABLE ").partition(" ")[0]
        at = f"'properties.bootstrap.servers' = '{servers}', 'topic' = '{topics.get(name)}'"
        if name in NAMES:
            at += f", 'scan.bounded.mode' = 'latest-offset', 'scan.max-rows-per-batch' = '{ROWS_PER_BATCH}'"
        lines.append(line.replace("{at}", at).replace("{keyed}", "'key.format' = 'json', 'value.format' = 'json'"))
    return "\n".join(lines)
