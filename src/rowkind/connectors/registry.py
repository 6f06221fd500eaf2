"""Connectors by name; others add theirs by the entry point `rowkind.connectors`."""

from __future__ import annotations

from functools import cache
from typing import Any

from rowkind.connectors.connector import Connector
from rowkind.errors import RowkindError, nearest
from rowkind.registry import Registry

BUILT_IN = {
    "kafka": "rowkind.connectors.kafka.connector:KafkaConnector",
    "upsert-kafka": "rowkind.connectors.kafka.connector:UpsertKafkaConnector",
    "datagen": "rowkind.connectors.datagen.connector:DataGenConnector",
    "print": "rowkind.connectors.print:PrintConnector",
    "blackhole": "rowkind.connectors.blackhole:BlackholeConnector",
}
"""In the order of their page."""

CONNECTORS = Registry("connector", "rowkind.connectors", BUILT_IN)


def names() -> list[str]:
    """Every connector that can be named in a table."""
    return CONNECTORS.names()


def connector_named(name: str, table: str) -> Connector[Any]:
    """The connector of this name; an unknown one is an error of the table that names those that exist."""
    found = _instance(name)
    if found is None:
        raise RowkindError(
            "UNKNOWN_CONNECTOR",
            table=table,
            connector=name,
            known=CONNECTORS.nearest_first(name),
            suggestion=nearest(name, names()),
        )
    return found


@cache
def _instance(name: str) -> Connector[Any] | None:
    found: Connector[Any] | None = CONNECTORS.instance(name)
    return found
