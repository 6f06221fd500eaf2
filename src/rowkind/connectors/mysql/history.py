"""The schemas of tables as DDL changes them, along the binlog; kept as JSON in checkpoints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from rowkind.connectors.mysql.ddl import Effect, Surroundings, dropped_database, effects
from rowkind.connectors.mysql.ddl_tokens import Unparsed
from rowkind.connectors.mysql.events import without_comments
from rowkind.connectors.mysql.positions import BinlogPosition
from rowkind.connectors.mysql.schemas import TableId, TableSchema
from rowkind.errors import RowkindError

_NAME = r"(?:`((?:[^`]|``)+)`|([\w$]+))"
_VERBS = (
    r"TABLES?(?:\s+IF\s+(?:NOT\s+)?EXISTS)?|(?:INSERT|REPLACE)(?:\s+(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE))*"
    r"(?:\s+INTO)?|INTO|UPDATE(?:\s+(?:LOW_PRIORITY|IGNORE))*|FROM|TRUNCATE"
)
_TABLE_NAME = re.compile(rf"\b(?:{_VERBS})\s+{_NAME}(?:\s*\.\s*{_NAME})?", re.I)
_ABOUT_TABLES = re.compile(
    r"(?:CREATE|ALTER|DROP|RENAME)\s+(?:OR\s+REPLACE\s+)?(?:(?:ONLINE|IGNORE|TEMPORARY)\s+)*(?:TABLES?|DATABASE|SCHEMA)\b"
    r"|TRUNCATE\b",
    re.I,
)
"""The first look: most statements that begin like DDL are about indexes, users, views."""


@dataclass(frozen=True, slots=True)
class TableDdl:
    """What a statement has done to one captured table."""

    table: TableId
    kind: str
    """create, alter, rename, truncate, drop."""
    before: TableSchema | None
    after: TableSchema | None
    """Of another name after a rename; None when the table is gone or no longer captured."""
    statement: str
    position: BinlogPosition
    """The border after the statement."""
    """Before the statement."""


class SchemaHistory:
    """The schemas at one position of the binlog.

    It may be given more tables than are captured: a table that is renamed into a captured one is then known. `captures`
    says which tables are, by default those that were given. `charsets` are the default character sets of databases.
    """

    def __init__(
        self,
        schemas: Mapping[TableId, TableSchema],
        captures: Callable[[TableId], bool] | None = None,
        charsets: Mapping[str, str] | None = None,
        mariadb: bool = False,
        folds: bool = False,
    ) -> None:
        self._schemas = dict(schemas)
        self._captures = captures or frozenset(schemas).__contains__
        self._charsets = dict(charsets or {})
        self._mariadb = mariadb
        self._folds = folds
        self.notes: list[str] = []
        """Statements that were passed over, for whoever shows them; taken out by that one."""

    def schema(self, table: TableId) -> TableSchema | None:
        """The schema of a captured table."""
        return self._schemas.get(table) if self._captures(table) else None

    def captured(self) -> dict[TableId, TableSchema]:
        return {table: schema for table, schema in self._schemas.items() if self._captures(table)}

    def to_json(self) -> dict[str, Any]:
        schemas = [schema.to_json() for _, schema in sorted(self._schemas.items())]
        return {"schemas": schemas, "charsets": self._charsets, "mariadb": self._mariadb, "folds": self._folds}

    @classmethod
    def from_json(cls, record: dict[str, Any], captures: Callable[[TableId], bool] | None = None) -> Self:
        schemas = [TableSchema.from_json(each) for each in record["schemas"]]
        return cls(
            {schema.id: schema for schema in schemas}, captures, record["charsets"], record["mariadb"], record["folds"]
        )

    def concerns(self, database: str, text: str) -> bool:
        """Whether a statement names a captured table, by a look at its text."""
        return any(self._captures(table) for table in self._named(database, text))

    def apply(self, database: str, text: str, position: BinlogPosition) -> list[TableDdl]:
        """Change the schemas as the statement does; what it has done to captured tables."""
        text = without_comments(text)
        if not _ABOUT_TABLES.match(text):
            return []
        try:
            if gone := dropped_database(text):
                gone = gone.lower() if self._folds else gone
                found = [Effect("drop", table) for table in self._schemas if table.database == gone]
            else:
                found = effects(database, text, self._surroundings)
        except Unparsed as error:
            return self._unparsed(database, text, position, error)
        return [change for effect in found for change in self._applied(effect, text, position)]

    @property
    def _surroundings(self) -> Surroundings:
        return Surroundings(self._schemas.get, self._charsets, self._mariadb, self._folds)

    def _named(self, database: str, text: str) -> list[TableId]:
        found = _named(database, text)
        return [table.lower() for table in found] if self._folds else found

    def _unparsed(self, database: str, text: str, position: BinlogPosition, error: Unparsed) -> list[TableDdl]:
        for table in self._named(database, text):
            if self._captures(table):
                raise RowkindError(
                    "MYSQL_DDL_UNPARSED", table=table, position=position, reason=error, statement=text[:2000]
                )
            self._schemas.pop(table, None)
        self.notes.append(
            f"A statement at {position} was passed over, since it cannot be parsed ({error}): {text[:200]}"
        )
        return []

    def _applied(self, effect: Effect, text: str, position: BinlogPosition) -> list[TableDdl]:
        before = self._schemas.get(effect.table)
        if effect.kind in ("drop", "rename"):
            self._schemas.pop(effect.table, None)
        target = effect.renamed or effect.table
        if effect.after is not None:
            self._schemas[target] = effect.after
        captured_before, captured_after = self._captures(effect.table), self._captures(target)
        if not captured_before and not captured_after:
            return []
        if effect.after is None and captured_after and effect.kind in ("create", "alter", "rename"):
            reason = "the table that it starts from is not known"
            raise RowkindError(
                "MYSQL_DDL_UNPARSED", table=target, position=position, reason=reason, statement=text[:2000]
            )
        after = effect.after if captured_after else None
        if effect.kind == "truncate":
            after = before
        return [TableDdl(effect.table, effect.kind, before if captured_before else None, after, text, position)]


def _named(database: str, text: str) -> list[TableId]:
    """Tables that stand where a statement has its table; a guess that is made only for statements nobody can parse."""
    found = []
    for match in _TABLE_NAME.finditer(text):
        first = (match[1] or match[2] or "").replace("``", "`")
        second = (match[3] or match[4] or "").replace("``", "`")
        found.append(TableId(first, second) if second else TableId(database, first))
    return found
