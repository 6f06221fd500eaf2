"""Transforms: what is written of a table, as the parts of `SELECT projection FROM table WHERE filter`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from rowkind.errors import RowkindError, nearest
from rowkind.ingest.given import Given
from rowkind.ingest.modes import Converter
from rowkind.ingest.pipeline_options import (
    CONVERTER,
    DESCRIPTION,
    FILTER,
    PRIMARY_KEYS,
    PROJECTION,
    TRANSFORM_SOURCE,
)
from rowkind.ingest.place import Place
from rowkind.ingest.projection import Item, columns_of, parse_filter, parse_projection
from rowkind.ingest.selectors import Selectors
from rowkind.ingest.tables import SourceTable
from rowkind.sql import render
from rowkind.sql.tree_nodes import type_node
from rowkind.types import STRING

NAMESPACE, SCHEMA, TABLE, EVENT_TYPE = (
    *("__namespace_name__", "__schema_name__", "__table_name__"),
    "__data_event_type__",
)
OP_TS = "op_ts"
_VARYING = frozenset(
    {
        *("UUID", "RAND", "RAND_INTEGER", "NOW", "CURRENT_TIMESTAMP", "CURRENT_ROW_TIMESTAMP", "LOCALTIMESTAMP"),
        *("CURRENT_DATE", "CURRENT_TIME", "LOCALTIME", "PROCTIME"),
    }
)


@dataclass(frozen=True, slots=True)
class TransformRule:
    """One rule of the job file, its texts parsed."""

    tables: Selectors
    projection: tuple[Item, ...] | None = field(default=None, repr=False)
    condition: exp.Expr | None = field(default=None, repr=False)
    primary_keys: tuple[str, ...] = ()
    soft_delete: bool = False
    description: str | None = None
    place: Place = field(default=Place("job"), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Transform:
    """What is written of one table: named expressions over its columns, the rows that pass, and the key."""

    table: SourceTable
    items: tuple[tuple[str, exp.Expr], ...]
    condition: exp.Expr | None
    primary_key: tuple[str, ...]
    needs: frozenset[str] = frozenset()
    """Columns beyond the table's that the expressions use, and the scan has to give: `__data_event_type__`, `op_ts`."""
    soft_delete: bool = False
    notes: tuple[str, ...] = ()

    @property
    def select(self) -> exp.Select:
        """The query over a relation that is named as the table. Places in it are those of the job file's texts."""
        made = [exp.Alias(this=tree.copy(), alias=exp.to_identifier(name, quoted=True)) for name, tree in self.items]
        relation = exp.Table(this=exp.to_identifier(self.table.name, quoted=True))
        where = exp.Where(this=self.condition.copy()) if self.condition is not None else None
        return exp.Select(expressions=made, from_=exp.From(this=relation), where=where)

    @property
    def text(self) -> str:
        """The query as SQL. To be bound it is parsed again, so that errors point into this text."""
        return render(self.select)


def transform_rule(given: Given) -> TransformRule:
    """A rule from its settings."""
    projection, condition = (given.settings.get(option.name) for option in (PROJECTION, FILTER))
    return TransformRule(
        given[TRANSFORM_SOURCE],
        parse_projection(projection.text) if projection else None,
        parse_filter(condition.text) if condition else None,
        given.get(PRIMARY_KEYS) or (),
        given.get(CONVERTER) is Converter.SOFT_DELETE,
        given.get(DESCRIPTION),
        given.place,
    )


def transformed(
    rules: Sequence[TransformRule], table: SourceTable, metadata: Sequence[str] = (), trim_keys: bool = False
) -> Transform:
    """The first rule that matches, applied to a table; every column as it is when none does."""
    rule = next((r for r in rules if r.tables.matches(table.database, table.name)), None)
    if rule is None:
        items = tuple((c.name, _column(c.name)) for c in table.columns)
        return Transform(table, items, None, table.primary_key)
    return _Applied(rule, table, metadata).transform(trim_keys)


class _Applied:
    """A rule on its way to a table's transform."""

    def __init__(self, rule: TransformRule, table: SourceTable, metadata: Sequence[str]) -> None:
        self.rule = rule
        self.table = table
        self.hidden = {EVENT_TYPE, *metadata} - table.types.keys()
        self.needs: set[str] = set()

    def transform(self, trim_keys: bool) -> Transform:
        items = self._items()
        key, notes = self._key(items, trim_keys)
        condition = self._condition()
        return Transform(
            self.table, tuple(items.items()), condition, key, frozenset(self.needs), self.rule.soft_delete, tuple(notes)
        )

    def _items(self) -> dict[str, exp.Expr]:
        """Named expressions in order; a name that comes again takes the place of the first."""
        every = {c.name: _column(c.name) for c in self.table.columns}
        if self.rule.projection is None:
            return dict(every)
        found: dict[str, exp.Expr] = {}
        for item in self.rule.projection:
            if item.name is None:
                self._check_star(item.tree)
                found.update(every)
            else:
                found[item.name] = self._resolved(item.tree)
        return found

    def _condition(self) -> exp.Expr | None:
        """The filter over the table's columns: a computed column is replaced by its expression."""
        if self.rule.condition is None:
            return None
        computed = {i.name: i.tree for i in self.rule.projection or () if i.name is not None and i.computed}
        tree = self.rule.condition.copy().transform(lambda node: _substituted(node, computed))
        return self._resolved(tree)

    def _resolved(self, tree: exp.Expr) -> exp.Expr:
        for column in columns_of(tree):
            self._check_column(column)
        return tree.copy().transform(self._constant)

    def _check_star(self, star: exp.Expr) -> None:
        relation = star.args.get("table")
        if relation is not None and relation.name != self.table.name:
            raise self._unknown(f"{relation.name}.*", (self.table.name,))

    def _check_column(self, column: exp.Column) -> None:
        names = [part.name for part in column.parts]
        name = names[1] if len(names) > 1 and names[0] == self.table.name else names[0]
        if name in self.hidden:
            self.needs.add(name)
        elif name not in self.table.types and name not in (NAMESPACE, SCHEMA, TABLE):
            raise self._unknown(name, (*self.table.types, NAMESPACE, SCHEMA, TABLE, EVENT_TYPE))

    def _unknown(self, name: str, known: Sequence[str]) -> RowkindError:
        asked = "; give the source 'metadata.list: op_ts'" if name == OP_TS else nearest(name, known)
        return self.rule.place.error(
            "INGEST_TRANSFORM_COLUMN", table=self.table.id, name=name, suggestion=asked, known=", ".join(known)
        )

    def _constant(self, node: exp.Expr) -> exp.Expr:
        """Names of the table as what they are."""
        if not isinstance(node, exp.Column) or len(node.parts) > 1 or node.name in self.table.types:
            return node
        match node.name:
            case "__schema_name__":
                return exp.Literal.string(self.table.database)
            case "__table_name__":
                return exp.Literal.string(self.table.name)
            case "__namespace_name__":
                return exp.Cast(this=exp.Null(), to=type_node(STRING))
        return node

    def _key(self, items: Mapping[str, exp.Expr], trim_keys: bool) -> tuple[tuple[str, ...], list[str]]:
        gone = [name for name in self.table.primary_key if name not in items]
        if gone and not trim_keys:
            raise self.rule.place.error("INGEST_KEY_TRIMMED", table=self.table.id, columns=", ".join(gone))
        key = self.rule.primary_keys or tuple(n for n in self.table.primary_key if n in items)
        for name in key:
            if name not in items:
                raise self._unknown(name, tuple(items))
            if varies(items[name]):
                raise self.rule.place.error("INGEST_KEY_VARIES", table=self.table.id, name=name)
        notes = []
        if gone and not self.rule.primary_keys and key:
            columns = ", ".join(gone)
            notes.append(
                f"Table {self.table.id}: its key lacks {columns}; rows that differ only there overwrite each other."
            )
        return key, notes


def varies(tree: exp.Expr) -> bool:
    """Whether an expression may differ between two looks at the same row, so that it cannot be part of a key."""
    if any(column.name in (EVENT_TYPE, OP_TS) for column in columns_of(tree)):
        return True
    calls = {str(call.this).upper(): call for call in tree.find_all(exp.Anonymous)}
    return bool(calls.keys() & _VARYING) or ("UNIX_TIMESTAMP" in calls and not calls["UNIX_TIMESTAMP"].expressions)


def _substituted(node: exp.Expr, computed: Mapping[str, exp.Expr]) -> exp.Expr:
    if isinstance(node, exp.Column) and len(node.parts) == 1 and node.name in computed:
        return exp.Paren(this=computed[node.name].copy())
    return node


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(name, quoted=True))
