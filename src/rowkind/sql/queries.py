"""Queries: WITH, SELECT, VALUES, set operations, ORDER BY, LIMIT."""

from __future__ import annotations

from sqlglot import exp

import rowkind.sql.calls as calls
import rowkind.sql.expressions as expressions
import rowkind.sql.relations as relations
from rowkind.sql.hints import hint_calls
from rowkind.sql.statements import Query
from rowkind.sql.tokens import Cursor, placed

_SET_OPERATIONS: dict[str, type[exp.SetOperation]] = {
    "UNION": exp.Union,
    "EXCEPT": exp.Except,
    "MINUS": exp.Except,
    "INTERSECT": exp.Intersect,
}


def query(c: Cursor) -> Query:
    """A whole query with its WITH, ORDER BY and LIMIT."""
    ctes = _with(c) if c.at("WITH") else None
    found = query_tail(c, _operand(c))
    if ctes is None:
        return found
    if isinstance(found, exp.Values):
        found = exp.Subquery(this=found)
    found.set("with_", ctes)
    return found


def query_tail(c: Cursor, first: Query) -> Query:
    """The rest of a query whose first operand is known: set operations, ORDER BY, LIMIT."""
    return _ordering(c, _set_operations(c, first))


def subquery(c: Cursor) -> exp.Subquery:
    """A query in parentheses."""
    token = c.expect("(")
    inner = query(c)
    c.expect(")")
    return placed(exp.Subquery(this=inner), token)


def _with(c: Cursor) -> exp.With:
    token = c.expect("WITH")
    if c.at("RECURSIVE"):
        instead = "Recursive queries have no streaming form; repeat the join a fixed number of times."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="WITH RECURSIVE", instead=instead)
    return placed(exp.With(expressions=c.separated(lambda: _cte(c))), token)


def _cte(c: Cursor) -> exp.CTE:
    token = c.token
    name = c.name("a name for the query")
    columns = c.wrapped(lambda: c.name("a column name")) if c.at("(") else None
    c.expect("AS")
    c.expect("(")
    inner = query(c)
    c.expect(")")
    return placed(exp.CTE(this=inner, alias=exp.TableAlias(this=name, columns=columns)), token)


def _set_operations(c: Cursor, left: Query) -> Query:
    """UNION and EXCEPT from left to right; INTERSECT binds tighter."""
    left = _intersections(c, left)
    while c.word() in ("UNION", "EXCEPT", "MINUS"):
        left = _set_operation(c, left, intersections=True)
    return left


def _intersections(c: Cursor, left: Query) -> Query:
    while c.at("INTERSECT"):
        left = _set_operation(c, left, intersections=False)
    return left


def _set_operation(c: Cursor, left: Query, intersections: bool) -> Query:
    token = c.advance()
    distinct = c.accept_one("ALL", "DISTINCT") != "ALL"
    right = _intersections(c, _operand(c)) if intersections else _operand(c)
    kind = _SET_OPERATIONS[token.text.upper()]
    return placed(kind(this=left, expression=right, distinct=distinct), token)


def _operand(c: Cursor) -> Query:
    match c.word():
        case "SELECT":
            return _select(c)
        case "VALUES":
            return _values(c)
        case "(":
            return subquery(c)
        case "TABLE":
            token = c.advance()
            table = relations.named_table(c)
            return placed(exp.Select(expressions=[exp.Star()], from_=exp.From(this=table)), token)
    raise c.unexpected("SELECT, VALUES or WITH")


def _values(c: Cursor) -> exp.Values:
    token = c.expect("VALUES")
    return placed(exp.Values(expressions=c.separated(lambda: _row(c))), token)


def _row(c: Cursor) -> exp.Tuple:
    """`(1, 'a')`, `ROW(1, 'a')`, or a bare value for a row of one column."""
    token = c.token
    if c.at("ROW", "("):
        c.advance()
    items = c.wrapped(lambda: expressions.expression(c)) if c.at("(") else [expressions.expression(c)]
    return placed(exp.Tuple(expressions=items), token)


def _select(c: Cursor) -> exp.Select:
    token = c.expect("SELECT")
    hint = hint_calls(c)
    quantifier = c.accept_one("ALL", "DISTINCT")
    select = placed(exp.Select(hint=exp.Hint(expressions=hint) if hint else None), token)
    select.set("distinct", exp.Distinct() if quantifier == "DISTINCT" else None)
    select.set("expressions", c.separated(lambda: _projection(c)))
    if from_ := c.accept("FROM"):
        first, joins = relations.from_clause(c)
        select.set("from_", placed(exp.From(this=first), from_))
        select.set("joins", joins or None)
    if where := c.accept("WHERE"):
        select.set("where", placed(exp.Where(this=expressions.expression(c)), where))
    if c.at("GROUP"):
        select.set("group", _group(c))
    if having := c.accept("HAVING"):
        select.set("having", placed(exp.Having(this=expressions.expression(c)), having))
    if c.accept("WINDOW"):
        select.set("windows", c.separated(lambda: _named_window(c)))
    if c.at("QUALIFY"):
        instead = "Compute the column in a subquery and filter it with WHERE outside."
        raise c.error("CLAUSE_NOT_SUPPORTED", clause="QUALIFY", instead=instead)
    return select


def _projection(c: Cursor) -> exp.Expr:
    if (star := _star(c)) is not None:
        return star
    token = c.token
    item = expressions.expression(c)
    if c.accept("AS") or c.is_name():
        name = c.name("a column name")
        return placed(exp.Alias(this=item, alias=name), token)
    return item


def _star(c: Cursor) -> exp.Expr | None:
    """`*` or `t.*`."""
    length = 0
    while c.is_name(length) and c.word(length + 1) == ".":
        length += 2
    if c.word(length) != "*":
        return None
    token = c.token
    parts: list[exp.Expr] = []
    for _ in range(length // 2):
        parts.append(c.name("a table name"))
        c.expect(".")
    star = placed(exp.Star(), c.expect("*"))
    return expressions.column_of([*parts, star], token) if parts else star


def _group(c: Cursor) -> exp.Group:
    """Plain expressions in `expressions`; GROUPING SETS, CUBE and ROLLUP each in a list of their own, in order."""
    token = c.expect("GROUP", "BY")
    found = c.separated(lambda: _grouping(c))
    group = placed(exp.Group(), token)
    for key, kind in (("grouping_sets", exp.GroupingSets), ("cube", exp.Cube), ("rollup", exp.Rollup)):
        group.set(key, [g for g in found if isinstance(g, kind)] or None)
    group.set("expressions", [g for g in found if not isinstance(g, exp.GroupingSets | exp.Cube | exp.Rollup)])
    return group


def _grouping(c: Cursor) -> exp.Expr:
    token = c.token
    if c.accept("GROUPING", "SETS"):
        return placed(exp.GroupingSets(expressions=c.wrapped(lambda: _grouping(c))), token)
    if c.at("CUBE", "(") or c.at("ROLLUP", "("):
        kind = exp.Cube if c.advance().text.upper() == "CUBE" else exp.Rollup
        return placed(kind(expressions=c.wrapped(lambda: _grouping(c))), token)
    if c.accept("(", ")"):
        return placed(exp.Tuple(expressions=[]), token)
    return expressions.expression(c)


def _named_window(c: Cursor) -> exp.Window:
    token = c.token
    name = c.name("a window name")
    c.expect("AS")
    return calls.window(c, name, token)


def _ordering(c: Cursor, found: Query) -> Query:
    """ORDER BY, LIMIT, OFFSET and FETCH of the whole query; FETCH becomes a limit."""
    if c.at("ORDER", "BY"):
        found.set("order", calls.order_by(c))
    if (limit := c.accept("LIMIT")) and not c.accept("ALL"):
        found.set("limit", placed(exp.Limit(expression=expressions.expression(c)), limit))
    if offset := c.accept("OFFSET"):
        found.set("offset", placed(exp.Offset(expression=expressions.expression(c)), offset))
        c.accept_one("ROW", "ROWS")
    if fetch := c.accept("FETCH"):
        if c.accept_one("FIRST", "NEXT") is None:
            raise c.unexpected("FIRST or NEXT")
        count = exp.Literal.number(1) if c.word() in ("ROW", "ROWS") else expressions.expression(c)
        found.set("limit", placed(exp.Limit(expression=count), fetch))
        c.accept_one("ROW", "ROWS")
        c.expect("ONLY")
    return found
