"""Window table functions: TUMBLE, HOP, CUMULATE and SESSION."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.tokenizer_core import Token

import rowkind.sql.expressions as expressions
import rowkind.sql.queries as queries
import rowkind.sql.relations as relations
from rowkind.errors import RowkindError
from rowkind.sql.tokens import Cursor, placed
from rowkind.sql.tree_nodes import WindowTable

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
"""The parameters of each function, in order; OFFSET may be left out."""


def window_table(c: Cursor) -> WindowTable:
    """`TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)`, by position or by name (`DATA => TABLE t, …`)."""
    token = c.token
    function = c.advance().text.upper()
    found: dict[str, exp.Expr] = {}
    keys: list[exp.Expr] = []
    c.expect("(")
    for index, (name, place) in enumerate(_arguments(c)):
        parameter = name or (FUNCTIONS[function] + ("",))[min(index, len(FUNCTIONS[function]))]
        if parameter not in FUNCTIONS[function]:
            raise _problem(c, place, function, f"there is no parameter {parameter}" if name else "too many arguments")
        if parameter in found:
            raise _problem(c, place, function, f"{parameter} is given twice")
        found[parameter] = _value(c, function, parameter, keys)
    if missing := [p for p in FUNCTIONS[function] if p not in found and p != "OFFSET"]:
        raise _problem(c, token, function, f"{', '.join(missing)} is missing")
    c.expect(")")
    args = {p.lower(): value for p, value in found.items() if p != "DATA"}
    node = WindowTable(this=found["DATA"], function=function, partition_by=keys or None, **args)
    return placed(node, token)


def _arguments(c: Cursor) -> Iterator[tuple[str | None, Token]]:
    """Steps to each argument in turn and gives its name, if it has one."""
    while True:
        place = c.token
        name = None
        if c.word(1) == "=>":
            name = c.advance().text.upper()
            c.expect("=>")
        yield name, place
        if not c.accept(","):
            return


def _value(c: Cursor, function: str, parameter: str, keys: list[exp.Expr]) -> exp.Expr:
    if parameter == "DATA":
        return _input(c, function, keys)
    if parameter == "TIMECOL":
        return _descriptor(c, function)
    return expressions.expression(c)


def _input(c: Cursor, function: str, keys: list[exp.Expr]) -> exp.Expr:
    """`TABLE t [PARTITION BY a, b]`, or a query in parentheses."""
    token = c.token
    c.accept("TABLE")
    data = queries.subquery(c) if c.at("(") else relations.named_table(c)
    if c.accept("PARTITION", "BY"):
        if function != "SESSION":
            raise _problem(c, token, function, "only SESSION takes PARTITION BY")
        keys.extend(_keys(c))
    return data


def _keys(c: Cursor) -> list[exp.Expr]:
    """Without parentheses the list ends before an argument that is no column."""
    if c.at("("):
        return c.wrapped(lambda: expressions.expression(c))
    keys = [expressions.expression(c)]
    while c.at(",") and c.word(1) != "DESCRIPTOR" and c.word(2) != "=>":
        c.advance()
        keys.append(expressions.expression(c))
    return keys


def _descriptor(c: Cursor, function: str) -> exp.Expr:
    token = c.token
    if not c.accept("DESCRIPTOR", "("):
        raise _problem(c, token, function, "the time column must be written DESCRIPTOR(column)")
    name = c.name("the time column")
    if c.at(","):
        raise _problem(c, token, function, "there is one time column")
    c.expect(")")
    return placed(exp.Column(this=name), token)


def _problem(c: Cursor, token: Token, function: str, problem: str) -> RowkindError:
    return c.error("WINDOW_FUNCTION_ARGUMENT", token, function=function, problem=problem, usage=_usage(function))


def _usage(function: str) -> str:
    lengths = ", ".join(p.lower() for p in FUNCTIONS[function][2:] if p != "OFFSET")
    offset = " [, offset]" if "OFFSET" in FUNCTIONS[function] else ""
    keys = " [PARTITION BY key, …]" if function == "SESSION" else ""
    return f"Usage: TABLE({function}(TABLE t{keys}, DESCRIPTOR(time_column), {lengths}{offset}))."
