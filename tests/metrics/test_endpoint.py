"""The endpoint as a client sees it, with names that nobody should choose."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from rowkind.errors import RowkindError
from rowkind.metrics.declarations import METRICS
from rowkind.metrics.endpoint import Address, Endpoint
from rowkind.metrics.job_metrics import BatchReport, JobMetrics
from rowkind.metrics.traffic import Lane, Side, StateSize, Traffic
from rowkind.runtime.driver.ingest.standing import gauges
from rowkind.version import version

HOSTILE = 'a"b\\c\nd{}=,\x1b[31m\u2028é'


@contextmanager
def serving(*jobs: JobMetrics) -> Iterator[Endpoint]:
    endpoint = Endpoint(Address("127.0.0.1", 0), lambda: jobs)
    try:
        yield endpoint
    finally:
        endpoint.close()


def scraped(endpoint: Endpoint) -> dict[tuple[str, ...], float]:
    """Values by name and the values of labels, in the order of the labels' names."""
    text = httpx.get(endpoint.url).raise_for_status().text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    found = {(s.name, *(s.labels[name] for name in sorted(s.labels))): s.value for s in samples}
    assert len(found) == len(samples)
    return found


def full(job: str, table: str = "orders", topic: str = "orders-v1") -> JobMetrics:
    """A job that has a value for everything."""
    read, written = Lane(Side.READ, table, topic), Lane(Side.WRITTEN, table, topic)
    metrics = JobMetrics(job, [read, written], ["GroupAggregate"])
    metrics.committed(
        BatchReport(
            traffic={read: Traffic(3, 30, 1_000, 2_000), written: Traffic(2, 20, send_time=1.5)},
            written=3_000,
            pending={read: 4},
            states={"GroupAggregate": StateSize(5, 500)},
            watermarks={read: 900},
            phases={"run": 12.0},
            manifest_bytes=1,
        )
    )
    standing = {"tables": 3, "copied": 1, "by-table": {table: (2, 4)}}
    metrics.stands(gauges(standing))
    return metrics


def test_every_metric_is_served_under_its_name() -> None:
    with serving(full("copy")) as endpoint:
        found = scraped(endpoint)
    assert {name for name, *_ in found} == {metric.exposed for metric in METRICS}
    assert found["rowkind_source_numRecordsIn", "copy", "orders", "orders-v1"] == 3
    assert found["rowkind_sink_numBytesOut", "copy", "orders", "orders-v1"] == 20
    assert found["rowkind_operator_stateBytes", "copy", "GroupAggregate"] == 500
    assert found["rowkind_job_info", "copy", "", "", version()] == 1


def test_values_are_those_of_the_moment() -> None:
    lane = Lane(Side.READ, "orders", "orders-v1")
    metrics = JobMetrics("copy", [lane])
    with serving(metrics) as endpoint:
        assert scraped(endpoint)["rowkind_source_numRecordsIn", "copy", "orders", "orders-v1"] == 0
        metrics.committed(BatchReport(traffic={lane: Traffic(7, 70)}))
        assert scraped(endpoint)["rowkind_source_numRecordsIn", "copy", "orders", "orders-v1"] == 7


def test_hostile_names_stay_values_of_labels() -> None:
    with serving(full(HOSTILE, HOSTILE, HOSTILE)) as endpoint:
        found = scraped(endpoint)
    assert found["rowkind_source_numRecordsIn", HOSTILE, HOSTILE, HOSTILE] == 3


def test_half_a_surrogate_pair_is_told_as_such() -> None:
    with serving(full("\ud800")) as endpoint:
        assert scraped(endpoint)["rowkind_job_numBatches", "\\ud800"] == 1


def test_of_two_jobs_with_one_name_the_last_counts() -> None:
    with serving(full("copy"), JobMetrics("copy"), full("other")) as endpoint:
        found = scraped(endpoint)
    assert found["rowkind_job_numBatches", "copy"] == 0
    assert found["rowkind_job_numBatches", "other"] == 1


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(RowkindError) as error:
            Endpoint(Address("127.0.0.1", taken.getsockname()[1]), list)
    assert error.value.condition == "METRICS_PORT_IN_USE"


def test_a_host_that_is_not_this_machine_is_named() -> None:
    with pytest.raises(RowkindError) as error:
        Endpoint(Address("192.0.2.1", 0), list)
    assert error.value.condition == "METRICS_NOT_SERVED"


@pytest.mark.parametrize("text", ["", "localhost", "9249", ":9249", "localhost:", "localhost:-1", "h:65536", "h:²"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(RowkindError) as error:
        Address.of(text)
    assert error.value.condition == "METRICS_ADDRESS_INVALID"


def test_addresses() -> None:
    assert Address.of("localhost:9249") == Address("localhost", 9249)
    assert Address.of("[::1]:0") == Address("::1", 0)
    assert str(Address("::1", 80)) == "[::1]:80"
