"""SHOW CREATE and DESCRIBE: a definition as text, with secrets masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rowkind.definitions import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    TableDefinition,
    ViewDefinition,
)
from rowkind.options.secrets import masked
from rowkind.types import DataType, Field, quote


@dataclass(frozen=True, slots=True)
class Description:
    """One line of DESCRIBE."""

    name: str
    type: str
    null: bool
    key: str | None = None
    extras: str | None = None
    watermark: str | None = None
    comment: str | None = None


def describe(table: TableDefinition, computed: Mapping[str, DataType] | None = None) -> list[Description]:
    """The columns of a table; `computed` gives the types of computed columns, which only the planner knows."""
    return [_description(table, column, computed or {}) for column in table.columns]


def describe_fields(fields: Sequence[Field]) -> list[Description]:
    """The columns of a view, by what its query gives."""
    return [Description(f.name, str(f.type.as_nullable()), f.type.nullable, comment=f.comment) for f in fields]


def _description(table: TableDefinition, column: Column, computed: Mapping[str, DataType]) -> Description:
    type = computed.get(column.name) if isinstance(column, ComputedColumn) else column.type
    in_key = column.name in table.primary_key
    rowtime = table.watermark if table.watermark and table.watermark.column == column.name else None
    return Description(
        column.name,
        ("UNKNOWN" if type is None else str(type.as_nullable())) + _time_attribute(column, rowtime is not None),
        not in_key and (type is None or type.nullable),
        f"PRI({', '.join(table.primary_key)})" if in_key else None,
        _extras(column),
        rowtime.expression if rowtime else None,
        column.comment,
    )


def _time_attribute(column: Column, rowtime: bool) -> str:
    if isinstance(column, ComputedColumn) and column.expression.upper().replace(" ", "") == "PROCTIME()":
        return " *PROCTIME*"
    return " *ROWTIME*" if rowtime else ""


def _extras(column: Column) -> str | None:
    match column:
        case ComputedColumn():
            return f"AS {column.expression}"
        case MetadataColumn():
            source = f" FROM {_text(column.key)}" if column.key != column.name else ""
            return f"METADATA{source}{' VIRTUAL' if column.virtual else ''}"
        case PhysicalColumn():
            return None


def show_create_table(table: TableDefinition) -> str:
    """DDL that makes the same table again, but for masked secrets."""
    parts = [_column(column) for column in table.columns]
    if table.watermark:
        path = ".".join(quote(p) for p in _path(table))
        parts.append(f"WATERMARK FOR {path} AS {table.watermark.expression}")
    if table.primary_key:
        name = f"CONSTRAINT {quote(table.constraint)} " if table.constraint else ""
        parts.append(f"{name}PRIMARY KEY ({', '.join(map(quote, table.primary_key))}) NOT ENFORCED")
    options = [f"{_text(key)} = {_text(value)}" for key, value in masked(table.options).items()]
    return "\n".join(
        [
            f"CREATE {_temporary(table)}TABLE {quote(table.name)} (",
            ",\n".join(f"  {part}" for part in parts),
            ")",
            *([f"COMMENT {_text(table.comment)}"] if table.comment else []),
            "WITH (",
            ",\n".join(f"  {option}" for option in options),
            ")",
        ]
    )


def _path(table: TableDefinition) -> list[str]:
    """The watermark's column, or the way to it inside a ROW."""
    assert table.watermark
    name = table.watermark.column
    return [name] if any(c.name == name for c in table.columns) else name.split(".")


def show_create_view(view: ViewDefinition) -> str:
    columns = f" ({', '.join(map(quote, view.columns))})" if view.columns else ""
    comment = f"\nCOMMENT {_text(view.comment)}" if view.comment else ""
    return f"CREATE {_temporary(view)}VIEW {quote(view.name)}{columns}{comment}\nAS {view.query}"


def _column(column: Column) -> str:
    type = "" if isinstance(column, ComputedColumn) else f" {column.type}"
    extras = _extras(column)
    comment = f" COMMENT {_text(column.comment)}" if column.comment else ""
    return f"{quote(column.name)}{type}{f' {extras}' if extras else ''}{comment}"


def _temporary(definition: TableDefinition | ViewDefinition) -> str:
    return "TEMPORARY " if definition.temporary else ""


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
