"""Tables as the server declares them, to and from JSON: they are kept in checkpoints as the history of schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rowkind.connectors.mysql.connection import rows

if TYPE_CHECKING:
    import pymysql

SYSTEM_SCHEMAS = ("information_schema", "mysql", "performance_schema", "sys")


class TableId(NamedTuple):
    """A table by database and name."""

    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"

    def lower(self) -> TableId:
        return TableId(self.database.lower(), self.table.lower())


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column as it is declared.

    `type` is the bare name in lower case (`int`, `varchar`, `enum`). `length` is that of characters, bytes or bits, and
    the display width of tinyint; `precision` and `scale` are those of numbers, `precision` alone the digits of a
    fraction of seconds.
    """

    name: str
    type: str
    nullable: bool = True
    unsigned: bool = False
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    charset: str | None = None
    collation: str | None = None
    values: tuple[str, ...] = ()
    """The members of an ENUM or SET."""
    generated: bool = False
    invisible: bool = False
    compressed: bool = False
    """MariaDB's column compression."""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table: its columns in the order of its definition, and its primary key in the order of the constraint."""

    id: TableId
    columns: tuple[ColumnSchema, ...]
    primary_key: tuple[str, ...] = ()
    charset: str | None = None
    collation: str | None = None
    """The defaults for columns that a later ALTER adds."""
    engine: str = "InnoDB"
    comment: str = ""

    def column(self, name: str) -> ColumnSchema:
        """A column by its name; names of columns have no case."""
        return next(c for c in self.columns if c.name.lower() == name.lower())

    def index(self, name: str) -> int | None:
        """The place of a column, or None."""
        return next((i for i, c in enumerate(self.columns) if c.name.lower() == name.lower()), None)

    def with_columns(self, columns: Iterable[ColumnSchema]) -> TableSchema:
        return replace(self, columns=tuple(columns))

    def to_json(self) -> dict[str, Any]:
        record = asdict(self)
        defaults = asdict(ColumnSchema("", ""))
        record["id"] = list(self.id)
        record["columns"] = [
            {k: v for k, v in column.items() if k in ("name", "type") or v != defaults[k]}
            for column in record["columns"]
        ]
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        columns = tuple(ColumnSchema(**{**c, "values": tuple(c.get("values", ()))}) for c in record["columns"])
        key = tuple(record["primary_key"])
        return cls(**{**record, "id": TableId(*record["id"]), "columns": columns, "primary_key": key})


def list_tables(connection: pymysql.Connection[Any]) -> list[TableId]:
    """Every table of the server that this user may see, views and system schemas left out."""
    names = ", ".join(f"'{name}'" for name in SYSTEM_SCHEMAS)
    found = rows(
        connection,
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' "
        f"AND TABLE_SCHEMA NOT IN ({names}) ORDER BY TABLE_SCHEMA, TABLE_NAME",
    )
    return [TableId(*row) for row in found]


def read_schemas(connection: pymysql.Connection[Any], tables: Sequence[TableId]) -> dict[TableId, TableSchema]:
    """The schemas of tables as they are now; one that is not there is left out. Three statements for each database."""
    found: dict[TableId, TableSchema] = {}
    for database in sorted({table.database for table in tables}):
        wanted = {table.table for table in tables if table.database == database}
        found |= _schemas_of(connection, database, wanted)
    return {table: found[table] for table in tables if table in found}


def _schemas_of(connection: pymysql.Connection[Any], database: str, wanted: set[str]) -> dict[TableId, TableSchema]:
    tables = rows(
        connection,
        "SELECT t.TABLE_NAME, c.CHARACTER_SET_NAME, t.TABLE_COLLATION, t.ENGINE, t.TABLE_COMMENT FROM "
        "information_schema.TABLES t LEFT JOIN information_schema.COLLATIONS c "
        "ON c.COLLATION_NAME = t.TABLE_COLLATION WHERE t.TABLE_SCHEMA = %s AND t.TABLE_TYPE = 'BASE TABLE'",
        database,
    )
    columns: dict[str, list[ColumnSchema]] = {}
    for table, *declared in rows(connection, _COLUMNS, database):
        if table in wanted:
            columns.setdefault(table, []).append(_column(*declared))
    keys: dict[str, list[str]] = {}
    for table, column in rows(connection, _KEYS, database):
        keys.setdefault(table, []).append(column)
    return {
        TableId(database, name): TableSchema(
            TableId(database, name),
            tuple(columns[name]),
            tuple(keys.get(name, ())),
            charset,
            collation,
            engine,
            comment,
        )
        for name, charset, collation, engine, comment in tables
        if name in columns
    }


_COLUMNS = (
    "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA, "
    "COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s ORDER BY TABLE_NAME, ORDINAL_POSITION"
)
_KEYS = (
    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = %s "
    "AND INDEX_NAME = 'PRIMARY' ORDER BY TABLE_NAME, SEQ_IN_INDEX"
)


def _column(
    name: str, declared: str, nullable: str, charset: str | None, collation: str | None, extra: str, comment: str
) -> ColumnSchema:
    extra = extra.upper()
    column = replace(declared_type(name, declared), nullable=nullable == "YES", charset=charset, collation=collation)
    generated = "GENERATED" in extra and "DEFAULT_GENERATED" not in extra.split()
    return replace(column, generated=generated, invisible="INVISIBLE" in extra, comment=comment)


_TYPE = re.compile(r"(?P<name>[a-z0-9_ ]+?)\s*(?:\((?P<arguments>.*)\))?(?P<rest>(?: [^()']*|/\*.*\*/)*)", re.I | re.S)
_ESCAPES = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "Z": "\x1a"}
_NUMBERS = {"decimal", "float", "double"}
_WIDTHS = {"tinyint", "smallint", "mediumint", "int", "bigint", "year"}
_FRACTIONS = {"time", "datetime", "timestamp"}


def declared_type(name: str, text: str) -> ColumnSchema:
    """A column from the server's text of its type.

    >>> declared_type("a", "decimal(10,2) unsigned").precision
    10
    """
    match = _TYPE.fullmatch(text.strip())
    assert match, text
    words = match["name"].lower().split()
    arguments, rest = match["arguments"], (match["rest"] or "").lower()
    bare = " ".join(word for word in words if word not in ("unsigned", "zerofill"))
    column = ColumnSchema(
        name,
        bare,
        unsigned="unsigned" in rest or "zerofill" in rest or "unsigned" in words,
        compressed="compressed" in rest,
    )
    if bare in ("enum", "set"):
        return replace(column, values=quoted_values(arguments or ""))
    numbers = [int(number) for number in (arguments or "").split(",") if number.strip()]
    if bare in _FRACTIONS:
        return replace(column, precision=numbers[0] if numbers else 0)
    if bare in _NUMBERS and len(numbers) == 2:
        return replace(column, precision=numbers[0], scale=numbers[1])
    if bare in _WIDTHS:
        # A width to display says nothing of the values, but TINYINT(1) is a boolean.
        return replace(column, length=1 if bare == "tinyint" and numbers == [1] else None)
    return replace(column, length=numbers[0] if numbers else None)


def quoted_values(text: str) -> tuple[str, ...]:
    """The members of `'a','it''s'`."""
    found = re.findall(r"'((?:[^'\\]|''|\\.)*)'", text, re.S)
    return tuple(
        re.sub(r"''|\\(.)", lambda m: _ESCAPES.get(m[1], m[1]) if m[1] else "'", value, flags=re.S) for value in found
    )
