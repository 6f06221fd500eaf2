"""How far a job is, in words and as metrics."""

from __future__ import annotations

from rowkind.connectors.mysql.copying import Copying, copying
from rowkind.connectors.mysql.schemas import TableId
from rowkind.ingest.standing import standing_lines
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.runtime.driver.ingest.standing import gauges
from tests.ingest.jobs import job

A, B = TableId("shop", "a"), TableId("shop", "b")
UNDER_WAY = {
    "tables": 3,
    "copied": 1,
    "copying": "shop.a",
    "chunks": 4,
    "chunks-about": 10,
    "rows-left": 900,
    "rows-per-second": 10.0,
    "seconds-left": 90.0,
    "log": "binlog.000002:400",
    "seconds-behind": 0.25,
    "by-table": {"shop.a": (4, 6), "shop.b": (0, 3), "shop.c": (0, 0)},
}


def test_chunks_left_are_estimated() -> None:
    found = copying([A, B], {"rows": 1000, "index": 4}, {A: 900, B: 250}, 100)
    assert found == [Copying(A, 4, 10, 1000), Copying(B, 0, 3, 250)]
    assert [table.rows_left for table in found] == [600, 250]


def test_a_table_that_is_larger_than_its_statistics_say() -> None:
    """And one that the server knows nothing of."""
    assert copying([A], {"rows": 100, "index": 7}, {}, 100) == [Copying(A, 7, 8, 100)]
    assert copying([B], None, {}, 100) == [Copying(B, 0, 1, 0)]


def test_lines_while_tables_are_copied() -> None:
    counts = {"shop.c.rows-read": 70, "shop.c.rows-written": 69, "shop.a.rows-read": 4000, "shop.a.bytes-read": 9}
    assert list(standing_lines("MySQL Source -> upsert-kafka Sink", UNDER_WAY, counts)) == [
        "  MySQL Source -> upsert-kafka Sink",
        "  copied 1 of 3 tables, shop.a: 4 of about 10 chunks, 10 rows/s, about 90 s left",
        "  binlog: binlog.000002:400, 0.2 s behind",
        "  shop.a: 4,000 rows in, 0 out",
        "  shop.c: 70 rows in, 69 out",
    ]


def test_lines_of_changes_and_of_many_tables() -> None:
    done = {**UNDER_WAY, "copying": None, "copied": 3}
    counts = {f"shop.t{number}.rows-read": number for number in range(8)}
    lines = list(standing_lines("", done, counts))
    assert lines[0] == "  all 3 tables are copied"
    assert lines[2] == "  shop.t7: 7 rows in, 0 out"
    assert lines[-1] == "  and 2 more tables"
    assert list(standing_lines("", {}, {})) == []


def test_metrics_by_table() -> None:
    """Y24: the names of the connector's metrics."""
    metrics = JobMetrics("shop", names={"source": "MySQL Source"})
    metrics.stands(gauges(UNDER_WAY))
    found = metrics.as_dict()
    assert (found["numTablesSnapshotted"], found["numTablesRemaining"]) == (1, 2)
    assert found["table"]["shop.a"] == {
        "isSnapshotting": 1,
        "isStreamReading": 0,
        "numSnapshotSplitsFinished": 4,
        "numSnapshotSplitsRemaining": 6,
    }
    assert found["table"]["shop.c"]["isStreamReading"] == 1
    assert found["names"] == {"source": "MySQL Source"}


def test_names_of_source_and_sink() -> None:
    """Y33."""
    assert job().ends == ""
    assert job(source={"name": "MySQL Source"}).ends == "MySQL Source -> upsert-kafka"
    assert job(source={"name": "a"}, sink={"name": "b"}).ends == "a -> b"
