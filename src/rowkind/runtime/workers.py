"""What runs inside Spark's Python workers. Module-level functions only: a nested one would be sent with copies of the
module's caches, and every batch would start with cold clients.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.catalog.modes import Guarantee, NotNullEnforcer
from rowkind.kafka.encoding import MessageEncoder
from rowkind.kafka.messages import MessageDecoder
from rowkind.kafka.partitioners import partitioner_named
from rowkind.kafka.ranges import OffsetRange
from rowkind.kafka.reader import ReadCounts, read
from rowkind.kafka.writer import drop_writer, writer_for
from rowkind.operators.net import net_change
from rowkind.runtime.remote import reporting

Batches = Iterator[pa.RecordBatch]
Tasks = Sequence[Sequence[OffsetRange]]

CHUNK_ROWS = 50_000
SUMMARY = "rows bigint"
"""What a sink task answers: an action needs a row to wait for."""


def reading(table: KafkaTable, ordered: bool, tasks: Tasks, counters: Any) -> Callable[[Batches], Batches]:
    """For mapInArrow over `spark.range(len(tasks))`: the rows of each task's ranges."""
    return partial(reporting, _read, pickle.dumps(table), ordered, tasks, counters)


def _read(packed: bytes, ordered: bool, tasks: Tasks, counters: Any, numbers: Batches) -> Batches:
    decoder = _decoder(packed, ordered)
    decoder.counts.clear()
    table, counts = decoder.table, ReadCounts()
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            for wanted in tasks[number]:
                raws = read(wanted, table.properties, decoder.fields, CHUNK_ROWS, table.scan.on_data_loss.value, counts)
                for raw in raws:
                    yield decoder.decode(raw, wanted.topic, wanted.partition)
    decoder.counts["offsets-lost"] += counts.lost
    _add(counters, f"{table.name}.", decoder.counts)


@lru_cache(maxsize=32)
def _decoder(packed: bytes, ordered: bool) -> MessageDecoder:
    return MessageDecoder(pickle.loads(packed), ordered)


def writing(
    table: KafkaTable, name: str, tasks: int, net_key: Sequence[str] | None, enforcer: NotNullEnforcer, counters: Any
) -> Callable[[Batches], Batches]:
    """For mapInArrow over a sink's rows, in so many tasks: writes them, and answers how many there were."""
    return partial(reporting, _write, pickle.dumps(table), name, tasks, net_key, enforcer, counters)


def _write(
    packed: bytes,
    name: str,
    tasks: int,
    net_key: Sequence[str] | None,
    enforcer: NotNullEnforcer,
    counters: Any,
    rows: Batches,
) -> Batches:
    encoder = _encoder(packed, enforcer)
    encoder.counts.clear()
    table = encoder.table
    topic = table.topics[0] if len(table.topics) == 1 else None
    partitioner = partitioner_named(table.sink.partitioner)
    if partitioner is not None:
        task = TaskContext.get()
        partitioner.open(task.partitionId() if task else 0, tasks)
    written = 0
    writer = None
    try:
        for batch in rows if net_key is None else _netted(rows, net_key, encoder.counts):
            if batch.num_rows == 0:
                continue
            writer = writer or writer_for(name, table.properties, topic)
            messages = encoder.encode(batch)
            writer.write(messages, partitioner, batch.to_pylist if partitioner is not None else None)
            written += messages.num_rows
        if writer is not None:
            writer.flush(wait=table.sink.guarantee is not Guarantee.NONE)
    except BaseException:
        drop_writer(name, table.properties)
        raise
    _add(counters, f"{table.name}.", encoder.counts)
    yield pa.record_batch({"rows": pa.array([written], pa.int64())})


def _netted(rows: Batches, key: Sequence[str], counts: Counter[str]) -> Batches:
    batches = [b for b in rows if b.num_rows]
    if not batches:
        return
    changes = pa.Table.from_batches(batches).combine_chunks()
    net = net_change(changes, list(key))
    counts["changes-coalesced"] += changes.num_rows - net.num_rows
    yield from net.to_batches(max_chunksize=CHUNK_ROWS)


@lru_cache(maxsize=32)
def _encoder(packed: bytes, enforcer: NotNullEnforcer) -> MessageEncoder:
    return MessageEncoder(pickle.loads(packed), enforcer)


def _add(counters: Any, prefix: str, counts: Counter[str]) -> None:
    counters.add(Counter({prefix + name: count for name, count in counts.items() if count}))
