"""Change events in JSON: every message's envelope as columns, by the fast path where that can be proven, else exactly.

Flink reads all of an envelope with its tree parser before it looks at the operation, so a bad field in an image that
nobody needs is an error as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.formats.contract import BadMessage
from rowkind.formats.json.cells import Cells, JsonReading
from rowkind.formats.json.fast_decode import MIN_ROWS, FastReader
from rowkind.formats.json.nested import taken
from rowkind.formats.json.tree import Members, Unreadable, parse, render, room_for, text_of
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.spans import Bools, Ints
from rowkind.types import Field

Root = dict[str, Any]
"""A message's members; of duplicate keys the last, as in a tree."""


class Envelope:
    """How a tool wraps its changes: which fields are read, and what is special about reading them."""

    title: str
    """The tool, as errors name it."""
    fields: tuple[Field, ...]

    def wanted(self, root: Root) -> bool:
        """Whether the message is read at all. Raises Unreadable when that cannot be told."""
        return True

    def finish(self, root: Root, row: list[Any]) -> None:
        """Complete the fields' values, read exactly, with what only the message itself can tell."""

    def doubtful(self, texts: pa.StringArray, events: pa.RecordBatch) -> Bools:
        """Events of the fast path that the exact path must read after all."""
        return np.zeros(events.num_rows, np.bool_)

    def unwanted(self, events: pa.RecordBatch) -> Bools:
        """Events of the fast path that `wanted` would not let through."""
        return np.zeros(events.num_rows, np.bool_)


@dataclass(slots=True)
class Events:
    """Envelopes as columns, the message of each (ascending), and which of them were read exactly."""

    columns: pa.RecordBatch
    message: Ints
    exact: Bools
    bad: list[BadMessage] = field(default_factory=list)
    ignored: int = 0


class EventReader:
    """Reads a batch of messages; null and empty ones are tombstones and give no event."""

    def __init__(self, envelope: Envelope, reading: JsonReading, least: int = MIN_ROWS) -> None:
        self._envelope = envelope
        self._reading = reading
        self._schema = decoded_schema(envelope.fields)
        self._fast = FastReader(envelope.fields, self._schema, reading, least)
        self._cells = Cells(reading)
        self._row = self._cells.row(envelope.fields)

    def read(self, payloads: pa.BinaryArray) -> Events:
        fast = self._fast.read(payloads)
        events, message, left = fast.rows, fast.message, fast.left
        if events.num_rows:
            doubtful = self._envelope.doubtful(taken(payloads, message).cast(pa.string()), events)
            left = np.sort(np.concatenate([left, message[doubtful]]))
            kept = ~doubtful & ~self._envelope.unwanted(events)
            if not kept.all():
                events, message = events.filter(pa.array(kept)), message[kept]
        if not len(left):
            return Events(events, message, np.zeros(len(message), np.bool_))
        return self._joined(events, message, self._exactly(payloads, left.tolist()))

    def _joined(self, events: pa.RecordBatch, message: Ints, exact: Events) -> Events:
        joined = np.concatenate([message, exact.message])
        order = np.argsort(joined, kind="stable")
        columns = pa.concat_batches([events, exact.columns]).take(pa.array(order))
        return Events(columns, joined[order], (order >= len(message)), exact.bad, exact.ignored)

    def _exactly(self, payloads: pa.BinaryArray, indices: Iterable[int]) -> Events:
        rows: list[list[Any]] = []
        message: list[int] = []
        bad: list[BadMessage] = []
        ignored = 0
        for index in indices:
            payload = payloads[index].as_py()
            if not payload:
                continue
            before = self._cells.ignored
            try:
                row = self._read_one(payload)
            except ValueError as error:
                ignored += self._reading.ignore_errors
                if not self._reading.ignore_errors:
                    bad.append(BadMessage(index, corrupt(self._envelope, str(error))))
                continue
            if row is not None:
                rows.append(row)
                message.append(index)
                ignored += self._cells.ignored - before
        return Events(self._batch(rows), np.array(message, np.int64), np.ones(len(rows), np.bool_), bad, ignored)

    def _read_one(self, payload: bytes) -> list[Any] | None:
        text = text_of(payload)
        with room_for(text):
            value = parse(text)
            if not isinstance(value, Members):
                raise Unreadable(f"{render(value, False)[:80]} is not an object")
            root = dict(value)
            if not self._envelope.wanted(root):
                return None
            row = self._row(value)
            self._envelope.finish(root, row)
            return row

    def _batch(self, rows: Sequence[list[Any]]) -> pa.RecordBatch:
        columns = [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(self._schema)]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def corrupt(envelope: Envelope, reason: str) -> str:
    return f"Corrupt {envelope.title} JSON message: {reason}"
