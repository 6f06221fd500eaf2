"""CREATE TABLE and CREATE VIEW."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot.tokenizer_core import Token

import rowkind.sql.expressions as expressions
import rowkind.sql.queries as queries
from rowkind.definitions import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    TableDefinition,
    ViewDefinition,
    Watermark,
)
from rowkind.sql.datatypes import data_type
from rowkind.sql.names import table_name
from rowkind.sql.statements import Like, Merge
from rowkind.sql.tokens import Cursor

_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")


@dataclass(slots=True)
class _Schema:
    """What the parentheses of CREATE TABLE define, as far as it is read."""

    columns: list[Column] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    constraint: str | None = None
    watermark: Watermark | None = None


def if_not_exists(c: Cursor) -> bool:
    if not c.at("IF"):
        return False
    c.expect("IF", "NOT", "EXISTS")
    return True


def create_table(c: Cursor, temporary: bool, line: int) -> tuple[TableDefinition, bool, Like | None]:
    """What follows CREATE [TEMPORARY] TABLE."""
    exists = if_not_exists(c)
    name = table_name(c).name
    schema = _schema(c) if c.at("(") else _Schema()
    comment = _comment(c)
    _refuse_partitions(c)
    options = properties(c) if c.accept("WITH") else {}
    like = _like(c) if c.accept("LIKE") else None
    if c.at("AS"):
        raise c.error("CREATE_TABLE_AS_NOT_SUPPORTED", table=name)
    definition = TableDefinition(
        name=name,
        columns=tuple(schema.columns),
        options=options,
        primary_key=schema.primary_key,
        constraint=schema.constraint,
        watermark=schema.watermark,
        comment=comment,
        temporary=temporary,
        line=line,
    )
    return definition, exists, like


def create_view(c: Cursor, temporary: bool, line: int) -> tuple[ViewDefinition, bool]:
    """What follows CREATE [TEMPORARY] VIEW."""
    exists = if_not_exists(c)
    name = table_name(c, "a view name").name
    columns = tuple(n.name for n in c.wrapped(lambda: c.name("a column name"))) if c.at("(") else ()
    comment = _comment(c)
    c.expect("AS")
    start, first = c.index, c.token
    queries.query(c)
    view = ViewDefinition(name, c.text_between(start, c.index), columns, comment, temporary, line)
    return replace(view, query_line=first.line, query_column=first.col), exists


def properties(c: Cursor) -> dict[str, str]:
    """`('key' = 'value', …)`."""
    options: dict[str, str] = {}
    if c.accept("(", ")"):
        return options
    for token, key, value in c.wrapped(lambda: _property(c)):
        if key in options:
            raise c.error("DUPLICATE_OPTION", token, option=key)
        options[key] = value
    return options


def _property(c: Cursor) -> tuple[Token, str, str]:
    token = c.token
    key = c.string("an option name in quotes")
    c.expect("=")
    return token, key, c.string("an option value in quotes")


def _schema(c: Cursor) -> _Schema:
    schema = _Schema()
    c.expect("(")
    while True:
        _element(c, schema)
        if not c.accept(","):
            break
    c.expect(")")
    return schema


def _element(c: Cursor, schema: _Schema) -> None:
    token = c.token
    if c.accept("WATERMARK", "FOR"):
        _watermark(c, schema, token)
    elif c.word() in ("PRIMARY", "CONSTRAINT", "UNIQUE"):
        constraint = c.name("a constraint name").name if c.accept("CONSTRAINT") else None
        _refuse_unique(c)
        c.expect("PRIMARY", "KEY")
        columns = tuple(n.name for n in c.wrapped(lambda: c.name("a column name")))
        _primary_key(c, schema, columns, constraint, token)
    else:
        _column(c, schema)


def _column(c: Cursor, schema: _Schema) -> None:
    token = c.token
    name = c.name("a column name").name
    if any(column.name == name for column in schema.columns):
        raise c.error("DUPLICATE_COLUMN", token, name=name)
    if c.accept("AS"):
        start, first = c.index, c.token
        expressions.expression(c)
        text = c.text_between(start, c.index)
        schema.columns.append(ComputedColumn(name, text, _comment(c), first.line, first.col))
        return
    type = data_type(c)
    if c.accept("METADATA"):
        key = c.string("a metadata key in quotes") if c.accept("FROM") else name
        virtual = c.accept("VIRTUAL") is not None
        schema.columns.append(MetadataColumn(name, type, key, virtual, _comment(c)))
        return
    _column_key(c, schema, name)
    if c.accept("NOT", "NULL"):
        type = type.not_null()
    schema.columns.append(PhysicalColumn(name, type, _comment(c)))


def _column_key(c: Cursor, schema: _Schema, name: str) -> None:
    """`[CONSTRAINT name] PRIMARY KEY NOT ENFORCED` after a column."""
    token = c.token
    constraint = c.name("a constraint name").name if c.accept("CONSTRAINT") else None
    _refuse_unique(c)
    if c.accept("PRIMARY"):
        c.expect("KEY")
        _primary_key(c, schema, (name,), constraint, token)
    elif constraint:
        raise c.unexpected("PRIMARY KEY")


def _primary_key(c: Cursor, schema: _Schema, columns: tuple[str, ...], constraint: str | None, token: Token) -> None:
    if schema.primary_key:
        raise c.error("PRIMARY_KEY_TWICE", token)
    if not c.accept("NOT", "ENFORCED"):
        raise c.error("PRIMARY_KEY_ENFORCED", token)
    if twice := next((n for n in columns if columns.count(n) > 1), None):
        raise c.error("DUPLICATE_COLUMN", token, name=twice)
    schema.primary_key, schema.constraint = columns, constraint


def _refuse_unique(c: Cursor) -> None:
    if c.at("UNIQUE"):
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="UNIQUE", instead="Use PRIMARY KEY (…) NOT ENFORCED.")


def _watermark(c: Cursor, schema: _Schema, token: Token) -> None:
    if schema.watermark:
        raise c.error("WATERMARK_TWICE", token)
    names = [c.name("the time column").name]
    while c.accept("."):
        names.append(c.name("a field name").name)
    c.expect("AS")
    start, first = c.index, c.token
    expressions.expression(c)
    schema.watermark = Watermark(".".join(names), c.text_between(start, c.index), first.line, first.col)


def _comment(c: Cursor) -> str | None:
    return c.string("a comment in quotes") if c.accept("COMMENT") else None


def _refuse_partitions(c: Cursor) -> None:
    if c.at("PARTITIONED", "BY"):
        instead = "A topic's partitions follow from the message key: see 'key.fields' and 'sink.partitioner'."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="PARTITIONED BY", instead=instead)
    if c.at("DISTRIBUTED"):
        instead = "Set the number of partitions of a new topic with 'sink.topic.partitions'."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="DISTRIBUTED BY", instead=instead)


def _like(c: Cursor) -> Like:
    source = table_name(c).name
    choices: list[tuple[Merge, str]] = []
    if c.accept("("):
        while strategy := c.accept_one(*Merge):
            feature = c.accept_one(*_FEATURES)
            if feature is None:
                raise c.unexpected(", ".join(_FEATURES))
            choices.append((Merge[strategy], feature))
        if not choices:
            raise c.unexpected(", ".join(Merge))
        c.expect(")")
    return Like(source, tuple(choices))
