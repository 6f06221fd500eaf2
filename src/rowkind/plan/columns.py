"""Columns of a node handed on as they are."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rowkind.plan.nodes import Expr, Named, Node, Project
from rowkind.types import quote


def reference(internal: str, like: exp.Identifier | None = None) -> exp.Column:
    """A resolved column, at the place of the name that meant it."""
    identifier = exp.to_identifier(internal, quoted=True)
    if like is not None:
        identifier.meta.update(like.meta)
    column = exp.Column(this=identifier)
    column.meta["resolved"] = True
    return column


def passed(name: str, node: Node) -> Expr:
    """A column of a node as an expression."""
    return Expr(reference(name), quote(name), node.column(name).type)


def only_columns(node: Node, names: Sequence[str]) -> Node:
    """The node with exactly these columns, in this order."""
    if [c.name for c in node.columns] == list(names):
        return node
    return Project(node, tuple(Named(name, passed(name, node)) for name in names))


def renamed(node: Node, names: tuple[str, ...]) -> Node:
    """The node with its columns called anew, by position."""
    pairs = zip(names, node.columns, strict=True)
    return Project(node, tuple(Named(name, passed(c.name, node)) for name, c in pairs))
