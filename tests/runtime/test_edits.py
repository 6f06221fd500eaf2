"""Which edits of a query a checkpoint takes, which state they keep, and which it refuses; without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.job_record import JobRecord
from tests.oracle.duck import Duck
from tests.oracle.planning import job_of

OLD = """
CREATE TABLE clicks (id INT, k INT, v INT, s STRING) WITH ('connector' = 'kafka', {at}, 'format' = 'json',
    'scan.startup.mode' = 'earliest-offset', 'properties.group.id' = 'one');
CREATE TABLE users (id INT, k INT, w INT, PRIMARY KEY (id) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE counts (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE per_k (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE wide (k INT, n BIGINT, m INT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', {at}, {keyed});
CREATE TABLE joined (id INT, s STRING, w INT) WITH ('connector' = 'kafka', {at}, 'format' = 'debezium-json');
CREATE VIEW few AS SELECT k, v FROM clicks WHERE v < 100;
EXECUTE STATEMENT SET BEGIN
INSERT INTO counts SELECT k, COUNT(*) FROM few GROUP BY k;
INSERT INTO per_k SELECT k, COUNT(*) AS n FROM users WHERE k > 0 GROUP BY k HAVING COUNT(*) > 1;
INSERT INTO joined SELECT c.id, c.s, u.w FROM clicks AS c JOIN users AS u ON c.id = u.id;
END;
"""
COUNTS = "INSERT INTO counts SELECT k, COUNT(*) FROM few GROUP BY k;"
PER_K = "INSERT INTO per_k SELECT k, COUNT(*) AS n FROM users WHERE k > 0 GROUP BY k HAVING COUNT(*) > 1;"
JOINED = "INSERT INTO joined SELECT c.id, c.s, u.w FROM clicks AS c JOIN users AS u ON c.id = u.id;"

KEEPING = {
    "comments and whitespace": (
        COUNTS,
        "/* how many */ INSERT INTO counts -- so\n SELECT k,\n COUNT( * ) FROM few GROUP BY k;",
    ),
    "order of statements": (f"{COUNTS}\n{PER_K}", f"{PER_K}\n{COUNTS}"),
    "start position": ("earliest-offset", "latest-offset"),
    "group id": ("'one'", "'two'"),
    "renamed view": ("few", "some_clicks"),
    "no view": ("FROM few", "FROM (SELECT k, v FROM clicks WHERE v < 100)"),
    "stateless step below": ("FROM few", "FROM (SELECT k, v + 1 AS more FROM few)"),
    "stateless step above": (
        "SELECT k, COUNT(*) FROM few GROUP BY k",
        "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM few GROUP BY k)",
    ),
    "column above": (COUNTS, "INSERT INTO wide SELECT k, COUNT(*), k * 2 FROM few GROUP BY k;"),
    "filter above": ("HAVING COUNT(*) > 1", "HAVING COUNT(*) > 5"),
    "no filter above": ("HAVING COUNT(*) > 1", ""),
    "column of a table that no operator reads": ("v INT, s STRING", "v INT, s STRING, fresh INT"),
    "state ttl": ("EXECUTE", "SET 'table.exec.state.ttl' = '1 h'; EXECUTE"),
}
REFUSED = {
    "one more aggregate": (COUNTS, COUNTS.replace("COUNT(*)", "COUNT(*) + SUM(v)"), "CHECKPOINT_OPERATOR_CHANGED"),
    "other aggregate": (COUNTS, COUNTS.replace("COUNT(*)", "COUNT(DISTINCT v)"), "CHECKPOINT_OPERATOR_CHANGED"),
    "other key": (COUNTS, COUNTS.replace("k,", "v,").replace("BY k", "BY v"), "CHECKPOINT_OPERATOR_CHANGED"),
    "computed key": ("SELECT k, v FROM clicks", "SELECT k + 1 AS k, v FROM clicks", "CHECKPOINT_OPERATOR_CHANGED"),
    "aggregate left out": (COUNTS, "INSERT INTO counts SELECT k, v FROM few;", "CHECKPOINT_OPERATOR_CHANGED"),
    "join condition": ("c.id = u.id", "c.id = u.k", "CHECKPOINT_OPERATOR_CHANGED"),
    "kind of join": ("JOIN users", "LEFT JOIN users", "CHECKPOINT_OPERATOR_CHANGED"),
    "column that the join did not keep": ("c.s, u.w", "c.s, u.k", "CHECKPOINT_OPERATOR_CHANGED"),
    "filter of updated rows": ("k > 0", "k > 5", "CHECKPOINT_OPERATOR_CHANGED"),
    "filter below a join with updates": (
        "FROM clicks AS c",
        "FROM (SELECT * FROM clicks WHERE v > 1) AS c",
        "CHECKPOINT_INPUT_CHANGED",
    ),
    "other topic": ("users (id", "people (id", "CHECKPOINT_OF_ANOTHER_JOB"),
}
NOTED = {
    "one more sink": (COUNTS, f"{COUNTS} INSERT INTO wide SELECT k, COUNT(*), MAX(v) FROM clicks GROUP BY k;", 1, 0),
    "one sink less": (COUNTS, "", 0, 1),
    "one more filter on rows that only come": ("v < 100", "v < 100 AND k > 2", 0, 0),
    "another filter on rows that only come": ("v < 100", "v < 50", 0, 0),
}


def _edited(old: str, new: str) -> str:
    renamed = OLD.replace("users", "people") if "people" in new else OLD
    return renamed.replace(old, new)


def opened(folder: Path, script: str) -> tuple[JobRecord, list[str]]:
    return Checkpoint(str(folder)).open(job_of(script, Duck()))


@pytest.mark.parametrize(("old", "new"), KEEPING.values(), ids=KEEPING)
def test_an_edit_that_keeps_all_state(tmp_path: Path, old: str, new: str) -> None:
    assert old in OLD
    first, _ = opened(tmp_path, OLD)
    again, notes = opened(tmp_path, OLD.replace(old, new))
    assert dict(again.operators).keys() == dict(first.operators).keys()
    assert not notes


@pytest.mark.parametrize(("old", "new", "added", "removed"), NOTED.values(), ids=NOTED)
def test_an_edit_that_is_taken_and_told(tmp_path: Path, old: str, new: str, added: int, removed: int) -> None:
    assert old in OLD
    first, _ = opened(tmp_path, OLD)
    again, notes = opened(tmp_path, OLD.replace(old, new))
    assert len(again.operators.keys() - first.operators.keys()) == added
    assert len(first.operators.keys() - again.operators.keys()) == removed
    assert len(notes) == max(1, added + removed)
    assert opened(tmp_path, OLD.replace(old, new)) == (again, [])


@pytest.mark.parametrize(("old", "new", "condition"), REFUSED.values(), ids=REFUSED)
def test_an_edit_that_is_refused_leaves_the_checkpoint_as_it_is(
    tmp_path: Path, old: str, new: str, condition: str
) -> None:
    assert old in OLD
    first, _ = opened(tmp_path, OLD)
    with pytest.raises(RowkindError) as failed:
        opened(tmp_path, _edited(old, new))
    assert failed.value.condition == condition
    assert opened(tmp_path, OLD) == (first, [])


def test_statements_that_differ_by_a_filter_only_may_change_places_but_not_their_filters(tmp_path: Path) -> None:
    one = COUNTS.replace("few", "clicks WHERE v > 1")
    two = COUNTS.replace("few", "clicks WHERE v > 2").replace("counts", "per_k")
    first, _ = opened(tmp_path, OLD.replace(COUNTS, one).replace(PER_K, two))
    again, notes = opened(tmp_path, OLD.replace(COUNTS, two).replace(PER_K, one))
    assert not notes
    stored, now = ({name: o.sinks for name, o in r.operators.items()} for r in (first, again))
    assert stored == now
    with pytest.raises(RowkindError) as failed:
        opened(tmp_path, OLD.replace(COUNTS, one).replace(PER_K, two.replace("v > 2", "v > 3")))
    assert failed.value.condition == "CHECKPOINT_INPUT_CHANGED"


def test_operators_that_read_no_column_are_told_apart_by_what_they_count(tmp_path: Path) -> None:
    whole = "INSERT INTO wide SELECT 1, COUNT(*), 2 FROM clicks;"
    nested = "INSERT INTO per_k SELECT 1, COUNT(*) FROM (SELECT DISTINCT k, v FROM clicks);"
    first, _ = opened(tmp_path, OLD.replace(COUNTS, whole).replace(PER_K, nested))
    assert len({name for name, o in first.operators.items() if o.text == "GroupAggregate (COUNT(*))"}) == 2


def test_an_operator_that_went_and_came_again_starts_with_the_next_batch(tmp_path: Path) -> None:
    first, _ = opened(tmp_path, OLD)
    (counted,) = [name for name, o in first.operators.items() if o.sinks == ("counts",)]
    checkpoint = Checkpoint(str(tmp_path))
    checkpoint.begin(0, {"number": 0})
    checkpoint.finish(0, {"operators": {}})
    opened(tmp_path, OLD.replace(COUNTS, ""))
    again, _ = opened(tmp_path, OLD)
    assert not again.owns(counted, 0)
    assert again.owns(counted, 1)
    assert all(again.owns(name, 0) for name in first.operators if name != counted)
