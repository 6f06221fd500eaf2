"""A part of an upsert topic as compaction would leave it: the last message of each key that is not a tombstone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.connectors.kafka.fetching import ReadFields
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import read
from rowkind.state.hashing import hash_rows

_KEYS = ReadFields(value=False, metadata=("offset",))
_ALL = ReadFields(metadata=("offset",))


@dataclass(frozen=True, slots=True)
class Latest:
    """A topic for workers: task by task, which are its partitions."""

    ranges: tuple[OffsetRange, ...]
    properties: tuple[tuple[str, str], ...]

    def __call__(self, task: int) -> Iterator[pa.RecordBatch]:
        return latest_messages(self.ranges[task], dict(self.properties))


def latest_messages(range: OffsetRange, properties: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """Columns key and value. Read twice, so that only 24 bytes a message are held."""
    last = _last_offsets(range, properties)
    for batch in read(range, properties, _ALL, on_data_loss="continue"):
        kept = batch.filter(pa.array(np.isin(_offsets(batch), last, kind="sort")))
        kept = kept.filter(kept.column("value").is_valid())
        if kept.num_rows:
            yield kept.select(["key", "value"])


def _last_offsets(range: OffsetRange, properties: Mapping[str, str]) -> npt.NDArray[np.int64]:
    ones, twos, offsets = [], [], []
    for batch in read(range, properties, _KEYS, on_data_loss="continue"):
        hashes = hash_rows(batch, ["key"])
        ones.append(hashes.h1)
        twos.append(hashes.h2)
        offsets.append(_offsets(batch))
    if not offsets:
        return np.zeros(0, np.int64)
    h1, h2, at = np.concatenate(ones), np.concatenate(twos), np.concatenate(offsets)
    order = np.lexsort((at, h2, h1))
    h1, h2 = h1[order], h2[order]
    last = np.ones(len(order), np.bool_)
    last[:-1] = (h1[1:] != h1[:-1]) | (h2[1:] != h2[:-1])
    found: npt.NDArray[np.int64] = np.sort(at[order[last]])
    return found


def _offsets(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = batch.column("offset").to_numpy(zero_copy_only=False)
    return found
