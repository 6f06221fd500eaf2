"""Scalar expressions, from the loosest operator to the tightest, with Flink's precedences."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

import rowkind.sql.queries as queries
from rowkind.sql import calls
from rowkind.sql.literals import literal
from rowkind.sql.tokens import Cursor, placed

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_SUMS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub}
_PRODUCTS: dict[str, type[exp.Binary]] = {"*": exp.Mul, "/": exp.Div, "%": exp.Mod, "||": exp.DPipe}
_QUERY_WORDS = ("SELECT", "WITH", "VALUES")
_QUERY_TAILS = ("UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH")


def expression(c: Cursor) -> exp.Expr:
    """Any scalar expression."""
    left = _and(c)
    while token := c.accept("OR"):
        left = _binary(exp.Or, left, _and(c), token)
    return left


def _and(c: Cursor) -> exp.Expr:
    left = _not(c)
    while token := c.accept("AND"):
        left = _binary(exp.And, left, _not(c), token)
    return left


def _not(c: Cursor) -> exp.Expr:
    if token := c.accept("NOT"):
        return placed(exp.Not(this=_not(c)), token)
    return _is(c)


def _is(c: Cursor) -> exp.Expr:
    left = _comparison(c)
    while token := c.accept("IS"):
        negated = c.accept("NOT")
        test = placed(exp.Is(this=left, expression=_is_what(c)), token)
        left = placed(exp.Not(this=test), token) if negated else test
    return left


def _is_what(c: Cursor) -> exp.Expr:
    token = c.token
    match c.word():
        case "NULL" | "UNKNOWN":
            c.advance()
            return placed(exp.Null(), token)
        case "TRUE" | "FALSE":
            return placed(exp.Boolean(this=c.advance().text.upper() == "TRUE"), token)
        case "JSON":
            c.advance()
            return placed(exp.JSON(this=c.accept_one("VALUE", "OBJECT", "ARRAY", "SCALAR")), token)
    raise c.unexpected("NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM")


def _comparison(c: Cursor) -> exp.Expr:
    left = _predicate(c)
    while (operator := _COMPARISONS.get(c.word())) is not None:
        token = c.advance()
        left = _binary(operator, left, _quantified(c) or _predicate(c), token)
    return left


def _quantified(c: Cursor) -> exp.Expr | None:
    """`= ANY (SELECT …)`, `> ALL (SELECT …)`."""
    token = c.token
    if c.word(1) != "(" or (word := c.accept_one("ANY", "SOME", "ALL")) is None:
        return None
    return placed((exp.All if word == "ALL" else exp.Any)(this=queries.subquery(c)), token)


def _predicate(c: Cursor) -> exp.Expr:
    left = operand(c)
    while True:
        token = c.token
        if c.accept("IS", "DISTINCT", "FROM"):
            left = _binary(exp.NullSafeNEQ, left, operand(c), token)
        elif c.accept("IS", "NOT", "DISTINCT", "FROM"):
            left = _binary(exp.NullSafeEQ, left, operand(c), token)
        elif c.accept("OVERLAPS"):
            left = _binary(exp.Overlaps, left, operand(c), token)
        elif (test := _PREDICATES.get(c.word(1) if c.at("NOT") else c.word())) is not None:
            negated = c.accept("NOT")
            c.advance()
            found = placed(test(c, left), token)
            left = placed(exp.Not(this=found), token) if negated else found
        else:
            return left


def _in(c: Cursor, left: exp.Expr) -> exp.Expr:
    if c.at("(") and c.word(1) in _QUERY_WORDS:
        return exp.In(this=left, query=queries.subquery(c))
    return exp.In(this=left, expressions=c.wrapped(lambda: expression(c)))


def _like(c: Cursor, left: exp.Expr) -> exp.Expr:
    return _escape(c, exp.Like(this=left, expression=operand(c)))


def _similar(c: Cursor, left: exp.Expr) -> exp.Expr:
    c.expect("TO")
    return _escape(c, exp.SimilarTo(this=left, expression=operand(c)))


def _escape(c: Cursor, test: exp.Expr) -> exp.Expr:
    return exp.Escape(this=test, expression=operand(c)) if c.accept("ESCAPE") else test


def _between(c: Cursor, left: exp.Expr) -> exp.Expr:
    kind = c.accept_one("SYMMETRIC", "ASYMMETRIC")
    low = operand(c)
    c.expect("AND")
    return exp.Between(this=left, low=low, high=operand(c), symmetric=True if kind == "SYMMETRIC" else None)


_PREDICATES: dict[str, Callable[[Cursor, exp.Expr], exp.Expr]] = {
    "IN": _in,
    "LIKE": _like,
    "SIMILAR": _similar,
    "BETWEEN": _between,
}


def operand(c: Cursor) -> exp.Expr:
    """Sums and whatever binds tighter: what stands left and right of a predicate."""
    left = _product(c)
    while (operator := _SUMS.get(c.word())) is not None:
        token = c.advance()
        left = _binary(operator, left, _product(c), token)
    return left


def _product(c: Cursor) -> exp.Expr:
    left = _unary(c)
    while (operator := _PRODUCTS.get(c.word())) is not None:
        token = c.advance()
        left = _binary(operator, left, _unary(c), token)
    return left


def _unary(c: Cursor) -> exp.Expr:
    if token := c.accept("-"):
        return placed(exp.Neg(this=_unary(c)), token)
    if c.accept("+"):
        return _unary(c)
    return _postfix(c)


def _postfix(c: Cursor) -> exp.Expr:
    """`x[1]`, `x['key']`, `x.field` after anything that is not a plain column."""
    left = _primary(c)
    while True:
        token = c.token
        if c.accept("["):
            left = placed(exp.Bracket(this=left, expressions=[expression(c)]), token)
            c.expect("]")
        elif c.accept("."):
            left = placed(exp.Dot(this=left, expression=_member(c)), token)
        else:
            return left


def _binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr, token: Token) -> exp.Expr:
    return placed(kind(this=left, expression=right), token)


def _primary(c: Cursor) -> exp.Expr:
    if (found := literal(c)) is not None:
        return found
    if c.at("("):
        return _parenthesised(c)
    if c.at("CASE"):
        return _case(c)
    if c.at("EXISTS", "("):
        token = c.advance()
        return placed(exp.Exists(this=queries.subquery(c)), token)
    if (call := calls.call(c)) is not None:
        return call
    if c.is_name():
        return _column(c)
    if c.token.token_type is TokenType.VAR:
        raise c.error("RESERVED_WORD", word=c.token.text, expected="an expression")
    raise c.unexpected("an expression")


def _parenthesised(c: Cursor) -> exp.Expr:
    """A subquery, a row of several values, or an expression that keeps its parentheses."""
    if c.word(1) in _QUERY_WORDS:
        return queries.subquery(c)
    token = c.expect("(")
    items = c.separated(lambda: expression(c))
    if isinstance(items[0], exp.Subquery) and c.word() in _QUERY_TAILS:
        query = queries.query_tail(c, items[0])
        c.expect(")")
        return placed(exp.Subquery(this=query), token)
    c.expect(")")
    return placed(exp.Tuple(expressions=items) if len(items) > 1 else exp.Paren(this=items[0]), token)


def _case(c: Cursor) -> exp.Expr:
    token = c.expect("CASE")
    operand = None if c.at("WHEN") else expression(c)
    branches = []
    while when := c.accept("WHEN"):
        condition = expression(c)
        c.expect("THEN")
        branches.append(placed(exp.If(this=condition, true=expression(c)), when))
    if not branches:
        raise c.unexpected("WHEN")
    default = expression(c) if c.accept("ELSE") else None
    c.expect("END")
    return placed(exp.Case(this=operand, ifs=branches, default=default), token)


def _column(c: Cursor) -> exp.Expr:
    """`a`, `t.a`, `t.a.field`: read the parts with `Column.parts`."""
    parts: list[exp.Expr] = [c.name("a column")]
    token = c.peek(-1)
    while c.accept("."):
        parts.append(_member(c))
    return column_of(parts, token)


def column_of(parts: list[exp.Expr], token: Token) -> exp.Expr:
    """A column of these parts; sqlglot's column has four at most, the rest are fields."""
    head, rest = parts[:4], parts[4:]
    keys = ("this", "table", "db", "catalog")
    column: exp.Expr = placed(exp.Column(**dict(zip(keys, reversed(head), strict=False))), token)
    for part in rest:
        column = placed(exp.Dot(this=column, expression=part), token)
    return column


def _member(c: Cursor) -> exp.Identifier:
    """What stands after a dot: any word may be a field's name there."""
    token = c.token
    if token.token_type is TokenType.VAR:
        c.advance()
        return placed(exp.Identifier(this=token.text, quoted=False), token)
    return c.name("a field name")
