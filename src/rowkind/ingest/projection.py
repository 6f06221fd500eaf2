"""Projection and filter of a transform: their texts in rowkind's dialect of SQL, as trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from rowkind.ingest.place import Place
from rowkind.ingest.variables import Text
from rowkind.sql import parse_expression, parse_query, render
from rowkind.sql.tree_nodes import is_aggregate

_SELECT = "SELECT "
_STAR = re.compile(r"('(?:[^']|'')*'|`[^`]*`)|\\\*")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a projection: all columns, or a named expression. A column under its own name is not computed."""

    name: str | None
    tree: exp.Expr
    computed: bool = True

    @property
    def star(self) -> bool:
        return self.name is None


def parse_projection(text: Text) -> tuple[Item, ...]:
    """The items of a projection; `\\*` is `*`."""
    clear = _STAR.sub(lambda found: found[1] or "*", text.value)
    place = text.place
    column = place.column - len(_SELECT)
    query = parse_query(_SELECT + clear, line=place.line, column=column, origin=f"{place.file}, projection")
    if not isinstance(query, exp.Select) or _clauses(query):
        raise _refused(place, "projection", "it is more than a list of expressions", clear)
    found = tuple(_item(written, place) for written in query.expressions)
    for item in found:
        _check(item.tree, place, "projection")
    return found


def parse_filter(text: Text) -> exp.Expr:
    """The condition of a filter."""
    place = text.place
    tree = parse_expression(text.value, line=place.line, column=place.column, origin=f"{place.file}, filter")
    _check(tree, place, "filter")
    return tree


def columns_of(tree: exp.Expr) -> Iterator[exp.Column]:
    """The columns that an expression refers to."""
    return (column for column in tree.find_all(exp.Column) if not isinstance(column.this, exp.Star))


def _clauses(query: exp.Select) -> list[str]:
    return [key for key, value in query.args.items() if value and key != "expressions"]


def _item(written: exp.Expr, place: Place) -> Item:
    if isinstance(written, exp.Star) or (isinstance(written, exp.Column) and isinstance(written.this, exp.Star)):
        return Item(None, written)
    if isinstance(written, exp.Alias):
        return Item(str(written.alias), written.this)
    if isinstance(written, exp.Column):
        return Item(str(written.name), written, computed=False)
    raise _refused(place, "projection", "it has no name; write 'expression AS name'", render(written))


def _check(tree: exp.Expr, place: Place, key: str) -> None:
    for node in tree.walk():
        if isinstance(node, exp.Query | exp.Subquery | exp.Exists):
            raise _refused(place, key, "there is no subquery here", render(node))
        if isinstance(node, exp.Window) or is_aggregate(node):
            raise _refused(place, key, "it would need more than one row", render(node))


def _refused(place: Place, key: str, reason: str, expression: str) -> Exception:
    return place.error("INGEST_TRANSFORM", key=key, reason=reason, expression=expression)
