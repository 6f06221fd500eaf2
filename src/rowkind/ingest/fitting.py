"""How rows of a table fit into the columns of its sink: taken over, cast, or NULL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from rowkind.ingest.widening import widest
from rowkind.sql.tree_nodes import type_node
from rowkind.types import BINARIES, CHARACTERS, DataType, Field, Root

_TEXTLESS = frozenset({Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW})


class Fit(StrEnum):
    SAME = "same"
    CAST = "cast"
    """Every value fits."""
    TRY_CAST = "try_cast"
    """NULL where a value does not fit."""
    BASE64 = "base64"
    """Bytes as text, as JSON writes them."""
    NULL = "null"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A column of the sink: the column of the table that fills it, and how."""

    column: Field
    source: str | None
    fit: Fit

    @property
    def tree(self) -> exp.Expr:
        """The expression over the table's columns."""
        if self.source is None or self.fit is Fit.NULL:
            return exp.Cast(this=exp.Null(), to=type_node(self.column.type.as_nullable()))
        read = exp.Column(this=exp.to_identifier(self.source, quoted=True))
        target = type_node(self.column.type.as_nullable())
        match self.fit:
            case Fit.CAST:
                return exp.Cast(this=read, to=target)
            case Fit.TRY_CAST:
                return exp.TryCast(this=read, to=target)
            case Fit.BASE64:
                return exp.Anonymous(this="TO_BASE64", expressions=[read])
            case _:
                return read


def fitted(sink: Sequence[Field], table: Sequence[Field]) -> tuple[Fitted, ...]:
    """How each column of the sink is filled from rows of a table. A column that the sink lacks is cut off."""
    types = {c.name: c.type for c in table}
    return tuple(_fitted(column, types.get(column.name)) for column in sink)


def fits(sink: Sequence[Field], table: Sequence[Field]) -> bool:
    """Whether rows pass as they are."""
    return [c.name for c in sink] == [c.name for c in table] and all(f.fit is Fit.SAME for f in fitted(sink, table))


def fit_of(given: DataType, wanted: DataType) -> Fit:
    """How a value of one type becomes one of another."""
    a, b = given.as_nullable(), wanted.as_nullable()
    if a == b or _longer(a, b):
        return Fit.SAME
    if a.root in BINARIES and b.root in CHARACTERS:
        return Fit.BASE64
    if a.root in _TEXTLESS or b.root in _TEXTLESS:
        return Fit.NULL
    return Fit.CAST if widest(a, b) == b else Fit.TRY_CAST


def _longer(given: DataType, wanted: DataType) -> bool:
    """Texts and bytes of any length are the same to JSON."""
    return any({given.root, wanted.root} <= family for family in (CHARACTERS, BINARIES))


def _fitted(column: Field, given: DataType | None) -> Fitted:
    if given is None:
        return Fitted(column, None, Fit.NULL)
    return Fitted(column, column.name, fit_of(given, column.type))
