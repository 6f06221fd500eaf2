"""Messages into rows of a table: key, value and metadata of raw batches decoded and put side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.connectors.kafka.fetching import ReadFields
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.settings import OnError
from rowkind.errors import RowkindError
from rowkind.formats.contract import Decoded, Decoder
from rowkind.formats.registry import format_named
from rowkind.kinds import RowKind
from rowkind.types import Field

Indices = npt.NDArray[np.int32]
Bad = dict[int, tuple[str, str]]
"""Bad messages of a batch by position: which half of the message, and why."""


class Diverted(NamedTuple):
    """A message for the dead-letter topic: as it was, with where it came from and the reason among its headers."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


@dataclass(slots=True)
class _Part:
    """Decoded payloads: their rows, and for each row its message."""

    rows: pa.RecordBatch
    message: Indices
    kinds: pa.Array | None

    def without(self, bad: Bad) -> _Part:
        """Without the rows of messages that are bad, be it for the other half of the message."""
        kept = ~np.isin(self.message, list(bad))
        mask = pa.array(kept)
        kinds = None if self.kinds is None else self.kinds.filter(mask)
        return _Part(self.rows.filter(mask), self.message[kept], kinds)


@dataclass
class MessageDecoder:
    """Built once in a worker for a table; `decode` is called with one raw batch after the other of a partition."""

    table: TopicTable
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        table = self.table
        self._schema = table.row_schema
        self._diverted: list[Diverted] = []
        self._upsert = table.connector == "upsert-kafka"
        format_keys = [m.format_key for m in table.metadata if m.format_key is not None]
        value = format_named(table.value_format.name)
        self._value: Decoder = value.decoder(table.value_columns, format_keys, table.value_format)
        self._key: Decoder | None = None
        if table.key_format is not None:
            self._key = format_named(table.key_format.name).decoder(table.key_payload, (), table.key_format)

    @property
    def fields(self) -> ReadFields:
        """What must be read of each message; the place of a message is needed to name it in an error."""
        keys = dict.fromkeys(m.key for m in self.table.metadata if m.format_key is None)
        diverts = self.table.reading.on_error is OnError.DEAD_LETTER
        wanted = [*keys, "offset", *(["header-list"] if diverts else [])]
        return ReadFields(self._key is not None or diverts, True, tuple(dict.fromkeys(wanted)))

    def decode(self, raw: pa.RecordBatch, topic: str, partition: int) -> pa.RecordBatch:
        self.counts["rows-read"] += raw.num_rows
        bad: Bad = {}
        value = self._values(raw, bad)
        key = None if self._key is None else self._part(self._key.decode(raw.column("key")), "key", bad)
        if bad:
            self._set_aside(raw, bad, topic, partition)
            value = value.without(bad)
            key = key.without(bad) if key else None
        self.counts["messages-without-row"] += raw.num_rows - len(bad) - len(np.unique(value.message))
        if key is None:
            return self._assembled(raw, value, None)
        value, key_rows = self._crossed(value, key, raw.num_rows)
        return self._assembled(raw, value, key.rows.take(pa.array(key_rows)))

    def take_diverted(self) -> list[Diverted]:
        """Messages set aside for the dead-letter topic since the last call."""
        taken, self._diverted = self._diverted, []
        return taken

    def _values(self, raw: pa.RecordBatch, bad: Bad) -> _Part:
        payloads = raw.column("value")
        if not self._upsert or not payloads.null_count:
            return self._part(self._value.decode(payloads), "value", bad)
        # A null value is a delete whatever the format: the format never sees it.
        present = np.flatnonzero(payloads.is_valid().to_numpy(zero_copy_only=False)).astype(np.int32)
        absent = np.flatnonzero(payloads.is_null().to_numpy(zero_copy_only=False)).astype(np.int32)
        self.counts["tombstones-read"] += len(absent)
        part = self._part(self._value.decode(payloads.take(pa.array(present))), "value", bad, present)
        message = np.concatenate([part.message, absent])
        order = np.argsort(message, kind="stable")
        loose = _loose(part)
        empty = pa.RecordBatch.from_arrays([pa.nulls(len(absent), f.type) for f in loose], schema=loose)
        rows = pa.concat_batches([part.rows.cast(loose), empty])
        kinds = np.zeros(len(message), np.int8)
        kinds[len(part.message) :] = RowKind.DELETE
        return _Part(rows.take(pa.array(order)), message[order], pa.array(kinds[order]))

    def _part(self, decoded: Decoded, role: str, bad: Bad, of: Indices | None = None) -> _Part:
        for failed in decoded.bad:
            bad.setdefault(failed.index if of is None else int(of[failed.index]), (role, failed.reason))
        self.counts["parse-errors-ignored"] += decoded.ignored
        if decoded.message is None:
            message = np.arange(decoded.rows.num_rows, dtype=np.int32)
        else:
            message = decoded.message.to_numpy(zero_copy_only=False)
        return _Part(decoded.rows, message if of is None else of[message], decoded.kinds)

    def _set_aside(self, raw: pa.RecordBatch, bad: Bad, topic: str, partition: int) -> None:
        """`scan.on-error`: the first bad message fails the job, or all of them are counted, and perhaps kept."""
        for index, (role, reason) in sorted(bad.items()):
            error = RowkindError(
                "UNDECODABLE_MESSAGE",
                table=self.table.name,
                topic=topic,
                partition=partition,
                offset=raw.column("offset")[index].as_py(),
                role=role,
                reason=told(reason),
                payload=shown(raw.column(role)[index].as_py()),
            )
            if self.table.reading.on_error is OnError.FAIL:
                raise error
            if self.table.reading.on_error is OnError.DEAD_LETTER:
                self._diverted.append(_diverted(raw, index, error))
        self.counts["messages-set-aside"] += len(bad)
        kept = self.table.reading.on_error is OnError.DEAD_LETTER
        self.counts["messages-dead-lettered" if kept else "messages-skipped"] += len(bad)

    def _crossed(self, value: _Part, key: _Part, messages: int) -> tuple[_Part, Indices]:
        """Every row of a value with every row of its key; a message without a key row is left out and counted."""
        if np.array_equal(value.message, key.message) and np.all(np.diff(key.message) > 0):
            return value, np.arange(len(key.message), dtype=np.int32)
        per_message = np.bincount(key.message, minlength=messages)
        first = np.concatenate([[0], np.cumsum(per_message)[:-1]])
        times = per_message[value.message]
        self.counts["messages-without-key"] += len(np.unique(value.message[times == 0]))
        chosen = np.repeat(np.arange(len(value.message)), times)
        within = np.arange(len(chosen)) - np.repeat(np.cumsum(times) - times, times)
        key_rows = (first[value.message[chosen]] + within).astype(np.int32)
        take = pa.array(chosen)
        kinds = None if value.kinds is None else value.kinds.take(take)
        return _Part(value.rows.take(take), value.message[chosen], kinds), key_rows

    def _assembled(self, raw: pa.RecordBatch, value: _Part, key: pa.RecordBatch | None) -> pa.RecordBatch:
        identity = len(value.message) == raw.num_rows and np.array_equal(value.message, np.arange(raw.num_rows))
        take = None if identity else pa.array(value.message)
        columns = [self._physical(c, value.rows, key) for c in self.table.physical]
        for m in self.table.metadata:
            found = value.rows.column(m.key) if m.format_key is not None else _taken(raw.column(m.key), take)
            columns.append(found)
        kinds = pa.array(np.zeros(len(value.message), np.int8)) if value.kinds is None else value.kinds
        columns.append(kinds)
        return pa.RecordBatch.from_arrays(
            [c if c.type == f.type else c.cast(f.type) for c, f in zip(columns, self._schema, strict=True)],
            schema=self._schema,
        )

    def _physical(self, column: Field, value: pa.RecordBatch, key: pa.RecordBatch | None) -> pa.Array:
        position = next((i for i, c in enumerate(self.table.key_columns) if c.name == column.name), None)
        of_key = key.column(position) if key is not None and position is not None else None
        if column.name not in value.schema.names:
            return of_key
        of_value = value.column(column.name)
        # The value's copy of a key column wins, but a value without it does not erase the key.
        if of_key is None or not of_value.null_count:
            return of_value
        if pa.types.is_nested(of_value.type):
            return pc.if_else(of_value.is_valid(), of_value, of_key)
        return pc.coalesce(of_value, of_key)


def _diverted(raw: pa.RecordBatch, index: int, error: RowkindError) -> Diverted:
    headers = [(h["key"], h["value"]) for h in raw.column("header-list")[index].as_py()]
    said = {name: str(error.params[name]) for name in ("topic", "partition", "offset", "role", "reason")}
    headers += [(f"rowkind.{name}", text.encode()) for name, text in said.items()]
    return Diverted(raw.column("key")[index].as_py(), raw.column("value")[index].as_py(), headers)


def _taken(column: pa.Array, take: pa.Array | None) -> pa.Array:
    return column if take is None else column.take(take)


def _loose(part: _Part) -> pa.Schema:
    """The schema with every column nullable: a delete has nothing but its key."""
    return pa.schema([f.with_nullable(True) for f in part.rows.schema])


def told(reason: str, most: int = 400) -> str:
    """Why a message is bad, for errors and headers: it may quote all of the message, half a surrogate pair included."""
    text = reason[:most].encode("utf-8", "backslashreplace").decode()
    return text if len(reason) <= most else f"{text}… ({len(reason)} characters)"


def shown(payload: bytes | None, most: int = 400) -> str:
    """A payload for an error message: as text where it is text."""
    if payload is None:
        return "null"
    text = payload[:most].decode("utf-8", "backslashreplace")
    shown = text if text.isprintable() else repr(payload[:most])
    return shown if len(payload) <= most else f"{shown}… ({len(payload)} bytes)"
