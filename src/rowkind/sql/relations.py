"""What stands after FROM: tables, subqueries, functions, and joins between them."""

from __future__ import annotations

from sqlglot import exp

import rowkind.sql.calls as calls
import rowkind.sql.expressions as expressions
import rowkind.sql.queries as queries
from rowkind.sql.hints import table_options
from rowkind.sql.names import table_name
from rowkind.sql.tokens import Cursor, placed
from rowkind.sql.tree_nodes import JoinedTables
from rowkind.sql.windows import FUNCTIONS as WINDOW_FUNCTIONS
from rowkind.sql.windows import window_table

_REFUSED = {
    "TABLESAMPLE": "Filter with a condition such as MOD(key, 10) = 0.",
    "PIVOT": "Write one aggregate with FILTER (WHERE …) per column.",
    "UNPIVOT": "Write one SELECT per column and join them with UNION ALL.",
}


def from_clause(c: Cursor) -> tuple[exp.Expr, list[exp.Join]]:
    """The first relation and the joins after it, in the order written; a comma is a CROSS join that binds loosest."""
    first, joins = _joined(c)
    while comma := c.accept(","):
        relation, inner = _joined(c)
        if inner:
            relation = JoinedTables(this=relation, joins=inner)
        joins.append(placed(exp.Join(this=relation, kind="CROSS"), comma))
    return first, joins


def _joined(c: Cursor) -> tuple[exp.Expr, list[exp.Join]]:
    first = relation(c)
    joins = []
    while (join := _join(c)) is not None:
        joins.append(join)
    return first, joins


def _join(c: Cursor) -> exp.Join | None:
    """`kind` is INNER or CROSS, or nothing where `side` is LEFT, RIGHT or FULL; `method` may be NATURAL."""
    token = c.token
    natural = c.accept("NATURAL")
    side = c.accept_one("LEFT", "RIGHT", "FULL")
    kind = None
    if side:
        c.accept("OUTER")
    else:
        kind = c.accept_one("INNER", "CROSS")
    if not c.accept("JOIN"):
        if natural or side or kind:
            raise c.unexpected("JOIN")
        return None
    join = placed(exp.Join(this=relation(c), side=side, kind=kind or (None if side else "INNER")), token)
    if natural:
        join.set("method", "NATURAL")
    elif kind != "CROSS":
        _condition(c, join)
    return join


def _condition(c: Cursor, join: exp.Join) -> None:
    if c.accept("ON"):
        join.set("on", expressions.expression(c))
    elif c.accept("USING"):
        join.set("using", c.wrapped(lambda: c.name("a column name")))
    else:
        raise c.unexpected("ON or USING")


def relation(c: Cursor) -> exp.Expr:
    """One member of FROM, with its alias."""
    token = c.token
    if c.accept("LATERAL"):
        inner = _lateral_operand(c)
        return _aliased(c, placed(exp.Lateral(this=inner), token))
    if c.at("UNNEST", "("):
        return _unnest(c)
    if c.at("TABLE", "("):
        return _aliased(c, placed(_table_function(c), token))
    if c.word() in WINDOW_FUNCTIONS and c.word(1) == "(":
        return _aliased(c, placed(window_table(c), token))
    if c.at("("):
        return _aliased(c, _parenthesised(c))
    if c.is_name() and c.word(1) == "(":
        return _aliased(c, placed(exp.TableFromRows(this=_call(c)), token))
    return _aliased(c, named_table(c))


def named_table(c: Cursor) -> exp.Table:
    """A table by name, with OPTIONS and FOR SYSTEM_TIME AS OF."""
    token = c.token
    table = placed(exp.Table(this=table_name(c)), token)
    if options := table_options(c):
        table.meta["options"] = options
    if as_of := c.accept("FOR", "SYSTEM_TIME", "AS", "OF"):
        version = exp.Version(this="TIMESTAMP", kind="AS OF", expression=expressions.operand(c))
        table.set("version", placed(version, as_of))
    return table


def _lateral_operand(c: Cursor) -> exp.Expr:
    if c.at("("):
        return queries.subquery(c)
    if c.at("UNNEST", "("):
        return _unnest(c)
    return _table_call(c) if c.at("TABLE", "(") else _call(c)


def _table_call(c: Cursor) -> exp.Expr:
    """`TABLE(f(…))`: the call inside."""
    c.expect("TABLE")
    c.expect("(")
    call = _call(c)
    c.expect(")")
    return call


def _call(c: Cursor) -> exp.Expr:
    call = calls.call(c)
    if call is None:
        raise c.unexpected("a function call")
    return call


def _table_function(c: Cursor) -> exp.Expr:
    if c.word(2) not in WINDOW_FUNCTIONS:
        return exp.TableFromRows(this=_table_call(c))
    c.expect("TABLE")
    c.expect("(")
    found = window_table(c)
    c.expect(")")
    return found


def _unnest(c: Cursor) -> exp.Expr:
    token = c.expect("UNNEST")
    items = c.wrapped(lambda: expressions.expression(c))
    ordinality = c.accept("WITH", "ORDINALITY") is not None
    return _aliased(c, placed(exp.Unnest(expressions=items, offset=ordinality or None), token))


def _parenthesised(c: Cursor) -> exp.Expr:
    """A subquery, or joins that belong together."""
    depth = 0
    while c.word(depth) == "(":
        depth += 1
    if c.word(depth) in ("SELECT", "WITH", "VALUES"):
        return queries.subquery(c)
    token = c.expect("(")
    first, joins = from_clause(c)
    c.expect(")")
    return placed(JoinedTables(this=first, joins=joins), token) if joins else first


def _aliased(c: Cursor, node: exp.Expr) -> exp.Expr:
    """`[AS] name [(column, …)]`."""
    if c.at("MATCH_RECOGNIZE"):
        raise c.error("MATCH_RECOGNIZE_NOT_SUPPORTED")
    if c.word() in _REFUSED and c.word(1) in ("(", "BERNOULLI", "SYSTEM"):
        raise c.error("CLAUSE_NOT_SUPPORTED", clause=c.word(), instead=_REFUSED[c.word()])
    if not (c.accept("AS") or c.is_name()):
        return node
    token = c.token
    name = c.name("an alias")
    columns = c.wrapped(lambda: c.name("a column name")) if c.at("(") else None
    node.set("alias", placed(exp.TableAlias(this=name, columns=columns), token))
    if c.at("MATCH_RECOGNIZE"):
        raise c.error("MATCH_RECOGNIZE_NOT_SUPPORTED")
    return node
