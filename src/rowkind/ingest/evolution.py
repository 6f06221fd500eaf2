"""How a sink's columns follow those of its tables, and how rows fit into them. Pure functions over schemas.

| change upstream | EVOLVE, TRY_EVOLVE | LENIENT | IGNORE, or not among the accepted changes |
|---|---|---|---|
| add a column | at its place | last, nullable | cut off |
| rename a column | renamed | the old one stays nullable, the new one comes last | reads NULL under the old name |
| change a type | changed | changed | cast to the old type, NULL where that is impossible |
| drop a column | dropped | stays nullable | stays, NULL |
| truncate, drop the table | nothing is written | nothing is written | nothing is written |

EXCEPTION ends the job at any of them. A JSON topic rejects no change, so TRY_EVOLVE is EVOLVE. The columns of a topic
that tables share follow as with LENIENT, and types only widen: another table may still have the column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rowkind.errors import RowkindError
from rowkind.ingest.modes import Behavior
from rowkind.ingest.schema_changes import (
    Accepted,
    AddColumn,
    AlterType,
    Change,
    ColumnChange,
    DropColumn,
    DropTable,
    RenameColumn,
    TruncateTable,
    changes_between,
)
from rowkind.ingest.widening import widest
from rowkind.types import DataType, Field

APPLIED = "schema_changes_applied"
"""Counter: changes of a table's schema that changed the columns of its sink."""
IGNORED = "schema_changes_ignored"
"""Counter: changes of a table's schema that the sink did not follow."""
UNWRITTEN = "tables_emptied_unwritten"
"""Counter: TRUNCATE and DROP TABLE, whose keys are not known, so that their rows stay in the topic."""


@dataclass(frozen=True, slots=True)
class Evolved:
    """The sink's columns after changes, what to tell about them, and what to count."""

    columns: tuple[Field, ...]
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Policy:
    """What becomes of changes: the job's behaviour, the changes that its sink accepts, and whether tables share it."""

    behavior: Behavior
    accepted: Accepted
    shared: bool = False
    enabled: bool = True
    """False when `schema-change.enabled` is: no change reaches the sink."""


def evolved(
    table: str,
    sink: Sequence[Field],
    before: Sequence[Field],
    after: Sequence[Field],
    policy: Policy,
    renamed: Mapping[str, str] | None = None,
) -> Evolved:
    """The sink's columns when those of a table, as its transform gives them, changed.

    `renamed` are the columns that were renamed, old name to new; a transform that names them itself has none.
    """
    columns, notes, counts = tuple(sink), [], Counter[str]()
    for change in changes_between(before, after, renamed):
        moved = _followed(table, columns, change, policy)
        counts[APPLIED if moved is not None else IGNORED] += 1
        notes.append(_note(table, change, columns, moved))
        columns = columns if moved is None else moved
    return Evolved(columns, tuple(notes), dict(counts))


def emptied(table: str, sink: Sequence[Field], change: TruncateTable | DropTable, policy: Policy) -> Evolved:
    """TRUNCATE or DROP TABLE: nothing is written, since the keys are not known."""
    _refuse(table, change, policy)
    note = f"Table {table}: {change}; its rows stay in the topic, for their keys are not known."
    return Evolved(tuple(sink), (note,), {UNWRITTEN: 1})


def _followed(table: str, sink: tuple[Field, ...], change: ColumnChange, policy: Policy) -> tuple[Field, ...] | None:
    """The columns after one change; None when the sink does not follow it."""
    _refuse(table, change, policy)
    if not policy.enabled or policy.behavior is Behavior.IGNORE or change not in policy.accepted:
        return None
    lenient = policy.behavior is Behavior.LENIENT or policy.shared
    match change:
        case AddColumn():
            return _added(sink, change.column, last=lenient, after=change.after)
        case DropColumn():
            return _nullable(sink, change.name) if lenient else tuple(c for c in sink if c.name != change.name)
        case RenameColumn():
            if lenient:
                return _added(_nullable(sink, change.name), change.new, last=True)
            return _renamed(sink, change)
        case AlterType():
            return tuple(_altered(c, change, policy) if c.name == change.name else c for c in sink)


def _refuse(table: str, change: Change, policy: Policy) -> None:
    if policy.enabled and policy.behavior is Behavior.EXCEPTION and change in policy.accepted:
        raise RowkindError("INGEST_SCHEMA_CHANGED", table=table, change=str(change), tag=change.tag)


def _added(sink: tuple[Field, ...], column: Field, last: bool, after: str | None = None) -> tuple[Field, ...]:
    """With a column more. One that is there already, such as another table's or a dropped one, becomes wide enough."""
    if any(c.name == column.name for c in sink):
        return tuple(replace(c, type=widest(c.type, column.type)) if c.name == column.name else c for c in sink)
    if last:
        return (*sink, replace(column, type=column.type.as_nullable()))
    names = [c.name for c in sink]
    at = 0 if after is None else names.index(after) + 1 if after in names else len(names)
    return (*sink[:at], column, *sink[at:])


def _nullable(sink: tuple[Field, ...], name: str) -> tuple[Field, ...]:
    return tuple(replace(c, type=c.type.as_nullable()) if c.name == name else c for c in sink)


def _renamed(sink: tuple[Field, ...], change: RenameColumn) -> tuple[Field, ...]:
    if any(c.name == change.new.name for c in sink) or not any(c.name == change.name for c in sink):
        return _added(tuple(c for c in sink if c.name != change.name), change.new, last=True)
    return tuple(change.new if c.name == change.name else c for c in sink)


def _altered(column: Field, change: AlterType, policy: Policy) -> Field:
    if policy.shared:
        return replace(column, type=widest(column.type, change.after))
    return replace(column, type=_with_null(change.after, column.type, policy.behavior))


def _with_null(type: DataType, known: DataType, behavior: Behavior) -> DataType:
    """LENIENT never takes NULL back: older messages may have it."""
    return type.as_nullable() if behavior is Behavior.LENIENT and known.nullable else type


def _note(table: str, change: Change, before: tuple[Field, ...], after: tuple[Field, ...] | None) -> str:
    if after is None:
        return f"Table {table}: {change}; the sink does not follow it."
    if after == before:
        return f"Table {table}: {change}; the sink's columns stay as they are."
    return f"Table {table}: {change}; the sink has {', '.join(c.name for c in after)} from here on."
