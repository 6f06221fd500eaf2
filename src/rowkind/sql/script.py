"""Scripts: one statement after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

import rowkind.sql.expressions as expressions
import rowkind.sql.queries as queries
from rowkind.sql import refused, tables
from rowkind.sql.errors import Source
from rowkind.sql.hints import table_options
from rowkind.sql.names import table_name
from rowkind.sql.statements import (
    CreateTable,
    CreateView,
    Describe,
    Drop,
    Explain,
    Insert,
    Query,
    Reset,
    Select,
    Set,
    ShowCreate,
    ShowTables,
    Statement,
    StatementSet,
)
from rowkind.sql.tokens import STRINGS, Cursor

T = TypeVar("T")

_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


def parse_script(text: str, file: str | None = None) -> list[Statement]:
    """The statements of a script in order; positions in them are those of the script.

    >>> [type(s).__name__ for s in parse_script("SET 'a' = 'b'; SELECT 1")]
    ['Set', 'Select']
    """
    c = Cursor(Source(text, file))
    found: list[Statement] = []
    while True:
        while c.accept(";"):
            pass
        if c.done:
            return found
        found.append(_guarded(c, statement))
        if not c.done and not c.at(";"):
            raise c.unexpected("';' or the end of the statement")


def parse_query(text: str, *, line: int = 1, column: int = 1, origin: str | None = None) -> Query:
    """A query, such as a view's; `line` and `column` are where it starts, `origin` names what holds it."""
    return _whole(Source(text, None, line, column, origin), queries.query)


def parse_expression(text: str, *, line: int = 1, column: int = 1, origin: str | None = None) -> exp.Expr:
    """A scalar expression, such as a computed column's."""
    return _whole(Source(text, None, line, column, origin), expressions.expression)


def _whole(source: Source, parse: Callable[[Cursor], T]) -> T:
    c = Cursor(source)
    found = _guarded(c, parse)
    if not c.done:
        raise c.unexpected("the end of the text")
    return found


def _guarded(c: Cursor, parse: Callable[[Cursor], T]) -> T:
    try:
        return parse(c)
    except RecursionError:
        raise c.error("TEXT_TOO_DEEP") from None


def statement(c: Cursor) -> Statement:
    """One statement, without the semicolon after it."""
    start = c.index
    refused.check(c)
    parse = _STATEMENTS.get(c.word())
    if parse is None:
        raise c.unexpected("a statement such as CREATE TABLE, INSERT INTO, SELECT or SET")
    return parse(c, start)


def _place(c: Cursor, start: int) -> tuple[str, int, int]:
    """Text, line and column of a statement that started at this token and has just been read."""
    first = c.tokens[start]
    return c.text_between(start, c.index), first.line, first.col


def _create(c: Cursor, start: int) -> Statement:
    line = c.expect("CREATE").line
    temporary = c.accept("TEMPORARY") is not None
    if c.accept("TABLE"):
        table, exists, like = tables.create_table(c, temporary, line)
        return CreateTable(*_place(c, start), table, exists, like)
    if c.accept("VIEW"):
        view, exists = tables.create_view(c, temporary, line)
        return CreateView(*_place(c, start), view, exists)
    raise c.unexpected("TABLE or VIEW")


def _drop(c: Cursor, start: int) -> Drop:
    c.expect("DROP")
    temporary = c.accept("TEMPORARY") is not None
    kind = c.accept_one("TABLE", "VIEW")
    if kind is None:
        raise c.unexpected("TABLE or VIEW")
    exists = False
    if c.at("IF"):
        c.expect("IF", "EXISTS")
        exists = True
    name = table_name(c).name
    return Drop(*_place(c, start), kind == "VIEW", name, exists, temporary)


def _select(c: Cursor, start: int) -> Select:
    query = queries.query(c)
    return Select(*_place(c, start), query)


def _insert(c: Cursor, start: int) -> Insert:
    token = c.expect("INSERT")
    if c.at("OVERWRITE"):
        raise c.error("INSERT_OVERWRITE_NOT_SUPPORTED", token)
    c.expect("INTO")
    table = table_name(c).name
    options = table_options(c)
    if c.at("PARTITION"):
        instead = "Kafka tables have no partition columns; select the values instead."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="INSERT INTO … PARTITION", instead=instead)
    columns = None
    if c.at("(") and c.word(1) not in ("SELECT", "WITH", "VALUES", "("):
        columns = tuple(n.name for n in c.wrapped(lambda: c.name("a column name")))
    query = queries.query(c)
    conflict = None
    if c.accept("ON", "CONFLICT"):
        c.expect("DO")
        conflict = c.accept_one("NOTHING", "ERROR", "DEDUPLICATE")
        if conflict is None:
            raise c.unexpected("NOTHING, ERROR or DEDUPLICATE")
    return Insert(*_place(c, start), table, query, columns, conflict, options)


def _execute(c: Cursor, start: int) -> Statement:
    """EXECUTE STATEMENT SET BEGIN … END, or EXECUTE before a single statement."""
    c.expect("EXECUTE")
    if c.accept("STATEMENT", "SET"):
        c.expect("BEGIN")
        return _statement_set(c, start)
    match c.word():
        case "INSERT":
            return _insert(c, start)
        case "SELECT" | "WITH" | "VALUES":
            return _select(c, start)
    raise c.unexpected("STATEMENT SET BEGIN, INSERT or SELECT")


def _begin(c: Cursor, start: int) -> StatementSet:
    """The older form: BEGIN STATEMENT SET; … END;"""
    c.expect("BEGIN", "STATEMENT", "SET")
    c.expect(";")
    return _statement_set(c, start)


def _statement_set(c: Cursor, start: int) -> StatementSet:
    inserts: list[Insert] = []
    while not c.accept("END"):
        if not c.at("INSERT"):
            raise c.unexpected("INSERT INTO or END")
        inserts.append(_insert(c, c.index))
        c.expect(";")
        while c.accept(";"):
            pass
    if not inserts:
        raise c.error("SQL_SYNTAX", c.peek(-1), expected="INSERT INTO", found="a statement set without statements")
    return StatementSet(*_place(c, start), tuple(inserts))


def _set(c: Cursor, start: int) -> Set:
    c.expect("SET")
    if c.done or c.at(";"):
        return Set(*_place(c, start))
    key = _setting(c, "a key in quotes", "=")
    c.expect("=")
    value = _setting(c, "a value in quotes", ";")
    return Set(*_place(c, start), key, value)


def _reset(c: Cursor, start: int) -> Reset:
    c.expect("RESET")
    if c.done or c.at(";"):
        return Reset(*_place(c, start))
    key = _setting(c, "a key in quotes", ";")
    return Reset(*_place(c, start), key)


def _setting(c: Cursor, what: str, stop: str) -> str:
    """A quoted text, or a bare one such as `table.dml-sync` or `5 s`, up to the stop or the end."""
    if c.token.token_type in STRINGS:
        return c.string(what)
    start = c.index
    while not c.done and not c.at(stop) and not c.at(";"):
        c.advance()
    if start == c.index:
        raise c.unexpected(what)
    return c.text_between(start, c.index)


def _explain(c: Cursor, start: int) -> Explain:
    c.expect("EXPLAIN")
    details: list[str] = []
    if not c.accept("PLAN", "FOR"):
        while detail := c.accept_one(*_DETAILS):
            details.append(detail)
            if not c.accept(","):
                break
    inner = c.index
    target: Statement
    match c.word():
        case "INSERT":
            target = _insert(c, inner)
        case "STATEMENT":
            c.expect("STATEMENT", "SET", "BEGIN")
            target = _statement_set(c, inner)
        case "EXECUTE":
            target = _execute(c, inner)
        case "SELECT" | "WITH" | "VALUES" | "(":
            target = _select(c, inner)
        case _:
            raise c.unexpected("a query, INSERT INTO or STATEMENT SET")
    assert isinstance(target, Select | Insert | StatementSet)
    return Explain(*_place(c, start), target, tuple(details))


def _describe(c: Cursor, start: int) -> Describe:
    c.advance()
    c.accept("EXTENDED")
    name = table_name(c).name
    return Describe(*_place(c, start), name)


def _show(c: Cursor, start: int) -> Statement:
    c.expect("SHOW")
    if kind := c.accept_one("TABLES", "VIEWS"):
        return ShowTables(*_place(c, start), kind == "VIEWS")
    if c.accept("CREATE"):
        kind = c.accept_one("TABLE", "VIEW")
        if kind is None:
            raise c.unexpected("TABLE or VIEW")
        name = table_name(c).name
        return ShowCreate(*_place(c, start), kind == "VIEW", name)
    raise c.unexpected("TABLES, VIEWS, CREATE TABLE or CREATE VIEW")


_STATEMENTS: dict[str, Callable[[Cursor, int], Statement]] = {
    "CREATE": _create,
    "DROP": _drop,
    "SELECT": _select,
    "WITH": _select,
    "VALUES": _select,
    "(": _select,
    "INSERT": _insert,
    "EXECUTE": _execute,
    "BEGIN": _begin,
    "SET": _set,
    "RESET": _reset,
    "EXPLAIN": _explain,
    "DESCRIBE": _describe,
    "DESC": _describe,
    "SHOW": _show,
}
