"""The event time of the latest row of a range, for the metrics: that of the watermark's column where it is read."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.metrics.traffic import Traffic

_PER_MILLISECOND = {"s": 0.001, "ms": 1, "us": 1_000, "ns": 1_000_000}


class EventTime:
    """Sees the rows of a range. A column that Spark computes from others is not there yet: then Kafka's time counts."""

    def __init__(self, table: TopicTable) -> None:
        watermark = table.definition.watermark
        self._column = None if watermark is None else watermark.column
        self._latest: int | None = None

    def see(self, rows: pa.RecordBatch) -> None:
        if self._column is None or self._column not in rows.schema.names:
            self._column = None
            return
        column = rows.column(self._column)
        if pa.types.is_timestamp(column.type) and (latest := pc.max(column.cast(pa.int64())).as_py()) is not None:
            found = int(latest / _PER_MILLISECOND[column.type.unit])
            self._latest = found if self._latest is None else max(found, self._latest)

    def of(self, traffic: Traffic) -> Traffic:
        """The traffic of the range, whose own event time is that of Kafka."""
        return traffic if self._column is None else replace(traffic, event_time=self._latest)
