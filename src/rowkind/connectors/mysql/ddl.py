"""What a DDL statement does to the schemas of tables.

The statement is cut by sqlglot's MySQL dialect; the grammar here is only that part of MySQL's and MariaDB's which
changes columns, keys or names. Everything else in an ALTER TABLE (indexes, partitions, options) is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rowkind.connectors.mysql.ddl_columns import Defaults, Definition, charset_of, column_definition
from rowkind.connectors.mysql.ddl_tokens import Tokens, Unparsed
from rowkind.connectors.mysql.schemas import ColumnSchema, TableId, TableSchema

_NOT_COLUMNS = frozenset(
    {"INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK", "PARTITION", "PERIOD", "SYSTEM", "CONSTRAINT"}
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What happens to one table: `after` is None when it is gone, or nobody knows what it is."""

    kind: str
    table: TableId
    after: TableSchema | None = None
    renamed: TableId | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a statement is read with."""

    schema: Callable[[TableId], TableSchema | None]
    charsets: Mapping[str, str]
    """The default character set of each database."""
    mariadb: bool
    folds: bool = False
    """Whether names of tables are in lower case, however a statement writes them (lower_case_table_names=1)."""

    def defaults(self, database: str) -> Defaults:
        return Defaults(self.charsets.get(database, "utf8mb4"), None, self.mariadb)


def effects(database: str, text: str, around: Surroundings) -> list[Effect]:
    """What the statement does to tables, in order; nothing when it is about something else. May raise Unparsed."""
    tokens = Tokens(text, folds=around.folds)
    verb = tokens.accept_any("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE")
    while tokens.accept("OR", "REPLACE") or tokens.accept_any("ONLINE", "IGNORE"):
        pass
    temporary = tokens.accept("TEMPORARY")
    if verb == "TRUNCATE":
        tokens.accept("TABLE")
        return [Effect("truncate", tokens.table(database))]
    if temporary or not (tokens.accept("TABLE") or tokens.accept("TABLES")):
        return []
    exists = tokens.accept("IF", "NOT", "EXISTS")
    tokens.accept("IF", "EXISTS")
    match verb:
        case "CREATE":
            return _create(tokens, database, around, exists)
        case "DROP":
            return [Effect("drop", part.table(database)) for part in tokens.parts()]
        case "RENAME":
            return [_rename(part, database, around) for part in tokens.parts()]
        case _:
            return _alter(tokens, database, around)


def dropped_database(text: str) -> str | None:
    """The database that a statement drops."""
    tokens = Tokens(text)
    if tokens.accept("DROP") and tokens.accept_any("DATABASE", "SCHEMA"):
        tokens.accept("IF", "EXISTS")
        return tokens.name()
    return None


def _create(tokens: Tokens, database: str, around: Surroundings, if_absent: bool) -> list[Effect]:
    table = tokens.table(database)
    if if_absent and around.schema(table) is not None:
        return []
    inner = tokens.parenthesis() if tokens.peek().text == "(" else tokens
    if inner.accept("LIKE"):
        like = around.schema(inner.table(database))
        return [Effect("create", table, replace(like, id=table) if like else None)]
    if inner is tokens:
        raise Unparsed("it has no list of columns")
    schema = _with_options(TableSchema(table, (), engine="InnoDB"), tokens, around.defaults(table.database))
    for part in inner.parts():
        schema = _with_item(schema, part, around)
    return [Effect("create", table, schema)]


def _with_options(schema: TableSchema, tokens: Tokens, defaults: Defaults) -> TableSchema:
    charset, collation, engine, comment = None, None, schema.engine, schema.comment
    while not tokens.done:
        if tokens.accept("CHARACTER", "SET") or tokens.accept("CHARSET"):
            tokens.accept("=")
            charset = tokens.name().lower()
        elif tokens.accept("COLLATE"):
            tokens.accept("=")
            collation = tokens.name().lower()
        elif tokens.accept("ENGINE"):
            tokens.accept("=")
            engine = tokens.name()
        elif tokens.accept("COMMENT"):
            tokens.accept("=")
            comment = tokens.take().text
        else:
            tokens.take()
    if collation and not charset:
        charset = charset_of(collation, schema.charset or defaults.charset)
    if not charset:
        charset, collation = schema.charset or defaults.charset, schema.collation or defaults.collation
    charset = "utf8mb3" if charset == "utf8" else charset
    return replace(schema, charset=charset, collation=collation, engine=engine, comment=comment)


def _with_item(schema: TableSchema, part: Tokens, around: Surroundings) -> TableSchema:
    """A column or a constraint in the list of a table."""
    key = _primary_key(part)
    if key:
        return _with_key(schema, key)
    if part.peek().word in _NOT_COLUMNS:
        return schema
    return _added(schema, column_definition(part, _defaults(schema, around)))


def _defaults(schema: TableSchema, around: Surroundings) -> Defaults:
    return Defaults(schema.charset, schema.collation, around.mariadb)


def _primary_key(part: Tokens) -> tuple[str, ...]:
    """The columns of a PRIMARY KEY clause, if this is one."""
    if part.peek().word == "CONSTRAINT":
        named = part.peek(1).word != "PRIMARY"
        if part.peek(1 + named).word != "PRIMARY":
            return ()
        part.take()
        if named:
            part.take()
    if not part.accept("PRIMARY", "KEY"):
        return ()
    while part.peek().text != "(":
        part.take()
    return tuple(column.name() for column in part.parenthesis().parts())


def _with_key(schema: TableSchema, key: tuple[str, ...]) -> TableSchema:
    lowered = {name.lower() for name in key}
    columns = (replace(c, nullable=False) if c.name.lower() in lowered else c for c in schema.columns)
    keyed = replace(schema, columns=tuple(columns))
    return replace(
        keyed, primary_key=tuple(keyed.column(name).name if keyed.index(name) is not None else name for name in key)
    )


def _added(schema: TableSchema, found: Definition, at: int | None = None) -> TableSchema:
    columns = list(schema.columns)
    place = len(columns) if at is None else at
    if found.first:
        place = 0
    elif found.after:
        before = schema.index(found.after)
        if before is None:
            raise Unparsed(f"there is no column {found.after}")
        place = before + 1
    column = found.column
    if column.name.lower() in {name.lower() for name in schema.primary_key}:
        column = replace(column, nullable=False)
    columns.insert(place, column)
    schema = replace(schema, columns=tuple(columns))
    return _with_key(schema, (column.name,)) if found.primary else schema


def _rename(part: Tokens, database: str, around: Surroundings) -> Effect:
    old = part.table(database)
    part.accept_any("WAIT", "NOWAIT")
    if part.peek().kind == "number":
        part.take()
    part.expect("TO")
    new = part.table(database)
    schema = around.schema(old)
    return Effect("rename", old, replace(schema, id=new) if schema else None, new)


def _alter(tokens: Tokens, database: str, around: Surroundings) -> list[Effect]:
    table = tokens.table(database)
    if tokens.accept("WAIT"):
        tokens.take()
    tokens.accept("NOWAIT")
    schema = around.schema(table)
    if schema is None:
        return [Effect("alter", table)]
    renamed = None
    for part in tokens.parts():
        new = _new_name(part, database)
        renamed = new or renamed
        schema = schema if new else _altered(schema, part, around)
    if renamed:
        return [Effect("rename", table, replace(schema, id=renamed), renamed)]
    return [Effect("alter", table, schema)]


def _new_name(part: Tokens, database: str) -> TableId | None:
    if part.peek().word != "RENAME" or part.peek(1).word in ("COLUMN", "INDEX", "KEY"):
        return None
    part.take()
    part.accept_any("TO", "AS", "=")
    return part.table(database)


def _altered(schema: TableSchema, part: Tokens, around: Surroundings) -> TableSchema:
    """One action of an ALTER TABLE."""
    match part.peek().word:
        case "ADD":
            return _add(schema, part, around)
        case "DROP":
            return _drop(schema, part)
        case "MODIFY" | "CHANGE":
            return _change(schema, part, around)
        case "RENAME":
            return _rename_column(schema, part)
        case "CONVERT":
            return _convert(schema, part)
        case "DEFAULT" | "CHARACTER" | "CHARSET" | "COLLATE" | "ENGINE" | "COMMENT":
            return _with_options(schema, part, _defaults(schema, around))
        case _:
            return schema


def _add(schema: TableSchema, part: Tokens, around: Surroundings) -> TableSchema:
    part.take()
    key = _primary_key(part)
    if key:
        return _with_key(schema, key)
    if part.peek().word in _NOT_COLUMNS:
        return schema
    part.accept("COLUMN")
    if_absent = part.accept("IF", "NOT", "EXISTS")
    if part.peek().text == "(":
        for inner in part.parenthesis().parts():
            schema = _with_item(schema, inner, around)
        return schema
    if if_absent and schema.index(part.peek().text) is not None:
        return schema
    return _added(schema, column_definition(part, _defaults(schema, around)))


def _drop(schema: TableSchema, part: Tokens) -> TableSchema:
    part.take()
    if part.accept("PRIMARY", "KEY"):
        return replace(schema, primary_key=())
    if part.peek().word in _NOT_COLUMNS:
        return schema
    part.accept("COLUMN")
    if_there = part.accept("IF", "EXISTS")
    name = part.name()
    at = schema.index(name)
    if at is None:
        if if_there:
            return schema
        raise Unparsed(f"there is no column {name}")
    key = tuple(each for each in schema.primary_key if each.lower() != name.lower())
    return replace(schema, columns=schema.columns[:at] + schema.columns[at + 1 :], primary_key=key)


def _change(schema: TableSchema, part: Tokens, around: Surroundings) -> TableSchema:
    changes_name = part.take().word == "CHANGE"
    part.accept("COLUMN")
    if_there = part.accept("IF", "EXISTS")
    old = part.name() if changes_name else part.peek().text
    at = schema.index(old)
    if at is None:
        if if_there:
            return schema
        raise Unparsed(f"there is no column {old}")
    found = column_definition(part, _defaults(schema, around))
    key = tuple(found.column.name if each.lower() == old.lower() else each for each in schema.primary_key)
    rest = replace(schema, columns=schema.columns[:at] + schema.columns[at + 1 :], primary_key=key)
    return _added(rest, found, at)


def _rename_column(schema: TableSchema, part: Tokens) -> TableSchema:
    part.take()
    if not part.accept("COLUMN"):
        return schema
    part.accept("IF", "EXISTS")
    old = part.name()
    part.expect("TO")
    new = part.name()
    if schema.index(old) is None:
        raise Unparsed(f"there is no column {old}")
    columns = tuple(replace(c, name=new) if c.name.lower() == old.lower() else c for c in schema.columns)
    key = tuple(new if each.lower() == old.lower() else each for each in schema.primary_key)
    return replace(schema, columns=columns, primary_key=key)


def _convert(schema: TableSchema, part: Tokens) -> TableSchema:
    """CONVERT TO CHARACTER SET changes every column that has one."""
    part.take()
    part.expect("TO")
    changed = _with_options(replace(schema, charset=None, collation=None), part, Defaults(None, None, False))

    def converted(column: ColumnSchema) -> ColumnSchema:
        return replace(column, charset=changed.charset, collation=changed.collation) if column.charset else column

    return replace(changed, columns=tuple(converted(column) for column in schema.columns))
