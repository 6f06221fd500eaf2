"""Function calls: every one becomes exp.Anonymous with its name in upper case, unless it has a syntax of its own."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

import rowkind.sql.expressions as expressions
from rowkind.sql import special
from rowkind.sql.tokens import Cursor, placed

_WITHOUT_PARENTHESES = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURRENT_USER"}
)
_RESERVED_BUT_CALLED = frozenset({"LEFT", "RIGHT", "ROW"})


def call(c: Cursor) -> exp.Expr | None:
    """A function call at the cursor, with FILTER and OVER, if there is one."""
    token, name = c.token, c.word()
    if name in ("ARRAY", "MAP") and c.word(1) == "[":
        return _collection(c, name)
    if name in special.FORMS and c.word(1) == "(":
        c.index += 2
        parsed = placed(special.FORMS[name](c, name), token)
        c.expect(")")
        return suffixes(c, parsed)
    if name in _WITHOUT_PARENTHESES and c.word(1) != "(":
        c.advance()
        return placed(exp.Anonymous(this=name, expressions=[]), token)
    if name in _RESERVED_BUT_CALLED and c.word(1) == "(":
        c.advance()
        return suffixes(c, _plain(c, token, name))
    if (length := _qualified_call(c)) == 0:
        return None
    parts = [c.peek(i) for i in range(0, length, 2)]
    c.index += length
    return suffixes(c, _plain(c, token, ".".join(_function_name(p) for p in parts)))


def _qualified_call(c: Cursor) -> int:
    """How many tokens name the function: `f (` 1, `db.f (` 3; 0 when this is no call."""
    length = 0
    while c.is_name(length):
        if c.word(length + 1) == "(":
            return length + 1
        if c.word(length + 1) != ".":
            return 0
        length += 2
    return 0


def _function_name(token: Token) -> str:
    return token.text if token.token_type is TokenType.IDENTIFIER else token.text.upper()


def _plain(c: Cursor, token: Token, name: str) -> exp.Expr:
    c.expect("(")
    arguments = [] if c.at(")") else _arguments(c)
    node: exp.Expr = placed(exp.Anonymous(this=name, expressions=arguments), token)
    node = _nulls(c, node)
    if c.at("ORDER", "BY"):
        instead = "Order the input in a subquery; the order of aggregated values is not kept otherwise."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="ORDER BY inside a function call", instead=instead)
    c.expect(")")
    return node


def _arguments(c: Cursor) -> list[exp.Expr]:
    if token := c.accept("*"):
        return [placed(exp.Star(), token)]
    if token := c.accept("DISTINCT"):
        return [placed(exp.Distinct(expressions=c.separated(lambda: expressions.expression(c))), token)]
    c.accept("ALL")
    return c.separated(lambda: argument(c))


def argument(c: Cursor) -> exp.Expr:
    """An argument by position, or by name: `name => value`."""
    if c.is_name() and c.word(1) == "=>":
        name = c.name("an argument name")
        arrow = c.expect("=>")
        return placed(exp.Kwarg(this=exp.var(name.name), expression=expressions.expression(c)), arrow)
    return expressions.expression(c)


def _collection(c: Cursor, name: str) -> exp.Expr:
    """ARRAY[…] and MAP[…]."""
    token = c.advance()
    c.expect("[")
    members = [] if c.at("]") else c.separated(lambda: expressions.expression(c))
    if name == "MAP" and len(members) % 2:
        raise c.unexpected("a value for the last key")
    c.expect("]")
    return placed(exp.Anonymous(this=name, expressions=members), token)


def suffixes(c: Cursor, node: exp.Expr) -> exp.Expr:
    """WITHIN GROUP, FILTER, IGNORE NULLS and OVER after a call."""
    token = c.token
    if c.accept("WITHIN", "GROUP"):
        c.expect("(")
        node = placed(exp.WithinGroup(this=node, expression=order_by(c)), token)
        c.expect(")")
    token = c.token
    if c.accept("FILTER", "("):
        where = c.expect("WHERE")
        condition = placed(exp.Where(this=expressions.expression(c)), where)
        node = placed(exp.Filter(this=node, expression=condition), token)
        c.expect(")")
    node = _nulls(c, node)
    if over := c.accept("OVER"):
        if c.at("("):
            return window(c, node, over)
        return placed(exp.Window(this=node, alias=c.name("a window name"), over="OVER"), over)
    return node


def _nulls(c: Cursor, node: exp.Expr) -> exp.Expr:
    token = c.token
    if c.accept("IGNORE", "NULLS"):
        return placed(exp.IgnoreNulls(this=node), token)
    if c.accept("RESPECT", "NULLS"):
        return placed(exp.RespectNulls(this=node), token)
    return node


def window(c: Cursor, node: exp.Expr, token: Token) -> exp.Window:
    """`([name] [PARTITION BY …] [ORDER BY …] [ROWS | RANGE …])`."""
    c.expect("(")
    base = c.name("a window name") if c.is_name() and c.word() != "RANGE" else None
    keys = []
    if c.accept("PARTITION", "BY"):
        keys = c.separated(lambda: expressions.expression(c))
    order = order_by(c) if c.at("ORDER") else None
    frame = _frame(c)
    c.expect(")")
    return placed(exp.Window(this=node, alias=base, partition_by=keys, order=order, spec=frame, over="OVER"), token)


def _frame(c: Cursor) -> exp.WindowSpec | None:
    token = c.token
    if (kind := c.accept_one("ROWS", "RANGE")) is None:
        return None
    if c.accept("BETWEEN"):
        start, start_side = _bound(c)
        c.expect("AND")
        end, end_side = _bound(c)
    else:
        (start, start_side), (end, end_side) = _bound(c), ("CURRENT ROW", None)
    spec = exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end, end_side=end_side)
    return placed(spec, token)


def _bound(c: Cursor) -> tuple[str | exp.Expr, str | None]:
    if c.accept("CURRENT", "ROW"):
        return "CURRENT ROW", None
    value = "UNBOUNDED" if c.accept("UNBOUNDED") else expressions.expression(c)
    side = c.accept_one("PRECEDING", "FOLLOWING")
    if side is None:
        raise c.unexpected("PRECEDING or FOLLOWING")
    return value, side


def order_by(c: Cursor) -> exp.Order:
    token = c.expect("ORDER", "BY")
    return placed(exp.Order(expressions=c.separated(lambda: _ordered(c))), token)


def _ordered(c: Cursor) -> exp.Ordered:
    """NULLs are the smallest values unless the text says otherwise, as in Flink."""
    token = c.token
    item = expressions.expression(c)
    descending = c.accept_one("ASC", "DESC") == "DESC"
    nulls_first = not descending
    if c.accept("NULLS"):
        place = c.accept_one("FIRST", "LAST")
        if place is None:
            raise c.unexpected("FIRST or LAST")
        nulls_first = place == "FIRST"
    return placed(exp.Ordered(this=item, desc=descending, nulls_first=nulls_first), token)
