"""Jobs that fail, or change while they rest: named errors, nothing lost, and state that is kept or refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rowkind.broker.process import wait_until
from rowkind.errors import RowkindError
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Labs = Callable[..., Lab]

TABLES = """
    CREATE TABLE t (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, 'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE out_t (k INT, n INT, PRIMARY KEY (k) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{t}-out', {kafka}, {keyed});
    CREATE TABLE more (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{t}-more', {kafka}, {keyed});
    SET 'pipeline.name' = 'resuming';
"""
GOOD = [{"k": 1, "v": 2, "ts": "2024-01-01 00:00:01"}, {"k": 2, "v": 5, "ts": "2024-01-01 00:00:02"}]
WINDOWS = (
    "INSERT INTO out_t SELECT k, CAST(COUNT(*) AS INT) FROM TABLE(TUMBLE(TABLE {from}, DESCRIPTOR(ts), "
    "INTERVAL '1' SECOND)) GROUP BY window_start, window_end, k;"
)
BAD = {
    "overflow": (
        {"k": 1, "v": 2**31 - 1},
        "INSERT INTO out_t SELECT k, SUM(v) FROM {from} GROUP BY k;",
        "SUM_OVERFLOW",
    ),
    "division": (
        {"k": 1, "v": 0},
        "INSERT INTO out_t SELECT k, SUM(10 / v) FROM {from} GROUP BY k;",
        "EXPRESSION_FAILED",
    ),
    "no time": ({"k": 1, "v": 3}, WINDOWS, "NULL_ROWTIME"),
}
AFTER = {
    "overflow": {1: 3, 2: 5},
    "division": {1: 5 + 10, 2: 2},
    "no time": {1: 1, 2: 1},
}


def table(lab: Lab, topic: str) -> dict[int, int]:
    rows: dict[int, int] = {}
    for key, value in lab.pairs(topic):
        rows.pop(key["k"], None)
        if value is not None:
            rows[key["k"]] = value["n"]
    return rows


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_stops_the_job_and_a_filter_lets_it_go_on(
    name: str, labs: Labs, topic: TopicFactory, tmp_path: Path
) -> None:
    row, query, condition = BAD[name]
    source, checkpoint = topic(), str(tmp_path / "checkpoint")
    lab = labs(checkpoint)
    lab.put(source, *GOOD)
    job = lab.job(TABLES + query.replace("{from}", "t"), t=source)
    lab.until(lambda: job.progress.rows_in == len(GOOD), job)
    lab.put(source, row, {"k": 1, "v": 1, "ts": "2024-01-01 00:00:09"})
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert failed.value.condition == condition
    lab = labs(checkpoint, rewind=True)  # the old query cannot finish its batch
    view = "CREATE VIEW good AS SELECT * FROM t WHERE v BETWEEN 1 AND 100 AND ts IS NOT NULL;"
    job = lab.job(TABLES + view + query.replace("{from}", "good"), t=source)
    lab.until(lambda: table(lab, f"{source}-out") == AFTER[name], job)


def test_a_job_goes_on_through_the_edits_that_keep_its_state(labs: Labs, topic: TopicFactory, tmp_path: Path) -> None:
    source, checkpoint = topic(partitions=2), str(tmp_path / "checkpoint")
    counts = "SELECT k, COUNT(*) FROM t GROUP BY k"
    edits = [
        (f"INSERT INTO more {counts};", {1: 1}, {}),
        (f"INSERT INTO more {counts} HAVING COUNT(*) < 100;", {1: 2}, {}),
        ("{set} INSERT INTO out_t SELECT k, SUM(v) FROM t GROUP BY k; {more} END;", {1: 3}, {1: 3}),
        (f"INSERT INTO more SELECT k, n FROM ({counts.replace('COUNT(*)', 'COUNT(*) AS n')});", {1: 4}, {1: 3}),
        ("{set} {more} INSERT INTO out_t SELECT k, SUM(v) FROM t GROUP BY k; END;", {1: 5}, {1: 5}),
    ]
    for number, (query, more, sums) in enumerate(edits, 1):
        query = query.replace("{set}", "EXECUTE STATEMENT SET BEGIN").replace("{more}", f"INSERT INTO more {counts};")
        lab = labs(checkpoint)
        job = lab.job(TABLES + query, t=source)
        lab.put(source, {"k": 1, "v": number})
        lab.until(lambda job=job: job.progress.rows_in == 1, job)
        assert table(lab, f"{source}-more") == more
        if sums:
            assert table(lab, f"{source}-out") == sums
        job.stop()
        job.wait()
    lab = labs(checkpoint)
    with pytest.raises(RowkindError) as failed:
        lab.job(TABLES + "INSERT INTO more SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k;", t=source)
    assert failed.value.condition == "CHECKPOINT_OPERATOR_CHANGED"


def test_state_is_forgotten_after_its_time_also_across_a_restart(
    labs: Labs, topic: TopicFactory, tmp_path: Path
) -> None:
    source, seconds = topic(), 4
    query = f"SET 'table.exec.state.ttl' = '{seconds} s'; INSERT INTO more SELECT k, COUNT(*) FROM t GROUP BY k;"
    lab = labs(str(tmp_path / "checkpoint"))
    lab.put(source, {"k": 1}, {"k": 1})
    job = lab.job(TABLES + query, t=source)
    lab.until(lambda: job.progress.rows_in == 2, job)
    assert table(lab, f"{source}-more") == {1: 2}
    job.stop()
    job.wait()
    over = time.time() + seconds
    assert wait_until(lambda: time.time() > over, SECONDS)
    lab = labs(str(tmp_path / "checkpoint"))
    again = lab.job(TABLES + query, t=source)
    lab.put(source, {"k": 1})
    lab.until(lambda: again.progress.rows_in == 1, again)
    assert table(lab, f"{source}-more") == {1: 1}
    assert sum(count for name, count in again.progress.counts.items() if name.endswith(".expired-state")) == 1


def test_a_damaged_checkpoint_is_named_and_goes_on_when_mended(labs: Labs, topic: TopicFactory, tmp_path: Path) -> None:
    source, folder = topic(), tmp_path / "checkpoint" / "resuming"
    query = TABLES + "INSERT INTO more SELECT k, COUNT(*) FROM t GROUP BY k;"
    lab = labs(str(tmp_path / "checkpoint"))
    job = lab.job(query, t=source)
    lab.put(source, *GOOD)
    lab.until(lambda: job.progress.rows_in == len(GOOD), job)
    job.stop()
    job.wait()
    newest = max(int(path.name) for path in (folder / "manifests").glob("[0-9]*"))
    listings = sorted(folder.glob(f"state/*/*/{newest}.json"))
    runs = sorted(folder.glob("state/*/*/*.arrow"))
    manifest = folder / "manifests" / str(newest)
    for path in (folder / "job.json", folder / "batches" / str(newest), manifest, listings[0], runs[0]):
        path.rename(tmp_path / "away")
        if path != manifest:  # without it the batch has not ended, and is run again
            assert _refusal(labs, tmp_path, query, source) in ("CHECKPOINT_FILE_MISSING", "STATE_FILE_MISSING")
        if path not in runs:  # workers have read it already: see tests/state for damaged ones
            path.write_bytes((tmp_path / "away").read_bytes()[:9])
            assert _refusal(labs, tmp_path, query, source) in ("CHECKPOINT_DAMAGED", "STATE_FILE_DAMAGED")
        (tmp_path / "away").rename(path)
    left = listings[0].parent / f"{newest + 1}.json"
    left.write_text("of a batch that was never finished")
    lab = labs(str(tmp_path / "checkpoint"))
    again = lab.job(query, t=source)
    assert not left.exists()
    lab.put(source, {"k": 1})
    lab.until(lambda: table(lab, f"{source}-more") == {1: 2, 2: 1}, again)


def _refusal(labs: Labs, folder: Path, query: str, source: str) -> str:
    """What a job is refused with when it is started."""
    with pytest.raises(RowkindError) as failed:
        labs(str(folder / "checkpoint")).job(query, t=source)
    return failed.value.condition
