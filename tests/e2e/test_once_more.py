"""Exactly-once beyond one job and one folder: the next job of a session, and a checkpoint that was put back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Labs = Callable[..., Lab]

SINK = """
    CREATE TABLE copied (id INT) WITH ('connector' = 'kafka', 'topic' = '{out}', {kafka}, {json},
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{out}');
"""
COPY = (
    """
    CREATE TABLE numbers (id INT) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json},
        'scan.startup.mode' = 'earliest-offset');
"""
    + SINK
    + "INSERT INTO copied SELECT id FROM numbers;"
)


@pytest.mark.parametrize("wait", [True, False], ids=["one after the other", "side by side"])
def test_every_insert_of_a_session_is_written(lab: Lab, topic: TopicFactory, wait: bool) -> None:
    out = topic()
    lab.start(f"SET 'table.dml-sync' = '{wait}';" + SINK, out=out)
    for number in range(6):
        lab.start(f"INSERT INTO copied VALUES ({number});")
    for job in lab.session.jobs:
        assert job.wait(SECONDS)
    assert sorted(row["id"] for row in lab.values(out)) == list(range(6))


@pytest.mark.parametrize("since", [1, 2], ids=["one batch later", "two batches later"])
def test_a_checkpoint_that_is_not_the_latest_is_refused_and_goes_back_on_demand(
    labs: Labs, topic: TopicFactory, tmp_path: Path, since: int
) -> None:
    source, out, folder = topic(), topic(), tmp_path / "checkpoint"
    names = {"t": source, "out": out}
    sent = iter(range(100))

    def run(lab: Lab, batches: int, rows: int) -> None:
        job = lab.job(COPY, **names)
        for _ in range(batches):
            lab.put(source, *({"id": next(sent)} for _ in range(rows)))
            lab.until(lambda: job.progress.lag == 0 and job.progress.rows_in % rows == 0, job)
            count = sum(lab.client.end_offsets(source).values())
            lab.until(lambda count=count: len(lab.values(out)) == count, job)
        job.stop()
        job.wait()

    run(labs(str(folder)), 1, 5)
    shutil.copytree(folder, tmp_path / "copy")
    run(labs(str(folder)), since, 5)
    lab = labs(str(tmp_path / "copy"))
    lab.put(source, *({"id": next(sent)} for _ in range(5)))
    with pytest.raises(RowkindError) as refused:
        lab.job(COPY, **names).wait(SECONDS)
    assert refused.value.condition == "CHECKPOINT_NOT_LATEST"
    total = 5 * (since + 2)
    assert len(lab.values(out)) == total - 5
    back = labs(str(tmp_path / "copy"), rewind=True)
    job = back.job(COPY, **names)
    back.until(lambda: {row["id"] for row in back.values(out)} == set(range(total)), job)
    job.stop()
    job.wait()
    assert len(back.values(out)) == total + 5 * since  # what the copy did not know of is there twice
    again = labs(str(tmp_path / "copy"))
    again.put(source, {"id": total})
    job = again.job(COPY, **names)
    again.until(lambda: {row["id"] for row in again.values(out)} == set(range(total + 1)), job)
