"""The FROM clause: tables, views, subqueries and joins of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rowkind.catalog.inserts import with_hints
from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Side
from rowkind.definitions import ComputedColumn, MetadataColumn, TableDefinition, ViewDefinition
from rowkind.errors import nearest
from rowkind.join_kind import JoinKind
from rowkind.kinds import ChangelogMode
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.joins import both_sides, join_kind, joined, right_side
from rowkind.plan.bind.predicates import Waiting, conjuncts, filtered
from rowkind.plan.bind.scope import Relation, Scope, qualified
from rowkind.plan.bind.temporal_joins import bind_temporal_join
from rowkind.plan.bind.unnest import bind_unnest, bind_unnest_alone
from rowkind.plan.bind.using import bind_using
from rowkind.plan.bind.values import bind_values, single_row
from rowkind.plan.bind.windows import bind_window_table
from rowkind.plan.columns import passed, reference, renamed
from rowkind.plan.nodes import Named, Node, Normalize, Project, Scan, WatermarkAssigner, Watermarked
from rowkind.sql import parse_expression, parse_query
from rowkind.sql.errors import Source
from rowkind.sql.tree_nodes import JoinedTables, WindowTable, type_node


def bind_from(select: exp.Select, context: Context, waiting: Waiting | None = None) -> Scope:
    """The scope that a SELECT's expressions see; conditions of WHERE are taken where they can be decided."""
    clause = select.args.get("from_")
    if clause is None:
        return Scope(single_row(), (), context.source)
    return bind_tables(clause.this, select.args.get("joins") or [], context, waiting)


def bind_tables(first: exp.Expr, joins: Sequence[exp.Join], context: Context, waiting: Waiting | None = None) -> Scope:
    """A first item and what is joined to it. With joins, columns are named `alias.column` from here on."""
    scope = bind_item(first, context)
    if not joins:
        return scope
    # RIGHT and FULL joins pad what stands before them: a condition must not go below them.
    last = max((i for i, j in enumerate(joins) if str(j.args.get("side")).upper() in ("RIGHT", "FULL")), default=-1)
    if waiting is not None and last < 0:
        scope = filtered(scope, waiting.take(scope), context)
    scope = qualified(scope)
    for index, join in enumerate(joins):
        scope = bind_join(scope, join, context, waiting if index > last else None)
    return scope


def bind_join(left: Scope, join: exp.Join, context: Context, waiting: Waiting | None = None) -> Scope:
    """One more relation joined to what is there."""
    if isinstance(join.this, (exp.Unnest, exp.Lateral)):
        return bind_unnest(left, join, context)
    if isinstance(join.this, exp.Table) and join.this.args.get("version"):
        return bind_temporal_join(left, join, context)
    kind = join_kind(join)
    if kind is not JoinKind.INNER:
        waiting = None
    right = right_side(left, join, context, waiting)
    if join.args.get("using") or str(join.args.get("method") or "").upper() == "NATURAL":
        return bind_using(left, right, join, kind, context)
    both = both_sides(left, right)
    condition = join.args.get("on")
    if condition is not None and condition.find(exp.Query):
        raise context.unsupported(condition, "a subquery in ON", "Put it in WHERE, or join the subquery itself.")
    parts = [both.resolve(p) for p in conjuncts(condition)] if condition is not None else []
    parts += waiting.take(both) if waiting is not None else []
    return replace(both, node=joined(left.node, right.node, kind, parts, context))


def bind_item(item: exp.Expr, context: Context) -> Scope:
    """One item of FROM, on its own."""
    if isinstance(item, JoinedTables):
        return bind_tables(item.this, item.args["joins"], context)
    if isinstance(item, WindowTable):
        return bind_window_table(item, context)
    if isinstance(item, exp.Table):
        return _aliased(bind_table(item, context), item, item.name, context)
    if isinstance(item, exp.Subquery):
        return _aliased(context.inside().bind_query(item.this), item, None, context)
    if isinstance(item, exp.Values):
        return _aliased(bind_values(item, context), item, None, context)
    if isinstance(item, exp.Unnest):
        return bind_unnest_alone(item, context)
    raise context.unsupported(item, f"{type(item).__name__} in FROM", "Use a table, a view or a subquery.")


def bind_table(table: exp.Table, context: Context) -> Node:
    """A CTE, a view or a table."""
    name = table.name
    if name in context.ctes:
        return context.ctes[name]
    found = context.catalog.find(name)
    if found is None:
        suggestion = nearest(name, [*context.ctes, *context.catalog.names()])
        raise context.error("NO_SUCH_RELATION", table, table=name, suggestion=suggestion)
    if isinstance(found, ViewDefinition):
        return bind_view(found, context)
    hints = table.meta.get("options") or {}
    return bind_scan(with_hints(found, hints) if hints else found, context)


def bind_view(view: ViewDefinition, context: Context) -> Node:
    source = Source(view.query, line=view.line, origin=f"view {view.name}")
    inner = replace(context, source=source, ctes={}, nested=True, shown=False)
    node = inner.bind_query(parse_query(view.query, origin=source.origin, line=view.line))
    return renamed(node, view.columns) if view.columns else node


def bind_scan(definition: TableDefinition, context: Context) -> Node:
    """A table with its computed columns, metadata casts and watermark; upserts and repeats become changes.

    An old row of a change event comes with the metadata of the new event: only the last row of its key has its own.
    """
    table = context.resolve(definition, Side.SOURCE)
    scan = Scan(table)
    source = Source("", origin=f"table {definition.name}")
    scope = Scope(scan, (Relation(definition.name, tuple((c.name, c.name) for c in scan.columns)),), source)
    made = tuple(_column(definition, table, index, scope, context) for index in range(len(definition.columns)))
    plain = [c.name for c in scan.columns] == [m.name for m in made] and all(m.expr.column == m.name for m in made)
    node = _watermarked(scan if plain else Project(scan, made), definition, context)
    retracts = table.changelog is ChangelogMode.RETRACT
    completes = retracts and bool(table.primary_key and table.metadata)
    return Normalize(node, table.primary_key) if table.upsert or table.reading.repeats_events or completes else node


def _column(definition: TableDefinition, table: Table, index: int, scope: Scope, context: Context) -> Named:
    column = definition.columns[index]
    if isinstance(column, ComputedColumn):
        origin = f"computed column {column.name} of table {definition.name}"
        tree = parse_expression(column.expression, origin=origin)
        inner = replace(context, source=Source(column.expression, origin=origin))
        return Named(column.name, inner.expr(tree, replace(scope, source=inner.source)))
    tree = reference(column.name)
    if isinstance(column, MetadataColumn) and scope.types[column.name] != column.type:
        tree = exp.Cast(this=tree, to=type_node(column.type))
        return Named(column.name, context.exprs([tree], scope.types)[0])
    return Named(column.name, passed(column.name, scope.node))


def _watermarked(node: Node, definition: TableDefinition, context: Context) -> Node:
    if definition.watermark is None:
        return node
    origin = f"watermark of table {definition.name}"
    text = definition.watermark.expression
    inner = replace(context, source=Source(text, origin=origin))
    relation = Relation(definition.name, tuple((c.name, c.name) for c in node.columns))
    expr = inner.expr(parse_expression(text, origin=origin), Scope(node, (relation,), inner.source))
    return WatermarkAssigner(node, Watermarked(definition.watermark.column, expr))


def _aliased(node: Node, item: exp.Expr, name: str | None, context: Context) -> Scope:
    alias = item.args.get("alias")
    columns = [c.name for c in alias.args.get("columns") or []] if alias else []
    if columns and len(columns) != len(node.columns):
        raise context.error(
            "COLUMN_COUNT", item, what=f"alias '{alias and alias.name}'", given=len(columns), expected=len(node.columns)
        )
    users = columns or [c.name for c in node.columns]
    names = tuple(zip(users, (c.name for c in node.columns), strict=True))
    return Scope(node, (Relation(alias.name if alias and alias.name else name, names),), context.source)
