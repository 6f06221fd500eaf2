"""A table on topics as one statement uses it: what its rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rowkind.connectors.kafka.metadata import READABLE, WRITABLE
from rowkind.connectors.kafka.table_options import (
    FORMAT,
    KEY_FIELDS,
    KEY_FORMAT,
    PROPERTIES,
    TOPIC,
    TOPIC_PATTERN,
    VALUE_FORMAT,
)
from rowkind.connectors.metadata import VALUE_PREFIX
from rowkind.connectors.usage import Usage
from rowkind.formats.contract import Format
from rowkind.formats.registry import format_named
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option
from rowkind.types import DataType

UPSERT_KAFKA = "upsert-kafka"


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
class KafkaUsage(Usage):
    """A table on topics as one statement uses it. Formats are looked up when asked for."""

    @property
    def upsert(self) -> bool:
        return self.connector == UPSERT_KAFKA

    @property
    def key(self) -> FormatUse | None:
        name = self.given.get(KEY_FORMAT)
        if name is None and self.upsert:
            raise self.error("FORMAT_MISSING", option=KEY_FORMAT.name)
        return FormatUse(format_named(name), f"key.{name}.") if name else None

    @property
    def value(self) -> FormatUse:
        if name := self.given.get(FORMAT):
            return FormatUse(format_named(name), f"{name}.")
        if name := self.given.get(VALUE_FORMAT):
            return FormatUse(format_named(name), f"value.{name}.")
        raise self.error("FORMAT_MISSING", option=VALUE_FORMAT.name if self.upsert else FORMAT.name)

    @property
    def formats(self) -> tuple[FormatUse, ...]:
        key = self.key
        return (key, self.value) if key else (self.value,)

    @property
    def options(self) -> tuple[Option[Any], ...]:
        return self.declared.all + self._format_options

    @property
    def used_options(self) -> tuple[Option[Any], ...]:
        return self.declared.of(self.side) + self._format_options

    @property
    def _format_options(self) -> tuple[Option[Any], ...]:
        return tuple(o for f in self.formats for o in f.options)

    def suggestion(self, key: str) -> str:
        """A format's option that was given without the place of its format."""
        for use in self.formats:
            bare = key.rpartition(f"{use.format.name}.")[2]
            if key != bare and any(bare == o.name for o in use.format.options):
                return f"; did you mean '{use.prefix}{bare}'?"
        return ""

    @property
    def readable(self) -> Mapping[str, DataType]:
        """An upsert table does not show the keys of its format."""
        if self.upsert:
            return READABLE
        return READABLE | {VALUE_PREFIX + key: type for key, type in self.value.format.metadata.items()}

    @property
    def writable(self) -> Mapping[str, DataType]:
        """`topic` only where there is a choice."""
        return {key: type for key, type in WRITABLE.items() if key != "topic" or self.single_topic is None}

    @property
    def changelog(self) -> ChangelogMode:
        """What the table emits when read and takes when written."""
        return ChangelogMode.UPSERT if self.upsert else self.value.format.changelog

    @property
    def topics(self) -> tuple[str, ...]:
        return self.given.get(TOPIC) or ()

    @property
    def single_topic(self) -> str | None:
        return self.topics[0] if len(self.topics) == 1 and not self.given.has(TOPIC_PATTERN) else None

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the columns that make the message's key."""
        return self.definition.primary_key if self.upsert else self.given[KEY_FIELDS]

    @property
    def properties(self) -> dict[str, str]:
        return self.given.under(PROPERTIES)
