"""Type names of Flink SQL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot.tokenizer_core import Token

from rowkind import types as t
from rowkind.errors import nearest
from rowkind.sql.errors import Source
from rowkind.sql.tokens import STRINGS, Cursor
from rowkind.types import MAX_LENGTH, DataType, Field, Root

_PLAIN = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.TINYINT,
    "SMALLINT": t.SMALLINT,
    "INT": t.INT,
    "INTEGER": t.INT,
    "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT,
    "STRING": t.STRING,
    "BYTES": t.BYTES,
    "DATE": t.DATE,
}
# VARCHAR and VARBINARY without a length are as long as can be, as Flink's type system has it.
_LENGTHS = {"CHAR": 1, "VARCHAR": MAX_LENGTH, "BINARY": 1, "VARBINARY": MAX_LENGTH}
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
_UNSUPPORTED = {
    "RAW": "a value of an unknown Java class; use BYTES and decode it in an expression",
    "VARIANT": "use STRING and read it with JSON_VALUE",
    "BITMAP": "use BYTES",
    "STRUCTURED": "a Java class; use ROW<…> with the same fields",
    "SYMBOL": "it is internal to Flink",
    "DESCRIPTOR": "it exists only as an argument of a window function",
    "UNKNOWN": "give the column the type that its values have",
}
_NAMES = ("TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "DOUBLE", "INTERVAL", "ARRAY", "MULTISET", "MAP", "ROW", "NULL")
_KNOWN = (*_PLAIN, *_LENGTHS, *_DECIMALS, *_NAMES)
MONTHS = ("YEAR", "QUARTER", "MONTH")
SECONDS = ("WEEK", "DAY", "HOUR", "MINUTE", "SECOND")


def parse_type(text: str) -> DataType:
    """A type from its Flink name.

    >>> str(parse_type("map<string, row<a int not null>>"))
    'MAP<STRING, ROW<`a` INT NOT NULL>>'
    """
    cursor = Cursor(Source(text))
    parsed = data_type(cursor)
    if not cursor.done:
        raise cursor.unexpected("the end of the type")
    return parsed


def data_type(c: Cursor) -> DataType:
    """A type, with NOT NULL and the postfix forms `T ARRAY` and `T MULTISET`."""
    parsed = _nullability(c, _root(c))
    while postfix := c.accept_one("ARRAY", "MULTISET"):
        parsed = _nullability(c, DataType(Root[postfix], element=parsed))
    return parsed


def _nullability(c: Cursor, parsed: DataType) -> DataType:
    if c.accept("NOT", "NULL"):
        return parsed.not_null()
    # `RETURNING INT NULL ON EMPTY`: that NULL belongs to the clause after the type.
    if c.word(1) != "ON":
        c.accept("NULL")
    return parsed


def _root(c: Cursor) -> DataType:
    token, name = c.token, c.word()
    if name in _UNSUPPORTED:
        raise c.error("TYPE_NOT_SUPPORTED", token, type=name, reason=_UNSUPPORTED[name])
    if name not in _KNOWN or name == "NULL":
        if not c.is_name():
            raise c.unexpected("a type")
        raise c.error("UNKNOWN_TYPE", token, type=token.text, suggestion=nearest(name or token.text, _KNOWN))
    c.advance()
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _LENGTHS:
        return _with_length(c, token, name)
    if name in _DECIMALS:
        return _decimal(c, token)
    match name:
        case "DOUBLE":
            c.accept("PRECISION")
            return t.DOUBLE
        case "TIME":
            return _time(c, token)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _timestamp(c, token, name)
        case "INTERVAL":
            return _interval(c)
        case "MAP":
            return _map(c)
        case "ROW":
            return _row(c)
        case _:
            c.expect("<")
            element = data_type(c)
            c.expect(">")
            return DataType(Root[name], element=element)


def _with_length(c: Cursor, token: Token, name: str) -> DataType:
    length = _LENGTHS[name]
    if c.accept("("):
        length = c.integer("a length")
        c.expect(")")
        if not 1 <= length <= MAX_LENGTH:
            raise c.error("TYPE_OUT_OF_RANGE", token, type=f"{name}({length})", range=f"a length of 1 to {MAX_LENGTH}")
    return DataType(Root[name], length=length)


def _decimal(c: Cursor, token: Token) -> DataType:
    precision, scale = 10, 0
    if c.accept("("):
        precision = c.integer("a precision")
        if c.accept(","):
            scale = c.integer("a scale")
        c.expect(")")
    if not (1 <= precision <= 38 and 0 <= scale <= precision):
        name = f"DECIMAL({precision}, {scale})"
        raise c.error("TYPE_OUT_OF_RANGE", token, type=name, range="a precision of 1 to 38 and a scale up to it")
    return t.decimal(precision, scale)


def _time(c: Cursor, token: Token) -> DataType:
    parsed = DataType(Root.TIME, precision=_fraction(c, token, "TIME", 0))
    if c.at("WITH"):
        raise c.error("TYPE_NOT_SUPPORTED", token, type="TIME WITH TIME ZONE", reason="use TIME or TIMESTAMP_LTZ")
    c.accept("WITHOUT", "TIME", "ZONE")
    return parsed


def _timestamp(c: Cursor, token: Token, name: str) -> DataType:
    precision = _fraction(c, token, name, 6)
    if name == "TIMESTAMP_LTZ":
        return t.timestamp_ltz(precision)
    if c.accept("WITH", "LOCAL", "TIME", "ZONE"):
        return t.timestamp_ltz(precision)
    if c.at("WITH", "TIME", "ZONE"):
        reason = "Spark holds no time zone per value; use TIMESTAMP_LTZ (an instant) or TIMESTAMP (no zone)"
        raise c.error("TYPE_NOT_SUPPORTED", token, type="TIMESTAMP WITH TIME ZONE", reason=reason)
    c.accept("WITHOUT", "TIME", "ZONE")
    return t.timestamp(precision)


def _fraction(c: Cursor, token: Token, name: str, default: int) -> int:
    """The digits of a fraction of a second: Spark holds microseconds."""
    if not c.accept("("):
        return default
    precision = c.integer("a precision")
    c.expect(")")
    if precision > 6:
        raise c.error("TYPE_TOO_PRECISE", token, type=f"{name}({precision})", instead=f"{name}(6)")
    return precision


def _interval(c: Cursor) -> DataType:
    first, last = interval_units(c)
    return DataType(Root.INTERVAL_YEAR_MONTH if (last or first) in MONTHS else Root.INTERVAL_DAY_TIME)


def interval_units(c: Cursor) -> tuple[str, str | None]:
    """`DAY`, `DAY(3) TO SECOND(6)`; the precisions only bound the digits of a literal."""
    first, last = _unit(c), None
    if c.accept("TO"):
        last = _unit(c)
        if (first in MONTHS) != (last in MONTHS):
            raise c.error(
                "SQL_SYNTAX", c.peek(-1), expected="units of one kind of interval", found=f"{first} TO {last}"
            )
    return first, last


def _unit(c: Cursor) -> str:
    unit = c.accept_one(*MONTHS, *SECONDS, *(f"{u}S" for u in (*MONTHS, *SECONDS)))
    if unit is None:
        raise c.unexpected("a unit of time such as DAY or SECOND")
    if c.accept("("):
        c.separated(lambda: c.integer("a precision"))
        c.expect(")")
    return unit.removesuffix("S")


def _map(c: Cursor) -> DataType:
    c.expect("<")
    key = data_type(c)
    c.expect(",")
    value = data_type(c)
    c.expect(">")
    return t.map_of(key, value)


def _row(c: Cursor) -> DataType:
    closing = ")" if c.accept("(") else ">"
    if closing == ">":
        c.expect("<")
    start = c.token
    fields = tuple(c.separated(lambda: _field(c)))
    c.expect(closing)
    names = [f.name for f in fields]
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise c.error("DUPLICATE_COLUMN", start, name=twice)
    return DataType(Root.ROW, fields=fields)


def _field(c: Cursor) -> Field:
    # Any word may name a field: no other clause can start here.
    name = c.advance().text if c.token.token_type.name == "VAR" else c.name("a field name").name
    field = Field(name, data_type(c))
    return replace(field, comment=c.string("a comment")) if c.token.token_type in STRINGS else field
