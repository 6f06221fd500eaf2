"""METADATA columns: what a connector tells of a row beside its columns, and takes."""

from __future__ import annotations

from dataclasses import dataclass

from rowkind.connectors.usage import Usage
from rowkind.definitions import MetadataColumn
from rowkind.types import DataType

VALUE_PREFIX = "value."
"""What keys of the value's format start with."""


@dataclass(frozen=True, slots=True)
class MetadataField:
    """A METADATA column: its name and declared type in the table, its key and the type the connector has it in."""

    name: str
    type: DataType
    key: str
    message_type: DataType

    @property
    def format_key(self) -> str | None:
        """The key inside the value's format, for `value.<key>`."""
        return self.key.removeprefix(VALUE_PREFIX) if self.key.startswith(VALUE_PREFIX) else None


def read_columns(usage: Usage) -> tuple[MetadataColumn, ...]:
    return usage.definition.metadata


def written_columns(usage: Usage) -> tuple[MetadataColumn, ...]:
    return tuple(c for c in usage.definition.metadata if not c.virtual)


def metadata_fields(usage: Usage) -> tuple[MetadataField, ...]:
    """Of a source every METADATA column, of a sink those that are written."""
    columns, types = (read_columns(usage), usage.readable) if usage.reads else (written_columns(usage), usage.writable)
    return tuple(MetadataField(c.name, c.type, c.key, types[c.key]) for c in columns)
