"""A script played through without effect: what is wrong with any of its statements is told before the first job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod

from rowkind.catalog.catalog import Catalog
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.plan.analysis import Analyzer
from rowkind.runtime.driver.planning import Planner
from rowkind.sql import statements as s
from rowkind.sql.errors import Source
from rowkind.sql.places import Written, placed
from rowkind.types import NULL, DataType, Field


class WithoutSpark:
    """Stands in for Spark before it is there. It knows no types, and remembers that it was asked for any."""

    def __init__(self) -> None:
        self.asked = False

    def types(self, expressions: Sequence[str], columns: Sequence[Field]) -> list[DataType]:
        self.asked = True
        return [NULL] * len(expressions)


WITHOUT_TYPES = frozenset(
    {"NO_SUCH_RELATION", "UNKNOWN_COLUMN", "UNKNOWN_RELATION", "AMBIGUOUS_COLUMN", "NO_SUCH_TABLE", "INSERT_INTO_VIEW"}
)
"""What is wrong whatever the types of expressions are."""


@dataclass
class Check:
    """Goes through statements as a session would; `catalog` and `options` are copies."""

    catalog: Catalog
    options: SessionOptions
    analyzer: Analyzer
    as_text: bool = True
    source: Source = field(default_factory=lambda: Source(""))
    tables: dict[str, Written] = field(default_factory=dict)

    def run(self, statements: Iterable[s.Statement], text: str, file: str | None = None) -> None:
        """Raises the first error, at its place in the text."""
        self.source = Source(text, file)
        for statement in statements:
            written = Written(statement, self.source)
            try:
                self._check(statement)
            except Exception as error:
                if isinstance(error, RowkindError) and (not self._guessed or error.condition in WITHOUT_TYPES):
                    raise placed(error, written, self.tables) from error.__cause__
                if not self._guessed:
                    raise
                # of wrong types anything may follow: Spark is asked when it is there
            if isinstance(statement, s.CreateTable):
                self.tables[statement.definition.name] = written
            if isinstance(self.analyzer, WithoutSpark):
                self.analyzer.asked = False

    @property
    def _guessed(self) -> bool:
        return isinstance(self.analyzer, WithoutSpark) and self.analyzer.asked

    @singledispatchmethod
    def _check(self, statement: s.Statement) -> None:
        """SHOW and RESET of nothing cannot go wrong."""

    @_check.register
    def _(self, statement: s.CreateTable) -> None:
        self.catalog.create_table(statement.definition, if_not_exists=statement.if_not_exists, like=statement.like)

    @_check.register
    def _(self, statement: s.CreateView) -> None:
        planner = Planner(self.catalog.copy(), self.analyzer, self.options, self.source)
        if self.catalog.create_view(statement.definition, if_not_exists=statement.if_not_exists):
            planner.bind_view(statement.definition)

    @_check.register
    def _(self, statement: s.Drop) -> None:
        self.catalog.drop(statement.name, view=statement.view, if_exists=statement.if_exists)

    @_check.register
    def _(self, statement: s.Set) -> None:
        if statement.key is not None:
            self.options, _ = self.options.set(statement.key, statement.value or "")

    @_check.register
    def _(self, statement: s.Reset) -> None:
        self.options = self.options.reset(statement.key)

    @_check.register(s.Describe)
    def _(self, statement: s.Describe) -> None:
        self.catalog.get(statement.name)

    @_check.register
    def _(self, statement: s.ShowCreate) -> None:
        _ = (self.catalog.view if statement.view else self.catalog.table)(statement.name, "SHOW CREATE")

    @_check.register
    def _(self, statement: s.Explain) -> None:
        self._check(statement.target)

    @_check.register
    def _(self, statement: s.Select) -> None:
        self._planner().select(statement, self.as_text)

    @_check.register(s.Insert)
    @_check.register(s.StatementSet)
    def _(self, statement: s.Insert | s.StatementSet) -> None:
        self._planner().inserts(statement)

    def _planner(self) -> Planner:
        return Planner(self.catalog, self.analyzer, self.options, self.source)
