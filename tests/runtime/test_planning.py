"""From statements to plans, without Spark: names and their places, refusals, and what EXPLAIN says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rowkind.catalog.catalog import Catalog
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.runtime.driver.planning import Planner, plans_text
from rowkind.sql import parse_script
from rowkind.sql import statements as s
from rowkind.sql.errors import Source
from rowkind.types import DataType, Field, quote

TABLES = """
CREATE TABLE pageviews (user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP, user_region STRING, place ROW<city STRING>)
    WITH ('connector' = 'kafka', 'topic' = 'pageviews', 'properties.bootstrap.servers' = 'x:1', 'format' = 'json',
        'scan.startup.mode' = 'earliest-offset');
CREATE TABLE users (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', 'topic' = 'users', 'properties.bootstrap.servers' = 'x:1',
        'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE log (id BIGINT, name STRING)
    WITH ('connector' = 'kafka', 'topic' = 'log', 'properties.bootstrap.servers' = 'x:1', 'format' = 'json');
CREATE VIEW seen AS
    SELECT user_id, user_region FROM pageviews;
"""


class Columns:
    """An analyzer for columns as they are: their types are known, and of anything else it knows nothing."""

    def types(self, expressions: Sequence[str], columns: Sequence[Field]) -> list[DataType]:
        known = {quote(c.name): c.type for c in columns}
        return [known[expression] for expression in expressions]


def plan(sql: str) -> tuple[str, list[str]]:
    """The text of EXPLAIN, and what the user is told."""
    catalog, text = Catalog(), TABLES + sql
    for statement in parse_script(text, "job.sql"):
        planner = Planner(catalog, Columns(), SessionOptions(), Source(text, "job.sql"))
        if isinstance(statement, s.CreateTable):
            catalog.create_table(statement.definition)
        elif isinstance(statement, s.CreateView):
            catalog.create_view(statement.definition)
        elif isinstance(statement, s.Select):
            return plans_text([planner.select(statement)]), planner.take_warnings()
        elif isinstance(statement, (s.Insert, s.StatementSet)):
            return plans_text(planner.inserts(statement)), planner.take_warnings()
    raise AssertionError("nothing to plan")


def refusal(sql: str) -> RowkindError:
    with pytest.raises(RowkindError) as failed:
        plan(sql)
    return failed.value


LINE = TABLES.count("\n") + 1


@pytest.mark.parametrize(
    ("sql", "condition", "column", "suggested"),
    [
        ("SELECT region FROM pageviews", "UNKNOWN_COLUMN", 8, "'user_region'"),
        ("SELECT user_id, p.region FROM pageviews AS p", "UNKNOWN_COLUMN", 19, "'user_region'"),
        ("SELECT user_id FROM pageviews WHERE regoin = 'x'", "UNKNOWN_COLUMN", 37, "'user_region'"),
        ("SELECT User_Id FROM pageviews", "UNKNOWN_COLUMN", 8, "'user_id'"),
        ("SELECT * FROM pageview", "NO_SUCH_RELATION", 15, "'pageviews'"),
        ("SELECT place.town FROM pageviews", "UNKNOWN_FIELD", 14, ""),
        ("SELECT q.* FROM pageviews AS p", "UNKNOWN_RELATION", 8, ""),
        ("SELECT id FROM users AS a, log AS b", "AMBIGUOUS_COLUMN", 8, ""),
        ("SELECT user_id FROM seen UNION ALL SELECT id, name FROM log", "COLUMN_COUNT", 36, ""),
    ],
)
def test_wrong_names_are_pointed_at(sql: str, condition: str, column: int, suggested: str) -> None:
    error = refusal(sql)
    assert error.condition == condition
    assert f"line {LINE}, column {column}" in error.params["place"]
    assert "job.sql" in error.params["place"]
    assert suggested in error.params.get("suggestion", "")
    caret = error.params["pointer"].splitlines()[-1]
    assert "^" in caret


def test_a_query_that_does_not_fit_says_both_shapes() -> None:
    error = refusal("INSERT INTO log SELECT user_id FROM pageviews")
    assert error.condition == "SINK_SCHEMA"
    assert (error.params["given"], error.params["wanted"]) == ("user_id: BIGINT", "id: BIGINT, name: STRING")
    assert refusal("INSERT INTO log SELECT user_region, user_region FROM pageviews").condition == "SINK_SCHEMA"
    assert refusal("INSERT INTO seen SELECT * FROM log").condition == "INSERT_INTO_VIEW"
    assert "'log'" in refusal("INSERT INTO logs SELECT * FROM log").params["suggestion"]


def test_updates_into_an_append_sink_name_the_operator_and_the_way_out() -> None:
    error = refusal("INSERT INTO log SELECT * FROM users")
    assert error.condition == "UPDATES_INTO_APPEND_SINK"
    assert error.params["operator"].startswith("Normalize (key id")
    assert "upsert-kafka" in (error.hint or "")


def test_explain_shows_every_operator_with_its_traits() -> None:
    text, told = plan("INSERT INTO users SELECT user_id, user_region FROM seen")
    assert text.splitlines() == [
        "Sink users (upsert-kafka, topic users, json, every row)  [takes +I,+U,-D]",
        "└─ Project (`user_id` AS id, `user_region` AS name)  [+I]",
        "   └─ Scan pageviews (kafka, topic pageviews, json)  [+I]",
    ]
    assert any("'kafka' connector" in notice for notice in told)


def test_explain_shows_keys_and_state() -> None:
    text, _ = plan("SELECT name, id FROM users")
    assert "Normalize (key id)  [+I,-U,+U,-D, upsert key (id)]" in text
    assert "state: last row per (id)" in text
    text, told = plan("INSERT INTO users SELECT * FROM users")
    assert "Normalize" not in text
    assert "[+I,+U,-D, upsert key (id)]" in text
    assert told == []


def test_a_statement_set_is_planned_as_one_job() -> None:
    text, _ = plan(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO log SELECT user_id, user_region FROM seen;"
        "INSERT INTO users SELECT user_id, user_region FROM seen; END;"
    )
    assert text.count("Sink ") == 2
    assert text.count("Scan pageviews") == 2
