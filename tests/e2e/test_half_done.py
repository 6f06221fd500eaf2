"""A batch that is in one exactly-once sink and not in the other: moved INSERTs, edits, and the way to finish it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.driver.job import Status
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Labs = Callable[..., Lab]

TABLES = """
    CREATE TABLE numbers (id INT, v INT) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json},
        'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE copied (id INT) WITH ('connector' = 'kafka', 'topic' = '{t}-copied', {kafka}, {json},
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{t}-copied');
    CREATE TABLE strict (id INT, v INT NOT NULL) WITH ('connector' = 'kafka', 'topic' = '{t}-strict', {kafka}, {json},
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{t}-strict');
"""
COPY, STRICT = "INSERT INTO copied SELECT id FROM numbers;", "INSERT INTO strict SELECT id, v FROM numbers;"
DROP = "SET 'table.exec.sink.not-null-enforcer' = 'DROP';"
ROWS = [{"id": 1, "v": 1}, {"id": 2}, {"id": 3, "v": 3}]


def script(*inserts: str) -> str:
    return f"{TABLES} EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;"


def ids(lab: Lab, topic: str) -> list[int]:
    return sorted(row["id"] for row in lab.values(topic))


@pytest.fixture
def half(labs: Labs, topic: TopicFactory, tmp_path: Path) -> str:
    """The source of a job that has failed: its batch is in `copied`, and nothing of it in `strict`."""
    source = topic()
    lab = labs(str(tmp_path))
    lab.put(source, *ROWS)
    with pytest.raises(RowkindError) as failed:
        lab.job(script(COPY, STRICT), t=source).wait(SECONDS)
    assert failed.value.condition == "NULL_IN_NOT_NULL_COLUMN"
    assert (ids(lab, f"{source}-copied"), ids(lab, f"{source}-strict")) == ([1, 2, 3], [])
    return source


def test_moved_inserts_find_what_they_have_written(labs: Labs, half: str, tmp_path: Path) -> None:
    lab = labs(str(tmp_path))
    lab.put(half, {"id": 4, "v": 4})
    job = lab.job(DROP + script(STRICT, COPY), t=half)
    lab.until(lambda: ids(lab, f"{half}-strict") == [1, 3, 4], job)
    lab.until(lambda: ids(lab, f"{half}-copied")[3:] == [4], job)
    assert ids(lab, f"{half}-copied") == [1, 2, 3, 4]


def test_an_edited_script_waits_for_the_batch_of_the_old_one(labs: Labs, half: str, tmp_path: Path) -> None:
    edited = script(COPY.replace("id FROM", "id + 10 FROM"), STRICT)
    with pytest.raises(RowkindError) as refused:
        labs(str(tmp_path)).job(DROP + edited, t=half)
    assert refused.value.condition == "BATCH_OF_ANOTHER_SCRIPT"
    draining = labs(str(tmp_path), drain=True)
    draining.put(half, {"id": 4, "v": 4})
    job = draining.job(DROP + script(COPY, STRICT), t=half)
    assert job.wait(SECONDS)
    assert job.status is Status.STOPPED
    assert (ids(draining, f"{half}-copied"), ids(draining, f"{half}-strict")) == ([1, 2, 3], [1, 3])
    lab = labs(str(tmp_path))
    job = lab.job(DROP + edited, t=half)
    lab.until(lambda: ids(lab, f"{half}-strict") == [1, 3, 4], job)
    lab.until(lambda: ids(lab, f"{half}-copied") == [1, 2, 3, 14], job)


def test_an_edited_script_runs_the_batch_anew_on_demand(labs: Labs, half: str, tmp_path: Path) -> None:
    lab = labs(str(tmp_path), rewind=True)
    job = lab.job(script(COPY, STRICT.replace("numbers", "numbers WHERE v > 0")), t=half)
    lab.until(lambda: ids(lab, f"{half}-strict") == [1, 3], job)
    lab.until(lambda: ids(lab, f"{half}-copied") == [1, 1, 2, 2, 3, 3], job)
    assert any("Rows come twice in copied" in note for note in lab.notices)


@pytest.mark.parametrize("flag", ["rewind", "drain"])
def test_without_a_checkpoint_there_is_nothing_to_go_back_to_or_to_finish(labs: Labs, flag: str) -> None:
    with pytest.raises(RowkindError) as refused:
        labs(None, **{flag: True})
    assert refused.value.condition == "CHECKPOINT_NEEDED"
