"""One column's definition in CREATE or ALTER TABLE, as the server would declare it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rowkind.connectors.mysql.ddl_tokens import Tokens
from rowkind.connectors.mysql.schemas import ColumnSchema

_ALIASES = {
    "integer": "int", "int1": "tinyint", "int2": "smallint", "int3": "mediumint", "middleint": "mediumint",
    "int4": "int", "int8": "bigint", "dec": "decimal", "numeric": "decimal", "fixed": "decimal", "real": "double",
    "float4": "float", "float8": "double", "character": "char", "nchar": "char", "nvarchar": "varchar",
    "varcharacter": "varchar", "geomcollection": "geometrycollection",
}  # fmt: skip
_TEXTS = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"})
_AS_BYTES = {
    "char": "binary", "varchar": "varbinary", "tinytext": "tinyblob", "text": "blob", "mediumtext": "mediumblob",
    "longtext": "longblob",
}  # fmt: skip
_SIZES = ((255, "tiny"), (65535, ""), (16777215, "medium"), (4294967295, "long"))
_WIDTHS = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "year"})


@dataclass(frozen=True, slots=True)
class Defaults:
    """The character set and collation of a table, and whether it is MariaDB's, where JSON is text."""

    charset: str | None
    collation: str | None
    mariadb: bool


@dataclass(frozen=True, slots=True)
class Definition:
    """A column with what else its definition says."""

    column: ColumnSchema
    primary: bool = False
    first: bool = False
    after: str | None = None


def column_definition(tokens: Tokens, defaults: Defaults) -> Definition:
    """The name, the type, the rest."""
    name = tokens.name()
    column, serial = _type(tokens, name, defaults)
    return _attributes(tokens, column, defaults, serial)


def _type(tokens: Tokens, name: str, defaults: Defaults) -> tuple[ColumnSchema, bool]:
    national = tokens.accept("NATIONAL")
    word = tokens.take().text.lower()
    if word == "serial":
        return ColumnSchema(name, "bigint", nullable=False, unsigned=True), True
    if word in ("bool", "boolean"):
        return ColumnSchema(name, "tinyint", length=1), False
    if word == "long":
        binary = tokens.accept("VARBINARY")
        tokens.accept_any("VARCHAR", "VARCHARACTER")
        return ColumnSchema(name, "mediumblob" if binary else "mediumtext"), False
    if word == "double":
        tokens.accept("PRECISION")
    national = national or word in ("nchar", "nvarchar")
    kind = _ALIASES.get(word, word)
    if kind == "char" and tokens.accept("VARYING"):
        kind = "varchar"
    column = _sized(tokens, ColumnSchema(name, kind))
    if national:
        column = replace(column, charset="utf8mb3", collation=None)
    if kind == "json" and defaults.mariadb:
        column = replace(column, type="longtext", charset="utf8mb4", collation="utf8mb4_bin")
    return column, False


def _sized(tokens: Tokens, column: ColumnSchema) -> ColumnSchema:
    arguments = tokens.parenthesis() if tokens.peek().text == "(" else None
    if column.type in ("enum", "set"):
        parts = arguments.parts() if arguments else []
        return replace(column, values=tuple(part.take().text.rstrip(" ") for part in parts))
    numbers = [int(part.take().text) for part in arguments.parts()] if arguments else []
    match column.type:
        case "decimal":
            return replace(column, precision=numbers[0] if numbers else 10, scale=numbers[1] if numbers[1:] else 0)
        case "float" | "double" if len(numbers) == 2:
            return replace(column, precision=numbers[0], scale=numbers[1])
        case "float" if numbers:
            return replace(column, type="double" if numbers[0] > 24 else "float")
        case "time" | "datetime" | "timestamp":
            return replace(column, precision=numbers[0] if numbers else 0)
        case "char" | "binary" | "bit":
            return replace(column, length=numbers[0] if numbers else 1)
        case "text" | "blob" if numbers:
            size = next((prefix for most, prefix in _SIZES if numbers[0] <= most), "long")
            return replace(column, type=size + column.type)
        case kind if kind in _WIDTHS:
            return replace(column, length=1 if kind == "tinyint" and numbers == [1] else None)
        case _:
            return replace(column, length=numbers[0] if numbers else None)


def _attributes(tokens: Tokens, column: ColumnSchema, defaults: Defaults, serial: bool) -> Definition:
    found = Definition(column)
    charset, collation = column.charset, column.collation
    while not tokens.done:
        if tokens.accept_any("UNSIGNED", "ZEROFILL"):
            column = replace(column, unsigned=True)
        elif tokens.accept("CHARACTER", "SET") or tokens.accept("CHAR", "SET") or tokens.accept("CHARSET"):
            charset = _charset(tokens.name())
        elif tokens.accept("COLLATE"):
            collation = tokens.name().lower()
        elif tokens.accept("ASCII"):
            charset = "latin1"
        elif tokens.accept("UNICODE"):
            charset = "ucs2"
        elif tokens.accept("BYTE"):
            charset = "binary"
        elif tokens.accept("NOT", "NULL"):
            column = replace(column, nullable=False)
        elif tokens.accept("NULL"):
            column = replace(column, nullable=True)
        elif tokens.accept("PRIMARY"):
            tokens.accept("KEY")
            found = replace(found, primary=True)
        elif tokens.accept("COMMENT"):
            column = replace(column, comment=tokens.take().text)
        elif tokens.accept("GENERATED", "ALWAYS", "AS") or tokens.accept("AS"):
            tokens.parenthesis()
            column = replace(column, generated=True)
        elif tokens.accept("INVISIBLE"):
            column = replace(column, invisible=True)
        elif tokens.accept("COMPRESSED"):
            column = replace(column, compressed=True)
        elif tokens.accept("DEFAULT") or tokens.accept("ON", "UPDATE"):
            _skip_value(tokens)
        elif tokens.accept("FIRST"):
            found = replace(found, first=True)
        elif tokens.accept("AFTER"):
            found = replace(found, after=tokens.name())
        elif tokens.accept_any("CHECK", "REFERENCES"):
            _skip_reference(tokens)
        else:
            tokens.take()
    return replace(found, column=_with_charset(column, charset, collation, defaults))


def _skip_value(tokens: Tokens) -> None:
    """A default: a literal with its sign, an expression, or a function with its arguments."""
    while tokens.peek().text in ("-", "+"):
        tokens.take()
    if tokens.peek().text == "(":
        tokens.parenthesis()
        return
    first = tokens.take()
    # _utf8mb4'text', b'1' and DATE '2020-01-01' are two tokens
    if first.kind == "word" and tokens.peek().kind == "string":
        tokens.take()
    elif tokens.peek().text == "(":
        tokens.parenthesis()


def _skip_reference(tokens: Tokens) -> None:
    while not tokens.done and tokens.peek().text != "(":
        tokens.take()
    if not tokens.done:
        tokens.parenthesis()


def _charset(name: str) -> str:
    return "utf8mb3" if name.lower() == "utf8" else name.lower()


def _with_charset(column: ColumnSchema, charset: str | None, collation: str | None, defaults: Defaults) -> ColumnSchema:
    if column.type not in _TEXTS:
        return column
    if collation and not charset:
        charset = charset_of(collation, defaults.charset)
    if not charset:
        charset, collation = defaults.charset, defaults.collation
    if charset == "binary" and column.type in _AS_BYTES:
        return replace(column, type=_AS_BYTES[column.type])
    return replace(column, charset=charset, collation=collation)


def charset_of(collation: str, default: str | None) -> str | None:
    """The character set that a collation belongs to; MariaDB has collations for any."""
    head = collation.partition("_")[0]
    return default if head.startswith("uca") else _charset(head)
