"""A table as one statement uses it: what every rule looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from rowkind.connectors.settings import Side
from rowkind.definitions import TableDefinition
from rowkind.errors import RowkindError
from rowkind.options.declarations import Option, integer, text
from rowkind.options.parsed_options import GivenOptions
from rowkind.options.session_values import SessionOptions
from rowkind.types import DataType

CONNECTOR = Option("connector", text, "string", None, "The connector's name.", required="yes")

PROPERTY_VERSION = Option("property-version", integer, "int", 1, "Reserved; only 1 exists.")

COMMON: tuple[Option[Any], ...] = (CONNECTOR, PROPERTY_VERSION)
"""Options of every table."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the options of a connector are for."""

    table: tuple[Option[Any], ...] = ()
    """Whether it is read or written; those of every table need not be named."""
    reading: tuple[Option[Any], ...] = ()
    writing: tuple[Option[Any], ...] = ()

    @property
    def all(self) -> tuple[Option[Any], ...]:
        """A table that is only written may have options for reading as well: one definition serves both."""
        return COMMON + self.table + self.reading + self.writing

    def of(self, side: Side) -> tuple[Option[Any], ...]:
        """The options that have a say when the table is read, or written."""
        return COMMON + self.table + (self.reading if side is Side.SOURCE else self.writing)


@dataclass(frozen=True, slots=True)
class Usage:
    """Definition, options and session of a table that is read or written.

    A connector whose rules look at more has a subclass.
    """

    definition: TableDefinition
    connector: str
    side: Side
    session: SessionOptions
    given: GivenOptions
    declared: Options

    def error(self, condition: str, **params: Any) -> RowkindError:
        return RowkindError(condition, table=self.definition.name, connector=self.connector, **params)

    @property
    def parts(self) -> dict[str, Any]:
        """For the usage of a subclass."""
        return {f.name: getattr(self, f.name) for f in fields(Usage)}

    @property
    def reads(self) -> bool:
        return self.side is Side.SOURCE

    @property
    def options(self) -> tuple[Option[Any], ...]:
        """Every option that this table takes."""
        return self.declared.all

    @property
    def used_options(self) -> tuple[Option[Any], ...]:
        """Those that have a say on this side."""
        return self.declared.of(self.side)

    def suggestion(self, key: str) -> str:
        """What a key that this table does not know may have been meant for, if the connector has an idea."""
        return ""

    @property
    def readable(self) -> Mapping[str, DataType]:
        """Keys that a METADATA column of this table may read."""
        return {}

    @property
    def writable(self) -> Mapping[str, DataType]:
        """Keys that a METADATA column of this table may write."""
        return {}
