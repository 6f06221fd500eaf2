"""METADATA columns: what a connector tells of a row beside its columns."""

from __future__ import annotations

from dataclasses import dataclass

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
