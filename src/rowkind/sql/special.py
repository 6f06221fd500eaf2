"""Functions with a syntax of their own: each parser starts after the opening parenthesis and stops at the closing."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

import rowkind.sql.calls as calls
import rowkind.sql.expressions as expressions
from rowkind.sql.datatypes import data_type
from rowkind.sql.tokens import Cursor, placed
from rowkind.sql.tree_nodes import JsonCall, type_node

UNITS = (
    *("MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"),
    *("MILLISECOND", "MICROSECOND", "NANOSECOND", "DOW", "ISODOW", "DOY", "ISOYEAR", "EPOCH", "FRAC_SECOND"),
)


def _cast(c: Cursor, name: str) -> exp.Expr:
    value = expressions.expression(c)
    c.expect("AS")
    token = c.token
    target = placed(type_node(data_type(c)), token)
    return (exp.TryCast if name == "TRY_CAST" else exp.Cast)(this=value, to=target)


def _unit(c: Cursor) -> exp.Var:
    token = c.token
    word = c.word().removeprefix("SQL_TSI_")
    unit = next((u for u in UNITS if word in (u, f"{u}S")), None)
    if unit is None:
        raise c.unexpected("a unit of time such as DAY or SECOND")
    c.advance()
    return placed(exp.Var(this=unit), token)


def _extract(c: Cursor, name: str) -> exp.Expr:
    unit = _unit(c)
    c.expect("FROM")
    return exp.Extract(this=unit, expression=expressions.expression(c))


def _unit_first(c: Cursor, name: str) -> exp.Expr:
    arguments: list[exp.Expr] = [_unit(c)]
    for _ in range(2):
        c.expect(",")
        arguments.append(expressions.expression(c))
    return _anonymous(name, *arguments)


def _rounding(c: Cursor, name: str) -> exp.Expr:
    """`CEIL(x)` or `CEIL(x TO unit)`."""
    value = expressions.expression(c)
    return _anonymous(name, value, _unit(c)) if c.accept("TO") else _anonymous(name, value, *_rest(c))


def _position(c: Cursor, name: str) -> exp.Expr:
    # The operand stops before IN, so it is parsed as a call's argument would be without predicates.
    wanted = expressions.operand(c)
    c.expect("IN")
    text = expressions.expression(c)
    return (
        _anonymous(name, wanted, text, expressions.expression(c))
        if c.accept("FROM")
        else _anonymous(name, wanted, text)
    )


def _substring(c: Cursor, name: str) -> exp.Expr:
    value = expressions.expression(c)
    if not c.accept("FROM"):
        return _anonymous(name, value, *_rest(c))
    start = expressions.expression(c)
    return _anonymous(name, value, start, *([expressions.expression(c)] if c.accept("FOR") else []))


def _trim(c: Cursor, name: str) -> exp.Expr:
    """`TRIM(x)` has one argument; every longer form has three: the side, the characters, the text."""
    token = c.token
    side = c.accept_one("BOTH", "LEADING", "TRAILING")
    if side is None:
        first = expressions.expression(c)
        if not c.accept("FROM"):
            return _anonymous(name, first, *_rest(c))
        return _anonymous(name, exp.Var(this="BOTH"), first, expressions.expression(c))
    characters: exp.Expr = exp.Literal.string(" ") if c.at("FROM") else expressions.expression(c)
    c.expect("FROM")
    return _anonymous(name, placed(exp.Var(this=side), token), characters, expressions.expression(c))


def _overlay(c: Cursor, name: str) -> exp.Expr:
    arguments = [expressions.expression(c)]
    if not c.accept("PLACING"):
        return _anonymous(name, *arguments, *_rest(c))
    arguments.append(expressions.expression(c))
    c.expect("FROM")
    arguments.append(expressions.expression(c))
    if c.accept("FOR"):
        arguments.append(expressions.expression(c))
    return _anonymous(name, *arguments)


def _json_path(c: Cursor, name: str) -> exp.Expr:
    """JSON_EXISTS, JSON_VALUE, JSON_QUERY: input, path, and what to do when nothing fits."""
    arguments = [expressions.expression(c)]
    c.expect(",")
    arguments.append(expressions.expression(c))
    node = JsonCall(this=name, expressions=arguments)
    if c.at("PASSING"):
        instead = "Put the value into the path with ||."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause=f"PASSING in {name}", instead=instead)
    if c.accept("RETURNING"):
        node.set("returning", type_node(data_type(c)))
    node.set("wrapper", _wrapper(c))
    while not c.at(")"):
        value = _otherwise(c)
        c.expect("ON")
        key = c.accept_one("EMPTY", "ERROR")
        if key is None:
            raise c.unexpected("EMPTY or ERROR")
        node.set(f"on_{key.lower()}", value)
    return node


def _wrapper(c: Cursor) -> str | None:
    kind = None
    if c.accept("WITHOUT"):
        kind = "WITHOUT"
    elif c.accept("WITH"):
        kind = c.accept_one("CONDITIONAL", "UNCONDITIONAL") or "UNCONDITIONAL"
    if kind:
        c.accept("ARRAY")
        c.expect("WRAPPER")
    return kind


def _otherwise(c: Cursor) -> exp.Expr:
    token = c.token
    if c.accept("DEFAULT"):
        return expressions.expression(c)
    if c.accept("EMPTY"):
        kind = c.accept_one("ARRAY", "OBJECT")
        if kind is None:
            raise c.unexpected("ARRAY or OBJECT")
        return placed(exp.Var(this=f"EMPTY_{kind}"), token)
    word = c.accept_one("NULL", "ERROR", "TRUE", "FALSE", "UNKNOWN")
    if word is None:
        raise c.unexpected("NULL, ERROR or DEFAULT … ON EMPTY or ON ERROR")
    return placed(exp.Var(this=word), token)


def _json_object(c: Cursor, name: str) -> exp.Expr:
    members = [] if c.at(")") or _null_clause_ahead(c) else c.separated(lambda: _member(c))
    return JsonCall(this=name, expressions=members, on_null=_on_null(c))


def _member(c: Cursor) -> exp.Expr:
    token = c.token
    if c.at("KEY") and c.word(1) not in ("VALUE", ":", "."):
        c.advance()
    key = expressions.expression(c)
    if not c.accept("VALUE") and not c.accept(":"):
        raise c.unexpected("VALUE")
    return placed(exp.Tuple(expressions=[key, expressions.expression(c)]), token)


def _json_array(c: Cursor, name: str) -> exp.Expr:
    members = [] if c.at(")") or _null_clause_ahead(c) else c.separated(lambda: expressions.expression(c))
    return JsonCall(this=name, expressions=members, on_null=_on_null(c))


def _null_clause_ahead(c: Cursor) -> bool:
    return c.word() in ("NULL", "ABSENT") and c.word(1) == "ON"


def _on_null(c: Cursor) -> str | None:
    if not _null_clause_ahead(c):
        return None
    kind = c.advance().text.upper()
    c.expect("ON", "NULL")
    return kind


def _anonymous(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _rest(c: Cursor) -> list[exp.Expr]:
    return c.separated(lambda: calls.argument(c)) if c.accept(",") else []


FORMS: dict[str, Callable[[Cursor, str], exp.Expr]] = {
    "CAST": _cast,
    "TRY_CAST": _cast,
    "EXTRACT": _extract,
    "TIMESTAMPADD": _unit_first,
    "TIMESTAMPDIFF": _unit_first,
    "CEIL": _rounding,
    "CEILING": _rounding,
    "FLOOR": _rounding,
    "POSITION": _position,
    "SUBSTRING": _substring,
    "TRIM": _trim,
    "OVERLAY": _overlay,
    "JSON_EXISTS": _json_path,
    "JSON_VALUE": _json_path,
    "JSON_QUERY": _json_path,
    "JSON_OBJECT": _json_object,
    "JSON_OBJECTAGG": _json_object,
    "JSON_ARRAY": _json_array,
    "JSON_ARRAYAGG": _json_array,
}
