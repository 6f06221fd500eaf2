"""A table as one statement uses it: what every rule looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rowkind.connectors.kafka.client_keys import declared
from rowkind.connectors.kafka.connector_options import CONNECTORS, Connector
from rowkind.connectors.kafka.table_options import (
    CONNECTOR,
    FORMAT,
    KEY_FIELDS,
    KEY_FORMAT,
    PROPERTIES,
    TOPIC,
    TOPIC_PATTERN,
    VALUE_FORMAT,
)
from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition
from rowkind.errors import RowkindError, nearest
from rowkind.formats.contract import Format
from rowkind.formats.registry import format_named
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option
from rowkind.options.parsed_options import GivenOptions, given_options
from rowkind.options.session_values import SessionOptions


@dataclass(frozen=True, slots=True)
class FormatUse:
    """A format in its place: `prefix` is what its option keys start with in this table."""

    format: Format
    prefix: str

    @property
    def options(self) -> tuple[Option[Any], ...]:
        """The format's options by the keys they have in the table."""
        return tuple(
            replace(o, name=self.prefix + o.name, fallbacks=tuple(self.prefix + f for f in o.fallbacks))
            for o in self.format.options
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Definition, options and session of a table that is read or written. Formats are looked up when asked for."""

    definition: TableDefinition
    connector: Connector
    side: Side
    session: SessionOptions
    given: GivenOptions

    def error(self, condition: str, **params: Any) -> RowkindError:
        return RowkindError(condition, table=self.definition.name, connector=self.connector.name, **params)

    @property
    def reads(self) -> bool:
        return self.side is Side.SOURCE

    @property
    def key(self) -> FormatUse | None:
        name = self.given.get(KEY_FORMAT)
        if name is None and self.connector.upsert:
            raise self.error("FORMAT_MISSING", option=KEY_FORMAT.name)
        return FormatUse(format_named(name), f"key.{name}.") if name else None

    @property
    def value(self) -> FormatUse:
        if name := self.given.get(FORMAT):
            return FormatUse(format_named(name), f"{name}.")
        if name := self.given.get(VALUE_FORMAT):
            return FormatUse(format_named(name), f"value.{name}.")
        raise self.error("FORMAT_MISSING", option=VALUE_FORMAT.name if self.connector.upsert else FORMAT.name)

    @property
    def formats(self) -> tuple[FormatUse, ...]:
        key = self.key
        return (key, self.value) if key else (self.value,)

    @property
    def options(self) -> tuple[Option[Any], ...]:
        """Every option that this table takes, those of its formats included."""
        return self.connector.options + tuple(o for f in self.formats for o in f.options)

    @property
    def changelog(self) -> ChangelogMode:
        """What the table emits when read and takes when written."""
        return ChangelogMode.UPSERT if self.connector.upsert else self.value.format.changelog

    @property
    def topics(self) -> tuple[str, ...]:
        return self.given.get(TOPIC) or ()

    @property
    def single_topic(self) -> str | None:
        return self.topics[0] if len(self.topics) == 1 and not self.given.has(TOPIC_PATTERN) else None

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the columns that make the message's key."""
        return self.definition.primary_key if self.connector.upsert else self.given[KEY_FIELDS]

    @property
    def properties(self) -> dict[str, str]:
        return self.given.under(PROPERTIES)


def use(definition: TableDefinition, session: SessionOptions, side: Side) -> tuple[Usage, list[str]]:
    """A table with its connector found, and warnings about how its options are written."""
    given, warnings = given_options(definition, declared)
    name = given.get(CONNECTOR)
    if name is None:
        raise RowkindError("CONNECTOR_MISSING", table=definition.name, known=", ".join(CONNECTORS))
    if name not in CONNECTORS:
        raise RowkindError(
            "UNKNOWN_CONNECTOR",
            table=definition.name,
            connector=name,
            known=", ".join(CONNECTORS),
            suggestion=nearest(name, CONNECTORS),
        )
    return Usage(definition, CONNECTORS[name], side, session, given), warnings
