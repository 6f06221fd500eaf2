"""A package from outside: a connector, a format and a named error of its own, found by entry points."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rowkind import errors
from rowkind.connectors import registry as connectors
from rowkind.connectors.settings import Side
from rowkind.errors import RowkindError, condition_in
from rowkind.formats import registry as formats
from tests.connectors.suite import condition, resolved

MODULE = """
from dataclasses import dataclass
from rowkind.connectors.connector import Connector
from rowkind.connectors.contract import Table
from rowkind.connectors.settings import ReadSettings, Side, WriteSettings
from rowkind.connectors.usage import Options, Usage
from rowkind.formats.json.format import JsonFormat
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, positive

WEIGHT = Option("weight", positive, "int", None, "In grams.", required="yes")

def pigeons_are_light(usage):
    if usage.given[WEIGHT] > 75:
        raise usage.error("PIGEON_OVERLOADED", weight=usage.given[WEIGHT])

@dataclass(frozen=True, slots=True)
class PigeonTable(Table):
    bounded = False
    def __hash__(self): return hash(self.definition.name)
    def identity(self): return {"name": self.name}

class PigeonConnector(Connector[Usage]):
    name = "pigeon"
    options = Options(table=(WEIGHT,))
    def rules(self, side): return (pigeons_are_light,)
    def table(self, usage):
        mode = ChangelogMode.INSERT_ONLY
        return PigeonTable(usage.definition, usage.side, self.name, mode, (), ReadSettings(), WriteSettings()), []

class FeatherFormat(JsonFormat):
    name = "feather"
"""
CONDITIONS = """
[PIGEON_OVERLOADED]
message = "Table '{table}': {weight} g are too much for a '{connector}'"
hint = "Write shorter rows."
retryable = true
"""
ENTRY_POINTS = """
[rowkind.connectors]
pigeon = pigeons:PigeonConnector
broken = pigeons:NoSuchConnector
[rowkind.formats]
feather = pigeons:FeatherFormat
[rowkind.conditions]
pigeons = pigeons.conditions
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    files = {
        "pigeons/__init__.py": MODULE,
        "pigeons/conditions/__init__.py": "",
        "pigeons/conditions/flight.toml": CONDITIONS,
        "pigeons-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
        "pigeons-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pigeons\nVersion: 1.0\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    caches = (connectors._instance, formats.format_named, errors._of_others)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for cache in caches:
        cache.cache_clear()


def ddl(connector: str, more: str = "'weight' = '70'") -> str:
    return f"CREATE TABLE t (id BIGINT) WITH ('connector' = '{connector}', {more})"


def test_its_tables_are_tables() -> None:
    table = resolved(ddl("pigeon"), Side.SOURCE)
    assert (table.connector, table.name, [f.name for f in table.stored_columns]) == ("pigeon", "t", ["id"])


def test_rules_of_every_table_are_its_rules_too() -> None:
    assert condition(ddl("pigeon", "'weight' = '0'"), Side.SINK) == "INVALID_OPTION_VALUE"
    assert condition(ddl("pigeon", "'wait' = '1'"), Side.SINK) == "UNKNOWN_OPTION"
    assert condition("CREATE TABLE t (id BIGINT) WITH ('connector' = 'pigeon')", Side.SINK) == "MISSING_OPTION"


def test_its_errors_have_names_and_wording() -> None:
    with pytest.raises(RowkindError) as refused:
        resolved(ddl("pigeon", "'weight' = '80'"), Side.SOURCE)
    assert (refused.value.condition, refused.value.retryable) == ("PIGEON_OVERLOADED", True)
    assert "80 g are too much for a 'pigeon'" in str(refused.value)
    assert condition_in(f"Traceback: {refused.value}") == "PIGEON_OVERLOADED"


def test_its_format_is_known() -> None:
    assert formats.format_named("feather").name == "feather"
    assert "feather" in formats.names()


def test_a_name_that_is_unknown_lists_those_that_exist_nearest_first() -> None:
    with pytest.raises(RowkindError) as refused:
        resolved(ddl("pidgeon"), Side.SOURCE)
    assert refused.value.condition == "UNKNOWN_CONNECTOR"
    known = refused.value.params["known"].split(", ")
    assert known[0] == "pigeon"
    assert set(known) == {"pigeon", "broken", *connectors.BUILT_IN}
    assert "'pigeon'" in refused.value.params["suggestion"]


def test_what_cannot_be_imported_names_its_package() -> None:
    with pytest.raises(RowkindError) as refused:
        resolved(ddl("broken"), Side.SOURCE)
    assert refused.value.condition == "PLUGIN_NOT_LOADED"
    assert refused.value.params["package"] == "pigeons"
