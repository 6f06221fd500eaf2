"""Rows of a table into messages: key and value bytes, and what else of a message the row decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.errors import RowkindError
from rowkind.formats.contract import Encoder
from rowkind.formats.registry import format_named
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.types import Field


@dataclass
class MessageEncoder:
    """Built once in a worker for a sink; called with one batch after the other, in order.

    The rows hold the table's physical columns, its written metadata columns in the types of the message, and the kind.
    """

    table: TopicTable
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        table = self.table
        self._upsert = table.connector == "upsert-kafka"
        self._value: Encoder = format_named(table.value_format.name).encoder(table.value_columns, table.value_format)
        self._key: Encoder | None = None
        if table.key_format is not None:
            self._key = format_named(table.key_format.name).encoder(table.key_payload, table.key_format)

    def encode(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Messages: columns key and value, and topic, timestamp, headers, header-list where the table has them."""
        columns: dict[str, pa.Array] = {}
        if self._key is not None:
            columns["key"] = self._key.encode(_picked(rows, self.table.key_columns, self.table.key_payload))
        columns["value"] = self._values(rows)
        for m in self.table.metadata:
            columns[m.key] = rows.column(m.name)
        if self._topic_is_chosen:
            self._check_topics(columns.get("topic"))
        self.counts["rows-written"] += rows.num_rows
        return pa.RecordBatch.from_pydict(columns)

    def _values(self, rows: pa.RecordBatch) -> pa.Array:
        kinds = rows.column(KIND_COLUMN)
        columns = self.table.value_columns
        if not self._upsert:
            return self._value.encode(_picked(rows, columns, columns), kinds)
        adds = _adds(kinds)
        if adds.all():
            return self._value.encode(_picked(rows, columns, columns))
        self.counts["tombstones-written"] += int(len(adds) - adds.sum())
        payloads = self._value.encode(_picked(rows.filter(pa.array(adds)), columns, columns))
        slot = np.cumsum(adds) - 1
        return (
            payloads.take(pa.array(np.where(adds, slot, 0), mask=~adds))
            if adds.any()
            else pa.nulls(len(adds), pa.binary())
        )

    @property
    def _topic_is_chosen(self) -> bool:
        return len(self.table.topics) != 1

    def _check_topics(self, topics: pa.Array | None) -> None:
        allowed = (
            ", ".join(self.table.topics)
            or f"topics that match {self.table.topic_pattern and self.table.topic_pattern.pattern}"
        )
        if topics is None or topics.null_count:
            raise RowkindError("NO_TOPIC_FOR_ROW", table=self.table.name, allowed=allowed)
        for topic in topics.unique().to_pylist():
            pattern = self.table.topic_pattern
            if topic not in self.table.topics and not (pattern is not None and pattern.fullmatch(topic)):
                raise RowkindError("TOPIC_NOT_ALLOWED", table=self.table.name, topic=topic, allowed=allowed)


def _adds(kinds: pa.Array) -> npt.NDArray[np.bool_]:
    return np.isin(kinds.to_numpy(zero_copy_only=False), (RowKind.INSERT, RowKind.UPDATE_AFTER))


def _picked(rows: pa.RecordBatch, columns: Sequence[Field], named: Sequence[Field]) -> pa.RecordBatch:
    if not columns:
        # A batch made of no arrays would forget how many rows it has.
        return pa.RecordBatch.from_struct_array(pa.array([{}] * rows.num_rows, pa.struct([])))
    return pa.RecordBatch.from_arrays([rows.column(c.name) for c in columns], names=[c.name for c in named])
