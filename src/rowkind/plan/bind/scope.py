"""Names in a query: which column of which relation an identifier means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from rowkind.errors import RowkindError, nearest
from rowkind.plan.columns import passed, reference
from rowkind.plan.nodes import Named, Node, Project
from rowkind.sql.errors import Source
from rowkind.types import DataType, Root


@dataclass(frozen=True, slots=True)
class Relation:
    """One item of FROM: its alias, and for every column the user's name and the name in the plan."""

    alias: str | None
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """A column of JOIN … USING: its name in the plan, and the columns of the relations that it stands for."""

    column: str
    sources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the SELECT list: the name of its column and its resolved tree."""

    name: str
    tree: exp.Expr


@dataclass(frozen=True, slots=True)
class Scope:
    """What the expressions of a query see: a node, and the relations its columns come from.

    `merged` are the columns of JOIN … USING, which may be named without a relation.
    """

    node: Node
    relations: tuple[Relation, ...]
    source: Source
    merged: Mapping[str, Merged] = field(default_factory=dict)

    @property
    def types(self) -> dict[str, DataType]:
        return {c.name: c.type for c in self.node.columns}

    def resolve(self, tree: exp.Expr) -> exp.Expr:
        """The expression with every column named as in the plan; what is resolved already stays as it is."""
        return tree.copy().transform(lambda e: self._column(e) if isinstance(e, exp.Column) else e)

    def star(self, alias: exp.Identifier | None) -> list[tuple[str, exp.Expr]]:
        """The columns behind `*` or `alias.*`, with their names."""
        if alias is None:
            return [(u, reference(i)) for u, i in self._unqualified()]
        relation = next((r for r in self.relations if r.alias == alias.name), None)
        if relation is None:
            raise self.error("UNKNOWN_RELATION", alias, name=alias.name, suggestion=self._aliases(alias.name))
        return [(u, reference(i)) for u, i in relation.columns]

    def error(self, condition: str, at: exp.Expr, /, **params: object) -> RowkindError:
        """A named error that points at a part of the query."""
        return self.source.error(condition, position(at), **params)

    def _column(self, column: exp.Column) -> exp.Expr:
        if column.meta.get("resolved"):
            return column
        parts = [p for p in column.parts if isinstance(p, exp.Identifier)]
        if len(parts) > 1:
            relation = next((r for r in self.relations if r.alias == parts[0].name), None)
            if relation is not None:
                names = dict(relation.columns)
                if parts[1].name not in names:
                    raise self.error(
                        "UNKNOWN_COLUMN",
                        parts[1],
                        name=f"{parts[0].name}.{parts[1].name}",
                        suggestion=nearest(parts[1].name, names),
                        known=", ".join(names),
                    )
                return self._member(reference(names[parts[1].name], parts[1]), parts[2:])
        return self._member(self._plain(parts[0], len(parts) > 1), parts[1:])

    def _plain(self, name: exp.Identifier, qualified: bool) -> exp.Column:
        found = [i for u, i in self._unqualified() if u == name.name]
        if len(found) > 1:
            raise self.error("AMBIGUOUS_COLUMN", name, name=name.name, choices=", ".join(found))
        if not found:
            known = [u for u, _ in self._unqualified()]
            suggestion = nearest(name.name, known) or (self._aliases(name.name) if qualified else "")
            raise self.error("UNKNOWN_COLUMN", name, name=name.name, suggestion=suggestion, known=", ".join(known))
        return reference(found[0], name)

    def _member(self, column: exp.Column, path: list[exp.Identifier]) -> exp.Expr:
        found: exp.Expr = column
        type: DataType | None = self.types[column.name]
        for part in path:
            fields = {f.name: f.type for f in type.fields} if type and type.root is Root.ROW else {}
            if part.name not in fields:
                suggestion = nearest(part.name, fields)
                known = ", ".join(fields)
                raise self.error(
                    "UNKNOWN_FIELD", part, name=part.name, of=column.name, suggestion=suggestion, known=known
                )
            type = fields[part.name]
            found = exp.Dot(this=found, expression=exp.to_identifier(part.name, quoted=True))
        return found

    def _unqualified(self) -> Iterator[tuple[str, str]]:
        """Columns as they may be named without a relation: those of USING first, once each, then the others."""
        hidden: set[str] = set()
        for user, merged in self.merged.items():
            yield user, merged.column
            hidden |= merged.sources
        for relation in self.relations:
            yield from ((u, i) for u, i in relation.columns if i not in hidden)

    def _aliases(self, name: str) -> str:
        return nearest(name, [r.alias for r in self.relations if r.alias])


def qualified(scope: Scope, before: int = 0) -> Scope:
    """The scope with every column named `alias.column`, so that two sides of a join never clash.

    A relation without alias is told apart by its number among the relations; `before` is how many stand before.
    """
    relations, names = [], []
    for number, relation in enumerate(scope.relations, before):
        prefix = f"{relation.alias or f'${number}'}."
        moved = tuple((user, prefix + user) for user, _ in relation.columns)
        relations.append(replace(relation, columns=moved))
        names += [n for _, n in moved]
    inner = [i for r in scope.relations for _, i in r.columns]
    if inner == names:
        return scope
    made = tuple(Named(n, passed(i, scope.node)) for n, i in zip(names, inner, strict=True))
    return Scope(Project(scope.node, made), tuple(relations), scope.source)


def position(tree: exp.Expr) -> int:
    """Where an expression starts in its text: the first of its parts that knows."""
    starts = [int(e.meta["start"]) for e in tree.walk() if "start" in e.meta]
    return min(starts, default=0)
