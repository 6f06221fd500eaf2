"""Values of a job's metrics, on a clock that the test sets."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rowkind.metrics.declarations import METRICS, Scope
from rowkind.metrics.job_metrics import BatchReport, JobMetrics
from rowkind.metrics.traffic import Lane, Side, StateSize, Traffic, merge
from rowkind.version import version

ORDERS = Lane(Side.READ, "orders", "orders-v1")
RESULTS = Lane(Side.WRITTEN, "results", "results-v1")


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def metrics(clock: Clock) -> JobMetrics:
    return JobMetrics("job", [ORDERS, RESULTS], ["GroupAggregate-1"], clock=clock)


def source(metrics: JobMetrics, lane: Lane = ORDERS) -> dict[str, Any]:
    return dict(metrics.as_dict()["source"][lane.table][lane.topic])


def sink(metrics: JobMetrics) -> dict[str, Any]:
    return dict(metrics.as_dict()["sink"][RESULTS.table][RESULTS.topic])


def report(records: int, bytes: int = 0, lane: Lane = ORDERS, **more: Any) -> BatchReport:
    return BatchReport(traffic={lane: Traffic(records, bytes)}, **more)


def test_the_thirteen_names_of_the_connector_page_are_there() -> None:
    named = {f"{m.scope}.{m.name}" for m in METRICS}
    assert named >= {
        "source.numRecordsIn",
        "source.numRecordsInPerSecond",
        "source.numBytesIn",
        "source.numBytesInPerSecond",
        "source.currentEmitEventTimeLag",
        "source.currentFetchEventTimeLag",
        "source.sourceIdleTime",
        "source.pendingRecords",
        *(
            f"sink.{name}"
            for name in ("numRecordsOut", "numRecordsOutPerSecond", "numBytesOut", "numBytesOutPerSecond")
        ),
        "sink.currentSendTime",
    }


def test_names_are_unique() -> None:
    assert len({m.exposed for m in METRICS}) == len(METRICS)


def test_before_anything_has_come_counters_are_zero_and_lags_absent(metrics: JobMetrics) -> None:
    assert source(metrics) == {
        "numRecordsIn": 0,
        "numRecordsInPerSecond": 0.0,
        "numBytesIn": 0,
        "numBytesInPerSecond": 0.0,
        "sourceIdleTime": 0,
    }
    assert sink(metrics) == {
        "numRecordsOut": 0,
        "numRecordsOutPerSecond": 0.0,
        "numBytesOut": 0,
        "numBytesOutPerSecond": 0.0,
    }
    found = metrics.as_dict()
    assert found["table"]["orders"]["numRecordsDeadLettered"] == 0
    assert found["operator"]["GroupAggregate-1"]["numRecordsLate"] == 0
    assert "stateRows" not in found["operator"]["GroupAggregate-1"]
    assert "lastCheckpointSize" not in found
    assert (found["job"], found["version"], found["status"], found["running"]) == ("job", version(), "running", 1)


def test_commits_add_up(metrics: JobMetrics) -> None:
    metrics.committed(report(10, 200))
    metrics.committed(report(5, 100))
    metrics.committed(report(3, 30, RESULTS))
    assert (source(metrics)["numRecordsIn"], source(metrics)["numBytesIn"]) == (15, 300)
    assert (sink(metrics)["numRecordsOut"], sink(metrics)["numBytesOut"]) == (3, 30)
    assert metrics.as_dict()["numBatches"] == 3


def test_a_batch_that_was_begun_twice_counts_once(metrics: JobMetrics) -> None:
    metrics.begun([ORDERS])
    metrics.begun([ORDERS])
    metrics.committed(report(10))
    assert source(metrics)["numRecordsIn"] == 10


def test_rates_are_means_of_the_last_minute(metrics: JobMetrics, clock: Clock) -> None:
    clock.seconds += 10
    metrics.committed(report(300, 6000))
    assert source(metrics)["numRecordsInPerSecond"] == 30  # ten seconds old
    clock.seconds += 30
    metrics.committed(report(300, 6000))
    assert source(metrics)["numRecordsInPerSecond"] == 600 / 40
    clock.seconds += 25
    assert source(metrics)["numRecordsInPerSecond"] == 10
    assert source(metrics)["numBytesInPerSecond"] == 200
    clock.seconds += 10
    assert source(metrics)["numRecordsInPerSecond"] == 5  # the first ones are older than a minute
    clock.seconds += 60
    assert source(metrics)["numRecordsInPerSecond"] == 0


def test_a_first_batch_right_after_the_start_is_no_peak(metrics: JobMetrics, clock: Clock) -> None:
    clock.seconds += 0.001
    metrics.committed(report(100))
    assert source(metrics)["numRecordsInPerSecond"] == 100


def test_lags_are_those_of_the_latest_row(metrics: JobMetrics) -> None:
    read = Traffic()
    read.read(5, 50, event_time=10_000, fetched=10_300)
    read.read(5, 50, event_time=9_000, fetched=10_400)
    metrics.committed(BatchReport(traffic={ORDERS: read}, written=11_000))
    assert source(metrics)["currentEmitEventTimeLag"] == 1_000
    assert source(metrics)["currentFetchEventTimeLag"] == 300
    metrics.committed(report(3, written=99_000))  # rows without a time
    assert source(metrics)["currentEmitEventTimeLag"] == 1_000


def test_idle_time_runs_from_the_last_row_on(metrics: JobMetrics, clock: Clock) -> None:
    clock.seconds += 2
    assert source(metrics)["sourceIdleTime"] == 2_000  # since the start
    metrics.begun([ORDERS])
    clock.seconds += 5
    assert source(metrics)["sourceIdleTime"] == 0
    metrics.committed(report(1))
    assert source(metrics)["sourceIdleTime"] == 0
    clock.seconds += 1.5
    metrics.begun([])  # a batch of another table
    assert source(metrics)["sourceIdleTime"] == 1_500
    metrics.committed(report(0))
    assert source(metrics)["sourceIdleTime"] == 1_500


def test_a_failed_batch_does_not_read_for_ever(metrics: JobMetrics, clock: Clock) -> None:
    metrics.begun([ORDERS])
    metrics.ended("failed")
    clock.seconds += 1
    assert source(metrics)["sourceIdleTime"] == 1_000
    found = metrics.as_dict()
    assert (found["running"], found["failed"], found["status"]) == (0, 1, "failed")


def test_pending_counts_from_what_is_committed(metrics: JobMetrics) -> None:
    metrics.waiting({ORDERS: 120})
    assert source(metrics)["pendingRecords"] == 120
    metrics.begun([ORDERS])
    assert source(metrics)["pendingRecords"] == 120
    metrics.committed(report(100, pending={ORDERS: 20}))
    assert source(metrics)["pendingRecords"] == 20


def test_topics_that_are_found_later_have_values_of_their_own(metrics: JobMetrics) -> None:
    found = Lane(Side.READ, "orders", "orders-v2")
    metrics.waiting({found: 7})
    assert (source(metrics, found)["pendingRecords"], source(metrics, found)["numRecordsIn"]) == (7, 0)
    assert "pendingRecords" not in source(metrics)


def test_topics_that_are_deleted_are_forgotten_and_those_that_are_awaited_are_not(metrics: JobMetrics) -> None:
    second, third = (Lane(Side.READ, "orders", f"orders-v{number}") for number in (2, 3))
    metrics.waiting({second: 7, third: 0})
    metrics.waiting({third: 0})
    assert metrics.as_dict()["source"]["orders"].keys() == {"orders-v1", "orders-v3"}


def test_send_time_is_that_of_the_last_batch_that_wrote(metrics: JobMetrics) -> None:
    metrics.committed(BatchReport(traffic={RESULTS: Traffic(1, 1, send_time=12.5)}))
    metrics.committed(report(1))
    assert sink(metrics)["currentSendTime"] == 12.5
    metrics.committed(BatchReport(traffic={RESULTS: Traffic(1, 1, send_time=3.0)}))
    assert sink(metrics)["currentSendTime"] == 3.0


def test_counts_of_workers_go_to_their_table_or_operator(metrics: JobMetrics) -> None:
    counts = {
        "orders.messages-dead-lettered": 2,
        "orders.messages-without-row": 3,
        "orders.messages-without-key": 1,
        "GroupAggregate-1.unchanged_results_suppressed": 4,
        "a.table.with.dots.offsets-lost": 5,
        "orders.rows-read": 100,
    }
    metrics.committed(report(0, counts=counts))
    metrics.committed(report(0, counts={"orders.messages-dead-lettered": 1}))
    found = metrics.as_dict()
    assert found["table"]["orders"]["numRecordsDeadLettered"] == 3
    assert found["table"]["orders"]["numRecordsDropped"] == 4
    assert found["table"]["a.table.with.dots"]["numRecordsLost"] == 5
    assert found["operator"]["GroupAggregate-1"]["numRecordsSuppressed"] == 4


def test_state_and_checkpoint_are_those_of_the_last_batch(metrics: JobMetrics) -> None:
    metrics.committed(report(0, states={"GroupAggregate-1": StateSize(10, 1000)}, manifest_bytes=50))
    metrics.committed(report(0, states={"GroupAggregate-1": StateSize(12, 1200)}, manifest_bytes=60))
    found = metrics.as_dict()
    assert found["operator"]["GroupAggregate-1"]["stateRows"] == 12
    assert found["lastCheckpointSize"] == 1260


def test_phases_of_a_batch(metrics: JobMetrics) -> None:
    metrics.committed(report(0, phases={"plan": 5.0, "run": 100.0}))
    metrics.committed(report(0, phases={"plan": 7.0, "run": 200.0}))
    found = metrics.as_dict()["batch"]
    assert found["run"] == {"lastBatchDuration": 200.0, "batchTime": 300.0}


def test_tasks_are_summed_and_the_longest_sending_counts() -> None:
    lanes = {ORDERS: Traffic(1, 10, 500, 600), RESULTS: Traffic(1, 1, send_time=4.0)}
    merge(lanes, {ORDERS: Traffic(2, 20, 400, 700), RESULTS: Traffic(1, 1, send_time=3.0)})
    assert lanes == {ORDERS: Traffic(3, 30, 500, 600), RESULTS: Traffic(2, 2, send_time=4.0)}


def test_every_counted_metric_has_a_table_or_an_operator() -> None:
    assert {m.scope for m in METRICS if m.counts} == {Scope.TABLE, Scope.OPERATOR}


def test_it_can_be_asked_while_a_job_runs(metrics: JobMetrics) -> None:
    done = threading.Event()
    wrong: list[BaseException] = []

    def ask() -> None:
        try:
            while not done.is_set():
                metrics.as_dict()
        except BaseException as error:
            wrong.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    for number in range(2_000):
        metrics.committed(report(1, lane=Lane(Side.READ, "orders", f"topic-{number % 50}")))
    done.set()
    asking.join()
    assert wrong == []
    assert sum(t["numRecordsIn"] for t in metrics.as_dict()["source"]["orders"].values()) == 2_000
