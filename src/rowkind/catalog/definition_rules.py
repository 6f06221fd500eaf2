"""Rules about a definition on its own, checked when the table is created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rowkind.definitions import ComputedColumn, MetadataColumn, PhysicalColumn, TableDefinition
from rowkind.errors import RowkindError, nearest
from rowkind.types import TIMESTAMPS, DataType, Root

MAX_PRECISION = 6


def columns_are_distinct(table: TableDefinition) -> None:
    for name, count in Counter(c.name for c in table.columns).items():
        if count > 1:
            raise RowkindError("COLUMN_DEFINED_TWICE", table=table.name, column=name)


def primary_key_is_physical(table: TableDefinition) -> None:
    columns = {c.name: c for c in table.columns}
    for name in table.primary_key:
        match columns.get(name):
            case None:
                raise _missing("PRIMARY_KEY_COLUMN_MISSING", table, name)
            case ComputedColumn():
                raise RowkindError("PRIMARY_KEY_NOT_PHYSICAL", table=table.name, column=name, kind="computed")
            case MetadataColumn():
                raise RowkindError("PRIMARY_KEY_NOT_PHYSICAL", table=table.name, column=name, kind="metadata")


def primary_key_is_distinct(table: TableDefinition) -> None:
    for name, count in Counter(table.primary_key).items():
        if count > 1:
            raise RowkindError("PRIMARY_KEY_COLUMN_TWICE", table=table.name, column=name)


def watermark_is_on_event_time(table: TableDefinition) -> None:
    """The type of a computed column is not known here; the planner calls `check_event_time` for it."""
    if table.watermark is None:
        return
    column = next((c for c in table.columns if c.name == table.watermark.column), None)
    if column is not None:
        if isinstance(column, PhysicalColumn | MetadataColumn):
            check_event_time(table, column.type)
        return
    check_event_time(table, _nested(table, table.watermark.column))


def check_event_time(table: TableDefinition, type: DataType) -> None:
    """Raise unless the watermark's column, which is of this type, can carry event time."""
    assert table.watermark
    if type.root not in TIMESTAMPS or (type.precision or 0) > MAX_PRECISION:
        raise RowkindError("WATERMARK_COLUMN_TYPE", table=table.name, column=table.watermark.column, type=type)


def _nested(table: TableDefinition, path: str) -> DataType:
    """The type of `column.member.member`."""
    first, *members = path.split(".")
    found = next((f.type for f in table.physical if f.name == first), None)
    for member in members:
        if found is None or found.root is not Root.ROW:
            break
        found = next((f.type for f in found.fields if f.name == member), None)
    if found is None or not members:
        raise _missing("WATERMARK_COLUMN_MISSING", table, path)
    return found


def _missing(condition: str, table: TableDefinition, column: str) -> RowkindError:
    names = [c.name for c in table.columns]
    return RowkindError(
        condition, table=table.name, column=column, columns=", ".join(names), suggestion=nearest(column, names)
    )


DEFINITION_RULES: tuple[Callable[[TableDefinition], None], ...] = (
    columns_are_distinct,
    primary_key_is_physical,
    primary_key_is_distinct,
    watermark_is_on_event_time,
)


def validate_definition(table: TableDefinition) -> None:
    """Raise the first rule's condition that the definition breaks."""
    for rule in DEFINITION_RULES:
        rule(table)
