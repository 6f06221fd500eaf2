"""From a definition to a table that can be read or written: its connector found, its options checked."""

from __future__ import annotations

from typing import Any

from rowkind.connectors.connector import Connector
from rowkind.connectors.contract import Table
from rowkind.connectors.registry import connector_named, names
from rowkind.connectors.rules import METADATA, OPTIONS, SETTINGS, values_are_supported
from rowkind.connectors.settings import Side
from rowkind.connectors.usage import CONNECTOR, Usage
from rowkind.definitions import TableDefinition
from rowkind.errors import RowkindError
from rowkind.options.parsed_options import given_options
from rowkind.options.session_values import SessionOptions


def connector_of(definition: TableDefinition) -> Connector[Any]:
    name = next((value for key, value in definition.options.items() if key.lower() == CONNECTOR.name), None)
    if name is None:
        raise RowkindError("CONNECTOR_MISSING", table=definition.name, known=", ".join(names()))
    return connector_named(name, definition.name)


def resolve(definition: TableDefinition, session: SessionOptions, side: Side) -> tuple[Table, list[str]]:
    """Check a table's options for the side it is used on, and read them all; the strings are warnings for the user."""
    connector = connector_of(definition)
    given, warnings = given_options(definition, connector.declared)
    plain = Usage(definition, connector.name, side, session, given, connector.options)
    _check_side(plain, connector)
    usage = connector.usage(plain)
    rules = (*connector.first_rules(side), *OPTIONS, *SETTINGS[side], *connector.rules(side), *METADATA[side])
    for rule in (*rules, values_are_supported):
        rule(usage)
    table, more = connector.table(usage)
    return table, warnings + more


def _check_side(usage: Usage, connector: Connector[Any]) -> None:
    if usage.side not in connector.sides:
        raise usage.error("TABLE_NOT_READABLE" if usage.reads else "TABLE_NOT_WRITABLE")
