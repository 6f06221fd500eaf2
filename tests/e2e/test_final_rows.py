"""ORDER BY over bounded tables: the rows that are left at the end, in their order and without kinds."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from rowkind.cli.console import Console
from rowkind.cli.layouts import OutputFormat
from rowkind.runtime.driver.session import Selection, Session
from tests.kafka_client import KafkaClient, TopicFactory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TABLES = """
CREATE TABLE views (page STRING, cost DECIMAL(10, 2), raw BYTES) WITH (
    'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka}',
    'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json');
"""
VIEWS = ['{"page":"b","cost":10}', '{"page":"a","cost":9.5}', '{"page":"b","cost":1,"raw":"AP8="}', '{"cost":2}']


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("SELECT page, COUNT(*) FROM views GROUP BY page ORDER BY 2 DESC, page", ["b,2", ",1", "a,1"]),
        ("SELECT page, cost FROM views ORDER BY cost DESC LIMIT 3", ["b,10.00", "a,9.50", ",2.00"]),
        ("SELECT page FROM views ORDER BY cost * -1", ["b", "a", "", "b"]),
        ("SELECT raw, cost FROM views ORDER BY page NULLS LAST, cost", [",9.50", "x'00ff',1.00", ",10.00", ",2.00"]),
    ],
    ids=["changes", "limit", "hidden expression", "bytes"],
)
def test_final_rows_come_in_their_order(
    spark: SparkSession, kafka_client: KafkaClient, topic: TopicFactory, query: str, lines: list[str]
) -> None:
    source = topic(partitions=2)
    kafka_client.produce(source, [(None, view) for view in VIEWS])
    out = io.StringIO()
    console = Console(out, io.StringIO(), OutputFormat.CSV)
    session = Session(spark, notify=console.notice, show=console.rows, as_text=True, announce=console.announce)
    session.sql(TABLES.format(topic=source, kafka=kafka_client.bootstrap))
    selection = session.sql(query)
    assert isinstance(selection, Selection)
    selection.job.wait()
    console.selected(selection)
    assert out.getvalue().splitlines()[1:] == lines
