"""Which scans may be read by several tasks at once: only those whose order somebody sees to behind them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.runtime.driver.job_plan import ORDERING, _splittable, job_plan
from tests.oracle.duck import Duck
from tests.oracle.planning import job_of

TABLES = """
    CREATE TABLE s (id INT, name STRING, tags ARRAY<STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'kafka', {at}, 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
    CREATE TABLE latest (id INT, tag STRING, PRIMARY KEY (id) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', {at}, {keyed});
"""
PASSING = (n.Scan, n.Values, n.Project, n.Filter, n.WatermarkAssigner, n.Union, n.Unnest, n.Sink, n.Sorted, n.Print)
"""Nodes that hand rows on as they come, or have none to hand on."""
BY_KIND = (t.WindowAssign,)
BASES = (n.Unary, t._Two)


def classes(of: type[n.Node] = n.Node) -> Iterator[type[n.Node]]:
    """Those of rowkind; a class that was made anew for its slots is not in its module."""
    for found in of.__subclasses__():
        if getattr(sys.modules[found.__module__], found.__name__, None) is found:
            yield found
        yield from classes(found)


@dataclass(frozen=True)
class _Unheard(n.Unary):
    pass


KINDS = sorted({kind for kind in classes() if kind is not _Unheard}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_node_is_known_to_pass_the_order_on_or_to_see_to_it(kind: type[n.Node]) -> None:
    known = [kind in kinds for kinds in (PASSING, ORDERING, BY_KIND, BASES)]
    assert sum(known) == 1, f"say in job_plan.ORDERING or here what {kind.__name__} does to the order of rows"


def test_a_node_that_nobody_knows_keeps_a_scan_whole() -> None:
    plan = job_of(TABLES + "INSERT INTO latest SELECT id, CAST(COUNT(*) AS STRING) FROM s GROUP BY id;", Duck())
    (scan,) = plan.scans
    assert plan.splittable == (True,)
    assert not _splittable(scan, [_Unheard(scan)])


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("SELECT id, name FROM s", True),
        ("SELECT id, tag FROM s CROSS JOIN UNNEST(tags) AS u (tag)", True),
        ("SELECT id, name FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE))", True),
        ("SELECT id, name FROM s UNION ALL SELECT id, CAST(COUNT(*) AS STRING) FROM s GROUP BY id", False),
        ("SELECT id, MAX(name) FROM s GROUP BY id", False),
        ("SELECT id, MAX(tag) FROM s CROSS JOIN UNNEST(tags) AS u (tag) GROUP BY id", False),
    ],
)
def test_scans_of_queries(query: str, whole: bool) -> None:
    plan = job_of(f"{TABLES} INSERT INTO latest {query};", Duck())
    assert plan.splittable == (not whole,)
    assert job_plan(plan.roots, 2).splittable == plan.splittable
