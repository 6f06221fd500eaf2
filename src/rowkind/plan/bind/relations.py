"""The FROM clause: tables, views, subqueries and joins of them."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rowkind.catalog.inserts import with_hints
from rowkind.catalog.kafka_table import KafkaTable
from rowkind.catalog.modes import Side
from rowkind.catalog.table import ComputedColumn, MetadataColumn, TableDefinition, ViewDefinition
from rowkind.errors import nearest
from rowkind.plan.bind.context import Context
from rowkind.plan.bind.scope import Relation, Scope, reference
from rowkind.plan.nodes import Expr, Named, Node, Project, Scan, WatermarkAssigner, Watermarked
from rowkind.sql import parse_expression, parse_query
from rowkind.sql.errors import Source
from rowkind.sql.nodes import JoinedTables, WindowTable, type_node


def bind_from(select: exp.Select, context: Context) -> Scope:
    """The scope that a SELECT's expressions see."""
    clause = select.args.get("from_")
    if clause is None:
        from rowkind.plan.bind.values import single_row

        return Scope(single_row(), (), context.source, {})
    return bind_tables(clause.this, select.args.get("joins") or [], context)


def bind_tables(first: exp.Expr, joins: list[exp.Join], context: Context) -> Scope:
    """A first item and what is joined to it. With joins, columns are named `alias.column` from here on."""
    joins = [*joins, *(first.args.get("joins") or [])]
    scope = bind_item(first, context)
    if not joins:
        return scope
    from rowkind.plan.bind.joins import bind_join

    scope = qualified(scope, context, first)
    for join in joins:
        scope = bind_join(scope, join, context)
    return scope


def bind_item(item: exp.Expr, context: Context) -> Scope:
    """One item of FROM, on its own."""
    if isinstance(item, JoinedTables):
        return bind_tables(item.this, item.args["joins"], context)
    if isinstance(item, WindowTable):
        from rowkind.plan.bind.windows import bind_window_table

        return bind_window_table(item, context)
    if isinstance(item, exp.Table):
        return _aliased(bind_table(item, context), item, item.name, context)
    if isinstance(item, exp.Subquery):
        from rowkind.plan.bind.query import bind_query

        return _aliased(bind_query(item.this, context), item, None, context)
    if isinstance(item, exp.Values):
        from rowkind.plan.bind.values import bind_values

        return _aliased(bind_values(item, context), item, None, context)
    raise context.unsupported(item, f"{type(item).__name__} in FROM", "Use a table, a view or a subquery.")


def bind_table(table: exp.Table, context: Context) -> Node:
    """A CTE, a view or a Kafka table."""
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
    from rowkind.plan.bind.query import bind_query

    source = Source(view.query, line=view.line, origin=f"view {view.name}")
    inner = replace(context, source=source, ctes={})
    node = bind_query(parse_query(view.query, origin=source.origin, line=view.line), inner)
    return renamed(node, view.columns) if view.columns else node


def bind_scan(definition: TableDefinition, context: Context) -> Node:
    """A Kafka table with its computed columns, metadata casts and watermark."""
    table = context.resolve(definition, Side.SOURCE)
    scan = Scan(table)
    source = Source("", origin=f"table {definition.name}")
    scope = Scope(scan, (Relation(definition.name, tuple((c.name, c.name) for c in scan.columns)),), source, {})
    made = tuple(_column(definition, table, index, scope, context) for index in range(len(definition.columns)))
    plain = [c.name for c in scan.columns] == [m.name for m in made] and all(m.expr.column == m.name for m in made)
    node: Node = scan if plain else Project(scan, made)
    return _watermarked(node, definition, context)


def _column(definition: TableDefinition, table: KafkaTable, index: int, scope: Scope, context: Context) -> Named:
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
    return Named(column.name, _pass(column.name, scope))


def _pass(name: str, scope: Scope) -> Expr:
    return passed(name, scope.node)


def passed(name: str, node: Node) -> Expr:
    """A column of a node, handed on as it is."""
    from rowkind.catalog.types import quote

    return Expr(reference(name), quote(name), node.column(name).type)


def _watermarked(node: Node, definition: TableDefinition, context: Context) -> Node:
    if definition.watermark is None:
        return node
    origin = f"watermark of table {definition.name}"
    text = definition.watermark.expression
    inner = replace(context, source=Source(text, origin=origin))
    relation = Relation(definition.name, tuple((c.name, c.name) for c in node.columns))
    expr = inner.expr(parse_expression(text, origin=origin), Scope(node, (relation,), inner.source, {}))
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
    return Scope(node, (Relation(alias.name if alias and alias.name else name, names),), context.source, {})


def renamed(node: Node, names: tuple[str, ...]) -> Node:
    """The node with its columns called anew, by position."""
    pairs = zip(names, node.columns, strict=True)
    return Project(node, tuple(Named(name, passed(c.name, node)) for name, c in pairs))


def qualified(scope: Scope, context: Context, at: exp.Expr) -> Scope:
    """The scope with every column named `alias.column`, so that two sides of a join never clash."""
    relations, names = [], []
    for relation in scope.relations:
        prefix = f"{relation.alias}." if relation.alias else "."
        moved = tuple((user, prefix + user) for user, _ in relation.columns)
        relations.append(replace(relation, columns=moved))
        names += [n for _, n in moved]
    if [c.name for c in scope.node.columns] == names:
        return scope
    inner = [i for r in scope.relations for _, i in r.columns]
    made = tuple(Named(n, passed(i, scope.node)) for n, i in zip(names, inner, strict=True))
    return Scope(Project(scope.node, made), tuple(relations), scope.source, {})
