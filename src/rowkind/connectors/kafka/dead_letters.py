"""Messages that cannot be read as messages of the dead-letter topic: as they were, with the reason in their headers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from rowkind.connectors.contract import Letters
from rowkind.connectors.kafka.messages import Diverted
from rowkind.connectors.kafka.producers import producer_for
from rowkind.connectors.kafka.topic_table import TopicTable

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_LETTERS = pa.schema([("key", pa.binary()), ("value", pa.binary()), ("header-list", _HEADERS)])


class KafkaLetters(Letters):
    """The dead-letter topic of a table."""

    def __init__(self, table: TopicTable) -> None:
        self._table = table

    def send(self, letters: Iterator[pa.RecordBatch]) -> None:
        table = self._table
        producer = producer_for(f"dead-letter:{table.name}", table.properties, table.reading.dead_letter_topic)
        for batch in letters:
            producer.write(batch)
        producer.flush()


def letters(messages: Sequence[Diverted]) -> pa.RecordBatch:
    """Messages as `KafkaLetters` sends them."""
    headers = [[{"key": k, "value": v} for k, v in m.headers] for m in messages]
    columns = [
        pa.array([m.key for m in messages], pa.binary()),
        pa.array([m.value for m in messages], pa.binary()),
        pa.array(headers, _HEADERS),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_LETTERS)
