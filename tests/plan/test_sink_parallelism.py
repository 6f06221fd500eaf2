"""`sink.parallelism` of a sink of changes without a primary key: rows of one origin must not overtake each other."""

from __future__ import annotations

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.driver.job_plan import JobPlan
from tests.oracle.duck import Duck
from tests.oracle.planning import APPEND, RETRACT, UPSERT, job_of

SCRIPT = """
CREATE TABLE orders (id INT, item STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert});
CREATE TABLE clicks (id INT, item STRING) WITH ({append});
CREATE TABLE changes (id INT, item STRING) WITH ({cdc});
CREATE TABLE sink (id INT, item STRING{key}) WITH ({cdc}, 'sink.parallelism' = '{tasks}');
INSERT INTO sink {query};
"""
UPDATING = "SELECT CAST(COUNT(*) AS INT), item FROM clicks GROUP BY item"


def planned(query: str, tasks: int, key: str = "") -> JobPlan:
    script = SCRIPT.format(upsert=UPSERT, append=APPEND, cdc=RETRACT, key=key, tasks=tasks, query=query)
    return job_of(script, Duck())


@pytest.mark.parametrize("query", [UPDATING, "SELECT * FROM changes", "SELECT * FROM orders"])
def test_changes_without_a_key_are_not_spread(query: str) -> None:
    with pytest.raises(RowkindError) as refused:
        planned(query, 3)
    assert refused.value.condition == "PARALLELISM_NEEDS_PRIMARY_KEY"


@pytest.mark.parametrize(
    ("query", "tasks", "key"),
    [
        (UPDATING, 3, ", PRIMARY KEY (id) NOT ENFORCED"),
        (UPDATING, 2, ""),  # as many as the state has partitions
        (UPDATING, 1, ""),
        ("SELECT * FROM changes", 1, ""),
        ("SELECT * FROM clicks", 3, ""),
        ("VALUES (1, 'a')", 3, ""),
    ],
)
def test_what_keeps_its_order_is_spread(query: str, tasks: int, key: str) -> None:
    (sink,) = planned(query, tasks, key).sinks
    assert sink.table.writing.parallelism == tasks
