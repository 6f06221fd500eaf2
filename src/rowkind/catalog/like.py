"""CREATE TABLE … LIKE: what a new table takes over from another, as Flink merges them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rowkind.definitions import Column, ComputedColumn, MetadataColumn, PhysicalColumn, TableDefinition, Watermark
from rowkind.errors import RowkindError
from rowkind.sql.statements import Like, Merge

Choices = Mapping[str, Merge]

DEFAULTS: Choices = {
    "CONSTRAINTS": Merge.INCLUDING,
    "DISTRIBUTION": Merge.INCLUDING,
    "GENERATED": Merge.INCLUDING,
    "METADATA": Merge.INCLUDING,
    "OPTIONS": Merge.OVERWRITING,
    "PARTITIONS": Merge.INCLUDING,
    "WATERMARKS": Merge.INCLUDING,
}
_OVERWRITABLE = frozenset({"GENERATED", "METADATA", "OPTIONS", "WATERMARKS"})


def merged(new: TableDefinition, like: Like, source: TableDefinition) -> TableDefinition:
    """The new table with what it takes over from the source."""
    choices = _choices(new, like)
    taken = choices["CONSTRAINTS"] is Merge.INCLUDING and bool(source.primary_key)
    if taken and new.primary_key:
        raise RowkindError("LIKE_PRIMARY_KEY", table=new.name, source=source.name)
    return replace(
        new,
        columns=_columns(new, source, choices),
        options=_options(new, source, choices["OPTIONS"]),
        primary_key=source.primary_key if taken else new.primary_key,
        constraint=source.constraint if taken else new.constraint,
        watermark=_watermark(new, source, choices["WATERMARKS"]),
    )


def _choices(new: TableDefinition, like: Like) -> Choices:
    """A choice for ALL changes every default, whatever its place; a choice for one feature goes before it."""
    named: dict[str, Merge] = {}
    for strategy, feature in like.choices:
        if feature in named:
            raise RowkindError("LIKE_CHOICE_TWICE", table=new.name, feature=feature)
        if feature not in {*DEFAULTS, "ALL"} or (strategy is Merge.OVERWRITING and feature not in _OVERWRITABLE):
            raise RowkindError("LIKE_CHOICE", table=new.name, strategy=strategy, feature=feature)
        named[feature] = strategy
    everything = named.pop("ALL", None)
    return {f: named.get(f, everything or default) for f, default in DEFAULTS.items()}


def _columns(new: TableDefinition, source: TableDefinition, choices: Choices) -> tuple[Column, ...]:
    """Source columns first; an overwritten column keeps its place."""
    found: dict[str, Column] = {c.name: c for c in source.columns if _strategy(c, choices) is not Merge.EXCLUDING}
    own: list[Column] = []
    for column in new.columns:
        if column.name not in found:
            own.append(column)
            continue
        _may_overwrite(column, found[column.name], new, source, choices)
        found[column.name] = column
    return (*found.values(), *own)


def _strategy(column: Column, choices: Choices) -> Merge:
    match column:
        case ComputedColumn():
            return choices["GENERATED"]
        case MetadataColumn():
            return choices["METADATA"]
        case PhysicalColumn():
            return Merge.INCLUDING


def _may_overwrite(
    column: Column, old: Column, new: TableDefinition, source: TableDefinition, choices: Choices
) -> None:
    if type(column) is type(old) and _strategy(column, choices) is Merge.OVERWRITING:
        return
    feature = {ComputedColumn: "GENERATED", MetadataColumn: "METADATA"}.get(type(old))
    way = f"Write EXCLUDING {feature} or OVERWRITING {feature}." if feature else "Give the new column another name."
    raise RowkindError("LIKE_COLUMN", table=new.name, source=source.name, column=column.name, way=way)


def _options(new: TableDefinition, source: TableDefinition, strategy: Merge) -> dict[str, str]:
    taken = {} if strategy is Merge.EXCLUDING else dict(source.options)
    if strategy is Merge.INCLUDING:
        for key in new.options:
            if key in taken:
                raise RowkindError("LIKE_OPTION", table=new.name, source=source.name, option=key)
    return {**taken, **new.options}


def _watermark(new: TableDefinition, source: TableDefinition, strategy: Merge) -> Watermark | None:
    if strategy is Merge.EXCLUDING or source.watermark is None:
        return new.watermark
    if new.watermark and strategy is Merge.INCLUDING:
        raise RowkindError("LIKE_WATERMARK", table=new.name, source=source.name)
    return new.watermark or source.watermark
