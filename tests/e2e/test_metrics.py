"""The metrics of a real job: exact where they can be, and understood by a real Prometheus."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from rowkind.broker.process import wait_until
from rowkind.metrics.declarations import METRICS
from rowkind.metrics.endpoint import Address, Endpoint
from rowkind.metrics.job_metrics import JobMetrics
from rowkind.runtime.driver.ingest.standing import gauges
from rowkind.runtime.driver.job import Job, Status
from tests.docs.pages import of
from tests.e2e.lab import SECONDS, Lab
from tests.ingest.test_standing import UNDER_WAY
from tests.kafka_client import TopicFactory
from tests.metrics.shipped import ALERTS, panel_queries, rules
from tests.servers.prometheus import NotAvailable, Prometheus, program, prometheus

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SCRIPT = """
    CREATE TABLE orders (item STRING, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
        'connector' = 'kafka', 'topic' = '{orders}', {kafka}, {json}, 'scan.startup.mode' = 'earliest-offset',
        'scan.on-error' = 'dead-letter', 'scan.dead-letter.topic' = '{letters}'
    );
    CREATE TABLE per_minute (item STRING, minute TIMESTAMP_LTZ(3), orders BIGINT,
        PRIMARY KEY (item, minute) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{per_minute}', {kafka}, {keyed},
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{per_minute}'
    );
    INSERT INTO per_minute
    SELECT item, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY item, window_start, window_end;
"""


@pytest.fixture
def served(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path
) -> Iterator[tuple[Lab, Job, dict[str, str], Endpoint]]:
    lab = labs(str(tmp_path / "checkpoint"))
    names = {name: topic() for name in ("orders", "letters", "per_minute")}
    job = lab.job(SCRIPT, **names)
    copying = JobMetrics("shop", names={"source": "MySQL Source", "sink": "upsert-kafka"})
    copying.stands(gauges(UNDER_WAY))  # what only a job of ingestion tells
    endpoint = Endpoint(Address("127.0.0.1", 0), lambda: [job.values, copying])
    yield lab, job, names, endpoint
    endpoint.close()
    job.stop()


@pytest.fixture
def server(served: tuple[Lab, Job, dict[str, str], Endpoint], tmp_path: Path) -> Iterator[Prometheus]:
    """Configured as docs/metrics.md says, but quicker and at the address of the test."""
    try:
        program("prometheus")
    except NotAvailable as reason:
        if "CI" in os.environ:
            raise
        pytest.skip(str(reason))
    (block,) = of("yaml", "docs/metrics.md")
    config = yaml.safe_load(block.text)
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [str(served[3].address)]
    config["global"] = {"scrape_interval": "250ms", "scrape_timeout": "250ms", "evaluation_interval": "250ms"}
    (tmp_path / config["rule_files"][0]).write_text(ALERTS.read_text())
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    with prometheus(tmp_path / "prometheus.yml", tmp_path) as running:
        yield running


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(seconds))


def test_a_job_as_prometheus_sees_it(served: tuple[Lab, Job, dict[str, str], Endpoint], server: Prometheus) -> None:
    lab, job, names, endpoint = served
    expressions = {rule["alert"]: rule["expr"] for rule in rules()}
    server.wait_for("rowkind_table_numRecordsDeadLettered == 0", SECONDS)
    server.wait_for("rowkind_source_numRecordsIn == 0")
    assert "currentEmitEventTimeLag" not in job.metrics["source"]["orders"][names["orders"]]

    # Three windows that end in the past: the second row closes the first one.
    then = int(time.time()) - 3600
    values = [f'{{"item": "bolt", "ts": "{moment(then + 120 * i)}"}}' for i in range(2)]
    lab.client.produce(names["orders"], [("a key", values[0]), (None, values[1]), (None, "{oops")])
    read = 2 * len(values[0]) + len("a key") + len("{oops")
    assert wait_until(lambda: job.metrics["sink"]["per_minute"][names["per_minute"]]["numRecordsOut"] == 1, SECONDS)
    lab.client.produce(names["orders"], [(None, values[1])])
    read += len(values[1])
    assert wait_until(lambda: job.metrics["source"]["orders"][names["orders"]]["numRecordsIn"] == 4, SECONDS)

    found = job.metrics
    source = found["source"]["orders"][names["orders"]]
    (record,) = lab.client.consume_all(names["per_minute"])
    assert source["numBytesIn"] == read
    assert source["pendingRecords"] == 0
    assert source["currentWatermark"] // 1000 == then + 120
    old = time.time() - (then + 120)
    assert 0 < source["currentFetchEventTimeLag"] <= source["currentEmitEventTimeLag"] <= old * 1000
    sink = found["sink"]["per_minute"][names["per_minute"]]
    assert sink["numBytesOut"] == len(record.key or b"") + len(record.value or b"")
    assert 0 < sink["currentSendTime"] < SECONDS * 1000
    assert found["table"]["orders"]["numRecordsDeadLettered"] == 1
    assert found["table"]["per_minute"]["numTransactions"] >= 1
    (operator,) = found["operator"].values()
    assert operator["stateRows"] > 0
    assert operator["stateBytes"] < found["lastCheckpointSize"]
    assert (found["numRestarts"], found["running"], found["failed"]) == (0, 1, 0)

    server.wait_for(f'rowkind_source_numRecordsIn{{job="per_minute", table="orders", topic="{names["orders"]}"}} == 4')
    for query in panel_queries():
        assert server.wait_for(query), query
    for metric in METRICS:
        assert server.query(metric.exposed), metric.exposed
    loaded = {rule["name"]: rule for rule in server.rules()}
    assert loaded.keys() == expressions.keys()
    assert wait_until(lambda: {rule["health"] for rule in server.rules()} == {"ok"}, SECONDS), server.rules()
    assert server.wait_for(expressions["RowkindDeadLetters"])
    assert server.query(expressions["RowkindJobDown"]) == []
    assert server.query(expressions["RowkindNoProgress"]) == []
    endpoint.close()
    assert server.wait_for(expressions["RowkindJobDown"])


def test_a_job_that_is_started_again_says_so(labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path) -> None:
    script = """
        CREATE TABLE numbers (x BIGINT) WITH ('connector' = 'kafka', 'topic' = '{numbers}', {kafka}, {json}, {once});
        CREATE TABLE copy (x BIGINT) WITH ('connector' = 'kafka', 'topic' = '{copy}', {kafka}, {json});
        INSERT INTO copy SELECT x FROM numbers;
    """
    names = {"numbers": topic(partitions=2), "copy": topic()}
    client = labs().client
    client.produce(names["numbers"], [(None, f'{{"x": {x}}}') for x in range(10)])
    first = labs(str(tmp_path)).finish(script, **names)
    assert first.status is Status.FINISHED
    assert first.metrics["status"] == "finished"
    assert first.metrics["source"]["numbers"][names["numbers"]]["numRecordsIn"] == 10
    assert first.metrics["sink"]["copy"][names["copy"]]["numBytesOut"] == 10 * len('{"x":0}')
    assert 0 <= first.metrics["source"]["numbers"][names["numbers"]]["currentFetchEventTimeLag"] < SECONDS * 1000
    again = labs(str(tmp_path)).finish(script, **names)
    assert again.metrics["numRestarts"] == 1
    assert again.metrics["source"]["numbers"][names["numbers"]]["numRecordsIn"] == 0
