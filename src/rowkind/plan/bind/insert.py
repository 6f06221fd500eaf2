"""INSERT INTO: the query's columns matched, by position, with the columns that the table takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from rowkind.catalog.inserts import insert_columns
from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition, ViewDefinition
from rowkind.errors import RowkindError, nearest
from rowkind.options.session_options import LENGTH_ENFORCER, REQUIRE_ON_CONFLICT, UPSERT_MATERIALIZE, LengthEnforcer
from rowkind.plan.assignment import assignable
from rowkind.plan.bind.coercion import coerced
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.query import bind_query
from rowkind.plan.columns import reference
from rowkind.plan.nodes import Expr, Named, Node, Project, Sink
from rowkind.sql.statements import Insert
from rowkind.sql.tree_nodes import type_node
from rowkind.types import BINARIES, BYTES, CHARACTERS, STRING, DataType, Field, quote


def bind_insert(insert: Insert, context: Context, index: int = 0) -> Sink:
    """The plan of an INSERT, down to its sources."""
    definition = _target(insert, context)
    table = context.resolve(definition, Side.SINK)
    query = bind_query(insert.query, context)
    columns = insert_columns(table, insert.columns)
    missing = [c.name for c in table.stored_columns if c not in columns and not c.type.nullable]
    if missing:
        raise context.error("MISSING_INSERT_COLUMN", insert.query, table=table.name, columns=", ".join(missing))
    if len(columns) != len(query.columns):
        raise _mismatch(insert, table, query, columns, "the number of columns differs", context)
    node, session = _fitted(insert, table, query, columns, context), context.session
    materialize, conflict_named = session.value(UPSERT_MATERIALIZE), session.value(REQUIRE_ON_CONFLICT)
    return Sink(node, table, index, insert.on_conflict, materialize, conflict_named)


def _target(insert: Insert, context: Context) -> TableDefinition:
    found = context.catalog.find(insert.table)
    if isinstance(found, TableDefinition):
        return found
    if isinstance(found, ViewDefinition):
        raise RowkindError("INSERT_INTO_VIEW", view=insert.table)
    names = context.catalog.names()
    raise RowkindError("NO_SUCH_TABLE", table=insert.table, suggestion=nearest(insert.table, names))


def _fitted(insert: Insert, table: Table, query: Node, columns: Sequence[Field], context: Context) -> Node:
    """Physical columns in their types, then metadata columns in the types that the message takes."""
    given = dict(zip((c.name for c in columns), query.columns, strict=True))
    known = {c.name: c.type for c in query.columns}
    cuts = context.session.value(LENGTH_ENFORCER) is LengthEnforcer.TRIM_PAD
    made = []
    for column in (*table.physical, *(Field(m.name, m.type) for m in table.metadata)):
        source = given.get(column.name)
        if source is None:
            made.append(Named(column.name, _null(column.type, context)))
            continue
        if not assignable(source.type, column.type):
            reason = f"column '{column.name}' is {column.type}, the query gives {source.type}"
            raise _mismatch(insert, table, query, columns, reason, context)
        plain = Expr(reference(source.name), quote(source.name), source.type)
        fitted = coerced(plain, _kept_null(column.type, source.type), known, context)
        if cuts and column.type.root in CHARACTERS | BINARIES and column.type.as_nullable() not in (STRING, BYTES):
            fitted = _cut(plain, fitted.type, known, context)
        made.append(Named(column.name, fitted))
    node = Project(query, tuple(made))
    return _message_types(node, table, context)


def _message_types(node: Project, table: Table, context: Context) -> Node:
    if all(m.type.as_nullable() == m.message_type.as_nullable() for m in table.metadata):
        return node
    known = {c.name: c.type for c in node.columns}
    wanted = {m.name: m.message_type for m in table.metadata}
    made = []
    for c in node.columns:
        plain = Expr(reference(c.name), quote(c.name), c.type)
        made.append(Named(c.name, coerced(plain, wanted.get(c.name, c.type), known, context)))
    return Project(node, tuple(made))


def _kept_null(wanted: DataType, given: DataType) -> DataType:
    """A null may still arrive in a NOT NULL column: the sink decides what happens to it."""
    return wanted.as_nullable() if given.nullable else wanted


def _cut(expr: Expr, type: DataType, known: Mapping[str, DataType], context: Context) -> Expr:
    """Cut and filled up to the length of the type, even if the query says that it is that long already."""
    longer = exp.Cast(this=expr.tree.copy(), to=type_node(STRING if type.root in CHARACTERS else BYTES))
    return context.exprs([exp.Cast(this=longer, to=type_node(type))], known)[0]


def _null(type: DataType, context: Context) -> Expr:
    return context.exprs([exp.Cast(this=exp.Null(), to=type_node(type.as_nullable()))], {})[0]


def _mismatch(
    insert: Insert, table: Table, query: Node, columns: Sequence[Field], reason: str, context: Context
) -> RowkindError:
    given = ", ".join(f"{c.name}: {c.type}" for c in query.columns)
    wanted = ", ".join(f"{c.name}: {c.type}" for c in columns)
    return context.error("SINK_SCHEMA", insert.query, table=table.name, reason=reason, given=given, wanted=wanted)
