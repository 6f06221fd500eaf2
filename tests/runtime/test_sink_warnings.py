"""What a user is told about an upsert sink: a query that only adds rows, and a topic that forgets rows."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from rowkind.catalog.catalog import Catalog
from rowkind.connectors.contract import Sink
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.settings import Guarantee, Side
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.runtime.driver.delivery import prepare_sinks
from rowkind.runtime.driver.planning import Planner
from rowkind.sql import parse_script
from rowkind.sql import statements as s
from rowkind.sql.errors import Source
from tests.kafka_client import TopicFactory
from tests.oracle.duck import Duck
from tests.runtime.tables import APPEND, UPSERT, table
from tests.runtime.test_planning import TABLES


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("INSERT INTO users SELECT user_id, user_region FROM pageviews;", True),
        ("INSERT INTO users SELECT id, name FROM log UNION ALL SELECT user_id, user_region FROM seen;", True),
        ("INSERT INTO users VALUES (1, 'Ada'), (2, 'Bo');", False),
        ("INSERT INTO users SELECT id, name FROM users;", False),
    ],
)
def test_a_query_that_only_adds_rows_is_told_about_and_values_are_not(sql: str, told: bool) -> None:
    catalog, text = Catalog(), TABLES + sql
    planner = Planner(catalog, Duck(), SessionOptions(), Source(text))
    for statement in parse_script(text):
        if isinstance(statement, s.CreateTable):
            catalog.create_table(statement.definition)
        elif isinstance(statement, s.CreateView):
            catalog.create_view(statement.definition)
        elif isinstance(statement, s.Insert):
            planner.inserts(statement)
    assert any("use the 'kafka' connector" in warning for warning in planner.take_warnings()) is told


class Plain(Sink):
    """Promises what most can."""

    guarantees = frozenset({Guarantee.NONE, Guarantee.AT_LEAST_ONCE})

    def prepare(self) -> list[str]:
        return ["told"]


class PlainTable(KafkaTable):
    def sink(self) -> Any:
        return Plain()


def test_what_a_sink_cannot_promise_is_refused() -> None:
    def given(guarantee: Guarantee) -> PlainTable:
        options = {"sink_delivery__guarantee": guarantee.value, "sink_transactional__id__prefix": "p"}
        made = table("id INT", APPEND, Side.SINK, **options)
        return PlainTable(**{field.name: getattr(made, field.name) for field in fields(made)})

    assert prepare_sinks([given(Guarantee.AT_LEAST_ONCE)]) == ["told"]
    with pytest.raises(RowkindError) as refused:
        prepare_sinks([given(Guarantee.EXACTLY_ONCE)])
    assert refused.value.condition == "GUARANTEE_NOT_GIVEN"
    assert refused.value.params["known"] == "'none', 'at-least-once'"


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("policy", "said"),
    [("compact", []), ("delete", ["is not compacted"]), ("compact,delete", ["disappear without a tombstone"])],
)
def test_a_topic_that_forgets_rows_is_told_about(kafka: str, topic: TopicFactory, policy: str, said: list[str]) -> None:
    name = topic(**{"cleanup.policy": policy})
    sink = table(
        "id INT, PRIMARY KEY (id) NOT ENFORCED",
        {**UPSERT, "topic": name, "properties.bootstrap.servers": kafka},
        Side.SINK,
    )
    warnings = prepare_sinks([sink])
    assert len(warnings) == len(said)
    assert all(words in warning and name in warning for words, warning in zip(said, warnings, strict=True))
