"""The ranges of a task as rows of their table: consumed, decoded, and counted. Runs in a Python worker."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from rowkind.connectors.contract import ReadContext, Reader, Split, TaskRange
from rowkind.connectors.kafka.dead_letters import letters
from rowkind.connectors.kafka.event_time import EventTime
from rowkind.connectors.kafka.messages import MessageDecoder
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import OnDataLoss, ReadCounts, read
from rowkind.connectors.kafka.source_options import OnDataLoss as Loss
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.metrics.traffic import Traffic


class KafkaReader(Reader):
    """Keeps the decoder of its table; consumers are kept by the process."""

    def __init__(self, table: TopicTable) -> None:
        self._table = table
        self._decoder = MessageDecoder(table)
        self._on_loss: OnDataLoss = "continue" if table.reading.on_data_loss is Loss.CONTINUE else "fail"

    def read(self, task: TaskRange, context: ReadContext) -> Iterator[tuple[Split, pa.RecordBatch]]:
        self._decoder.counts = context.counts
        self._decoder.take_diverted()  # of a task that failed
        for wanted in task:
            yield from self._range(OffsetRange(*wanted), context)

    def _range(self, wanted: OffsetRange, context: ReadContext) -> Iterator[tuple[Split, pa.RecordBatch]]:
        table, decoder, split = self._table, self._decoder, Split(wanted.topic, wanted.partition)
        found, time = ReadCounts(), EventTime(table)
        for raw in read(
            wanted,
            table.properties,
            decoder.fields,
            on_data_loss=self._on_loss,
            counts=found,
            leave_deleted=table.leaves_deleted_topics,
        ):
            context.counts["bytes-read"] += raw.nbytes
            rows = decoder.decode(raw, *split)
            time.see(rows)
            if diverted := decoder.take_diverted():
                context.set_aside(letters(diverted))
            yield split, rows
        context.counts["offsets-lost"] += found.lost
        context.traffic.setdefault(wanted.topic, Traffic()).add(time.of(found.traffic))
