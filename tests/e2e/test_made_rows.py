"""datagen, print and blackhole in jobs: what is shown, what is counted, and how a job goes on."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from rowkind.runtime.driver.job import Job
from tests.e2e.lab import Lab

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

EXAMPLE = Path(__file__).parents[2] / "examples" / "made_up_orders.sql"
COUNTING = """
    CREATE TABLE made (id BIGINT, name STRING) WITH (
        'connector' = 'datagen', 'rows-per-second' = '20', 'fields.id.kind' = 'sequence',
        'fields.id.start' = '1', 'fields.id.end' = '{last}', 'fields.name.length' = '4');
    CREATE TABLE seen WITH ('connector' = 'print') LIKE made (EXCLUDING OPTIONS);
"""


def test_the_example_shows_every_change_of_its_totals(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.finish(EXAMPLE.read_text("utf-8"))
    lines = capsys.readouterr().out.splitlines()
    parsed = [re.fullmatch(r"totals(?::\d+)?> ([+-][IUD])\[(\d), (\d+), ([\d.]+)\]", line) for line in lines]
    assert all(parsed)
    last = {found[2]: int(found[3]) for found in parsed if found and found[1] in ("+I", "+U")}
    assert set(last) == {"1", "2", "3"}
    assert sum(last.values()) == 3_000


def begun(job: Job) -> bool:
    return job.progress.batches >= 2


def test_a_sequence_goes_on_where_it_was(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first run is stopped somewhere; the second one shows the rest, and random columns are of one seed."""
    shown: list[str] = []
    for last_run in (False, True):
        here = Lab(lab.spark, lab.client, f"file://{tmp_path}/job")
        script = COUNTING.replace("{last}", "100") + "INSERT INTO seen SELECT * FROM made;"
        job = here.job(script)
        if not last_run:
            here.until(partial(begun, job), job)
            job.stop()
        assert job.wait(180)
        here.close()
        shown.append(capsys.readouterr().out)
    first, second = (re.findall(r"\+I\[(\d+), (\w{4})\]", text) for text in shown)
    assert 0 < len(first) < 100
    assert [int(id) for id, _ in first + second] == list(range(1, 101))


def test_rows_into_nothing_are_counted(lab: Lab) -> None:
    job = lab.finish(
        """
        CREATE TABLE made (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5000');
        CREATE TABLE gone (id BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO gone SELECT * FROM made;
        """
    )
    assert (job.progress.counts["made.rows-read"], job.progress.counts["gone.rows-written"]) == (5_000, 5_000)
    assert job.metrics
