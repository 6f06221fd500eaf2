"""A table over topics: its definition and what its options come to, as plain data that can be pickled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rowkind.connectors.contract import Table
from rowkind.connectors.kafka.key_bytes import key_bytes
from rowkind.connectors.kafka.source_options import OnDataLoss
from rowkind.connectors.kafka.table_settings import ScanSettings, SinkSettings
from rowkind.formats.contract import FormatChoice
from rowkind.types import Field


@dataclass(frozen=True, slots=True)
class TopicTable(Table):
    """A `kafka` or `upsert-kafka` table on one side of a statement, for all that reads and writes it.

    `key_columns` are named as in the table, `key_payload` as inside the key (prefix cut off), in the same order.
    """

    reading: ScanSettings
    writing: SinkSettings
    topics: tuple[str, ...]
    topic_pattern: re.Pattern[str] | None
    """For `fullmatch` on topic names; None when `topics` names them."""
    properties: Mapping[str, str] = field(repr=False)
    """Java client properties without the prefix `properties.`."""
    key_format: FormatChoice | None
    value_format: FormatChoice
    key_columns: tuple[Field, ...]
    key_payload: tuple[Field, ...]
    value_columns: tuple[Field, ...]

    def __hash__(self) -> int:
        # Options and properties are mappings: equal tables still have equal hashes without them.
        return hash((self.definition.name, self.side, self.topics))

    @property
    def leaves_deleted_topics(self) -> bool:
        """Topics of a pattern come and go; of a list of topics one that goes is lost data."""
        return self.topic_pattern is not None or self.reading.on_data_loss is OnDataLoss.CONTINUE

    @property
    def bounded(self) -> bool:
        return self.reading.bounded.ends

    @property
    def place(self) -> str:
        return ";".join(self.topics) or str(self.topic_pattern and self.topic_pattern.pattern)

    @property
    def parts(self) -> tuple[str, ...]:
        return self.topics

    @property
    def shown_topics(self) -> str:
        """The topics; a pattern between slashes."""
        return self.place if self.topics else f"/{self.place}/"

    @property
    def details(self) -> tuple[str, ...]:
        return (f"topic {self.shown_topics}", self.value_format.name)

    @property
    def takes_new_rows_only(self) -> str:
        return (
            f"A '{self.connector}' table with format '{self.value_format.name}' only takes new rows. Write into an "
            "'upsert-kafka' table with a PRIMARY KEY, or use a CDC format such as 'debezium-json' in the 'kafka' table."
        )

    @property
    def order_key(self) -> tuple[str, ...]:
        return self.primary_key or tuple(c.name for c in self.key_columns)

    def column_place(self, column: str) -> str:
        key = {c.name: f"key {place}" for place, c in enumerate(self.key_columns)}
        return (key | {m.name: f"metadata {m.key}" for m in self.metadata}).get(column, "value")

    def identity(self) -> dict[str, Any]:
        """Options of formats may hold credentials; those that decide a key's bytes are in `lasting_key`.

        Where columns are in a message is told of each column. Reading and writing settings say where to start and how
        fast: the checkpoint's positions count.
        """
        return {
            "": "KafkaTable",
            "name": self.name,
            "connector": self.connector,
            "topics": list(self.topics),
            "topic_pattern": self.topic_pattern.pattern if self.topic_pattern else None,
            "key_format": self.key_format.name if self.key_format else None,
            "value_format": self.value_format.name,
        }

    @property
    def lasting_key(self) -> tuple[str, str] | None:
        if not self.upsert or self.key_format is None:
            return None
        return f"{self.side.value} topic {self.shown_topics}", key_bytes(self.key_format, self.key_payload)

    @property
    def transaction_prefix(self) -> str | None:
        return self.writing.transactional_id_prefix

    @property
    def group_id(self) -> str | None:
        return self.properties.get("group.id")
