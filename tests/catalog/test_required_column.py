"""What the list of options says of an option, required or not, is what a table without it is told."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rowkind.catalog.document import options_page
from rowkind.connectors.registry import connector_named
from rowkind.connectors.settings import Side
from rowkind.definitions import PhysicalColumn, TableDefinition
from rowkind.errors import RowkindError
from rowkind.options.declarations import Option
from rowkind.options.session_values import SessionOptions
from rowkind.types import BIGINT
from tests.catalog.tables import resolve

BASE = {"topic": "t", "properties.bootstrap.servers": "x:1", "value.format": "json"}
LEAST = {
    "kafka": {**BASE, "connector": "kafka"},
    "upsert-kafka": {**BASE, "connector": "upsert-kafka", "key.format": "json"},
}
"""A table of each connector with nothing that could be left out."""
CHOICES = {"topic": "topic-pattern", "topic-pattern": "topic", "format": "value.format", "value.format": "format"}
CONNECTORS = {name: connector_named(name, "t") for name in LEAST}
OPTIONS = [(name, option) for name, connector in CONNECTORS.items() for option in connector.options.all]


def taken(options: Mapping[str, str], upsert: bool) -> bool:
    definition = TableDefinition("t", (PhysicalColumn("id", BIGINT),), options, primary_key=("id",) if upsert else ())
    try:
        for side in Side:
            resolve(definition, SessionOptions(), side)
    except RowkindError:
        return False
    return True


@pytest.mark.parametrize("connector", CONNECTORS)
def test_what_is_not_required_may_be_left_out(connector: str) -> None:
    options = {o.name: o for o in CONNECTORS[connector].options.all}
    assert taken(LEAST[connector], connector == "upsert-kafka")
    assert all(options[name].required == "yes" or name in CHOICES for name in LEAST[connector])


@pytest.mark.parametrize(("connector", "option"), OPTIONS, ids=[f"{name}:{o.name}" for name, o in OPTIONS])
def test_what_is_required_may_not(connector: str, option: Option[object]) -> None:
    if option.required == "yes" or (option.name in CHOICES and option.name in LEAST[connector]):
        without = {key: value for key, value in LEAST[connector].items() if key != option.name}
        assert not taken(without, connector == "upsert-kafka")
    if option.name in CHOICES:
        assert f"`{CHOICES[option.name]}`" in option.required


def test_the_page_says_so() -> None:
    page = options_page().partition("## `upsert-kafka`")[2]
    assert "| `key.format` | yes |" in page
    assert "| `sink.parallelism` | no | int | inherited" in page
    assert "| `sink.transactional-id-prefix` | with `exactly-once` |" in page
