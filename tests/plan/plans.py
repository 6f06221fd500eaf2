"""Plans in fixture files: a comment, a statement, and behind it in `/* … */` the plan or the error that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rowkind.catalog.catalog import Catalog
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.plan.analysis import Analyzer
from rowkind.runtime.driver.planning import Planner, plans_text
from rowkind.sql import parse_script
from rowkind.sql import statements as s
from rowkind.sql.errors import Source

FOLDER = Path(__file__).parent / "fixtures"
FILES = sorted((FOLDER / "plans").glob("*.sql"))
_CASE = re.compile(r"-- (?P<title>[^\n]+)\n(?P<sql>.*?);\n/\*\n(?P<expected>.*?)\n\*/", re.S)


@dataclass(frozen=True, slots=True)
class Case:
    title: str
    sql: str
    expected: str

    def __str__(self) -> str:
        return f"-- {self.title}\n{self.sql};\n/*\n{self.expected}\n*/\n"


def cases(file: Path) -> Iterator[Case]:
    for match in _CASE.finditer(file.read_text("utf-8")):
        yield Case(match["title"], match["sql"], match["expected"])


def planned(sql: str, analyzer: Analyzer) -> str:
    """EXPLAIN of a script over the tables of tables.sql, or the name of the error that it ends with."""
    catalog = Catalog()
    try:
        for statement in parse_script((FOLDER / "tables.sql").read_text("utf-8")):
            _define(statement, catalog)
        planner = Planner(catalog, analyzer, SessionOptions(), Source(sql))
        return "\n\n".join(text for statement in parse_script(sql) if (text := _plan(statement, catalog, planner)))
    except RowkindError as error:
        return f"error: {error.condition}"


def _define(statement: s.Statement, catalog: Catalog) -> None:
    assert isinstance(statement, s.CreateTable)
    catalog.create_table(statement.definition)


def _plan(statement: s.Statement, catalog: Catalog, planner: Planner) -> str | None:
    if isinstance(statement, s.CreateView):
        catalog.create_view(statement.definition)
        return None
    if isinstance(statement, s.Select):
        return plans_text([planner.select(statement)])
    assert isinstance(statement, s.Insert | s.StatementSet)
    return plans_text(planner.inserts(statement))
