"""Tables to test with: a small one of each connector, changed by keyword."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rowkind.catalog import tables
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.settings import Side
from rowkind.definitions import Column, PhysicalColumn, TableDefinition
from rowkind.errors import RowkindError
from rowkind.options.session_values import SessionOptions
from rowkind.types import BIGINT, STRING

KEYED = {"key.format": "plain", "key.fields": "id"}
COLUMNS: tuple[Column, ...] = (
    PhysicalColumn("id", BIGINT),
    PhysicalColumn("name", STRING),
    PhysicalColumn("city", STRING),
)
APPEND = {
    "connector": "kafka",
    "topic": "t",
    "properties.bootstrap.servers": "localhost:9092",
    "format": "plain",
    "scan.startup.mode": "earliest-offset",
}
UPSERT = {
    "connector": "upsert-kafka",
    "topic": "t",
    "properties.bootstrap.servers": "localhost:9092",
    "key.format": "plain",
    "value.format": "plain",
}
REMOVED = None


def _changed(base: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    return {k: v for k, v in {**base, **changes}.items() if v is not None}


def append(
    changes: Mapping[str, str | None] | None = None, *more: Column, primary_key: tuple[str, ...] = ()
) -> TableDefinition:
    return TableDefinition("a", (*COLUMNS, *more), _changed(APPEND, changes or {}), primary_key=primary_key)


def upsert(
    changes: Mapping[str, str | None] | None = None, *more: Column, primary_key: tuple[str, ...] = ("id",)
) -> TableDefinition:
    return TableDefinition("u", (*COLUMNS, *more), _changed(UPSERT, changes or {}), primary_key=primary_key)


def resolve(definition: TableDefinition, session: SessionOptions, side: Side) -> tuple[KafkaTable, list[str]]:
    """A table that is Kafka's, with warnings."""
    table, warnings = tables.resolve(definition, session, side)
    assert isinstance(table, KafkaTable)
    return table, warnings


def source(definition: TableDefinition, session: SessionOptions | None = None) -> KafkaTable:
    return resolve(definition, session or SessionOptions(), Side.SOURCE)[0]


def sink(definition: TableDefinition, session: SessionOptions | None = None) -> KafkaTable:
    return resolve(definition, session or SessionOptions(), Side.SINK)[0]


def refused(
    definition: TableDefinition, *sides: Side, session: SessionOptions | None = None
) -> tuple[str, RowkindError]:
    """The condition with which every named side (both, if none is named) refuses the table."""
    errors = []
    for side in sides or tuple(Side):
        with pytest.raises(RowkindError) as caught:
            resolve(definition, session or SessionOptions(), side)
        errors.append(caught.value)
    assert len({e.condition for e in errors}) == 1, [str(e) for e in errors]
    return errors[0].condition, errors[0]


def condition(*args: object, **kwargs: object) -> str:
    return refused(*args, **kwargs)[0]  # type: ignore[arg-type]
