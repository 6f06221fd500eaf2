"""What an INSERT may write, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rowkind.catalog.tables import connector_of
from rowkind.connectors.contract import Table
from rowkind.connectors.usage import CONNECTOR
from rowkind.definitions import ComputedColumn, MetadataColumn, TableDefinition
from rowkind.errors import RowkindError, nearest
from rowkind.kinds import ChangelogMode
from rowkind.options.parsed_options import given_options
from rowkind.types import Field


def insert_columns(table: Table, named: Sequence[str] | None = None) -> tuple[Field, ...]:
    """The columns an INSERT provides, in its order: those it names, or all that can be written."""
    columns = {f.name: f for f in table.stored_columns}
    if named is None:
        return table.stored_columns
    return tuple(columns[name] if name in columns else _refuse(table, name) for name in named)


def _refuse(table: Table, name: str) -> Field:
    writable = [f.name for f in table.stored_columns]
    column = next((c for c in table.definition.columns if c.name == name), None)
    kinds = {ComputedColumn: "computed when the table is read", MetadataColumn: "VIRTUAL metadata"}
    if column is None:
        raise RowkindError(
            "NO_SUCH_COLUMN",
            table=table.name,
            column=name,
            columns=", ".join(writable),
            suggestion=nearest(name, writable),
        )
    raise RowkindError(
        "COLUMN_NOT_WRITABLE", table=table.name, column=name, kind=kinds[type(column)], columns=", ".join(writable)
    )


def check_sink_parallelism(table: Table, input_mode: ChangelogMode, input_tasks: int | None) -> None:
    """Changes of one row may only be spread over other tasks by the key they belong to.

    `input_tasks` is None where it differs from batch to batch. One task keeps any order.
    """
    wanted = table.writing.parallelism
    if wanted in (None, 1, input_tasks) or input_mode is ChangelogMode.INSERT_ONLY or table.primary_key:
        return
    raise RowkindError(
        "PARALLELISM_NEEDS_PRIMARY_KEY",
        table=table.name,
        parallelism=wanted,
        input="as many as a batch is cut into" if input_tasks is None else input_tasks,
        mode=input_mode.value,
    )


def with_hints(definition: TableDefinition, hints: Mapping[str, str]) -> TableDefinition:
    """The table with the options of an OPTIONS hint in place of its own."""
    declared = connector_of(definition).declared
    given, _ = given_options(definition, declared)
    changed, _ = given_options(replace(definition, options=hints), declared)
    if CONNECTOR.name in changed.texts and changed.get(CONNECTOR) != given.get(CONNECTOR):
        raise RowkindError("HINT_CHANGES_CONNECTOR", table=definition.name)
    kept = {given.written[k]: v for k, v in given.texts.items() if k not in changed.texts}
    return replace(definition, options={**kept, **hints})
