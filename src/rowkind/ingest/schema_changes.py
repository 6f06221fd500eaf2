"""Changes of a table's schema, the tags that name them, and which of them reach the sink."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rowkind.errors import nearest
from rowkind.ingest.modes import Behavior
from rowkind.ingest.variables import Text
from rowkind.types import DataType, Field

ADD, ALTER, CREATE, DROP = "add.column", "alter.column.type", "create.table", "drop.column"
DROP_TABLE, RENAME, TRUNCATE, COMMENT = "drop.table", "rename.column", "truncate.table", "alter.table.comment"
TAGS = (ADD, ALTER, CREATE, DROP, DROP_TABLE, RENAME, TRUNCATE, COMMENT)
FAMILIES = ("column", "table", "add", "alter", "create", "drop", "rename", "truncate")


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new column, and the column that it follows; None: it is the first."""

    column: Field
    after: str | None
    tag = ADD

    def __str__(self) -> str:
        return f"column '{self.column.name}' {self.column.type} added"


@dataclass(frozen=True, slots=True)
class DropColumn:
    name: str
    tag = DROP

    def __str__(self) -> str:
        return f"column '{self.name}' dropped"


@dataclass(frozen=True, slots=True)
class RenameColumn:
    name: str
    new: Field
    tag = RENAME

    def __str__(self) -> str:
        return f"column '{self.name}' renamed to '{self.new.name}'"


@dataclass(frozen=True, slots=True)
class AlterType:
    name: str
    before: DataType
    after: DataType
    tag = ALTER

    def __str__(self) -> str:
        return f"column '{self.name}' changed from {self.before} to {self.after}"


@dataclass(frozen=True, slots=True)
class TruncateTable:
    tag = TRUNCATE

    def __str__(self) -> str:
        return "table truncated"


@dataclass(frozen=True, slots=True)
class DropTable:
    tag = DROP_TABLE

    def __str__(self) -> str:
        return "table dropped"


ColumnChange = AddColumn | DropColumn | RenameColumn | AlterType
Change = ColumnChange | TruncateTable | DropTable


@dataclass(frozen=True, slots=True)
class Accepted:
    """The tags of changes that reach the sink."""

    tags: frozenset[str]

    def __contains__(self, change: Change) -> bool:
        return change.tag in self.tags


def accepted(
    behavior: Behavior, include: Sequence[Text] | None = None, exclude: Sequence[Text] | None = None
) -> Accepted:
    """What the sink's two lists leave: exclude beats include, and a table can be created unless that is excluded.

    Without a list of its own, LENIENT leaves out what would empty a table.
    """
    left_out = _tags(exclude) if exclude is not None else set()
    if exclude is None and behavior is Behavior.LENIENT:
        left_out = {DROP_TABLE, TRUNCATE}
    let_in = set(TAGS) if include is None else _tags(include) | {CREATE}
    return Accepted(frozenset(let_in - left_out))


def changes_between(
    before: Sequence[Field], after: Sequence[Field], renamed: Mapping[str, str] | None = None
) -> tuple[ColumnChange, ...]:
    """What happened to the columns. `renamed` has the new name of each column that was renamed: lists do not tell."""
    old, new = {c.name: c for c in before}, {c.name: c for c in after}
    moved = {n: m for n, m in (renamed or {}).items() if n in old and m in new and m not in old}
    found: list[ColumnChange] = [RenameColumn(n, new[m]) for n, m in moved.items()]
    found += [DropColumn(n) for n in old if n not in new and n not in moved]
    here = old | {m: Field(m, old[n].type) for n, m in moved.items()}
    found += [AlterType(n, here[n].type, c.type) for n, c in new.items() if n in here and here[n].type != c.type]
    arrived = set(moved.values())
    previous = None
    for name, column in new.items():
        if name not in old and name not in arrived:
            found.append(AddColumn(column, previous))
        previous = name
    return tuple(found)


def _tags(texts: Iterable[Text]) -> set[str]:
    """Whole tags, and families, which stand for all tags that they are a part of."""
    found: set[str] = set()
    for text in texts:
        name = text.value.strip().lower()
        if name not in (*TAGS, *FAMILIES):
            known = (*TAGS, *FAMILIES)
            raise text.place.error(
                "INGEST_SCHEMA_TAG", tag=text.shown, suggestion=nearest(name, known), known=", ".join(known)
            )
        found |= {name} if name in TAGS else {tag for tag in TAGS if name in tag.split(".")}
    return found
