"""What the JSON formats of change data capture share: options, and the ways from messages to rows and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.cdc.event_metadata import Key
from rowkind.formats.cdc.events import Envelope, EventReader, Events, corrupt
from rowkind.formats.cdc.images import Changes, Failures, Meaning, changes
from rowkind.formats.contract import BadMessage, Decoded, Decoder, Encoder, FormatChoice
from rowkind.formats.json.cells import JsonReading
from rowkind.formats.json.encode import JsonEncoder
from rowkind.formats.json.exact_encode import JsonWriting
from rowkind.formats.json.fast_decode import MIN_ROWS
from rowkind.formats.json.format import (
    IGNORE_ERRORS,
    IGNORE_NULLS,
    NULL_KEY_LITERAL,
    NULL_KEY_MODE,
    PLAIN_DECIMAL,
    STANDARD,
    holds_decimal,
    refuse_unwritable,
    value,
    writing,
)
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.spans import Ints
from rowkind.kinds import ChangelogMode, RowKind
from rowkind.options.declarations import Option
from rowkind.types import DataType, Field

JSON_OPTIONS: tuple[Option[Any], ...] = (
    IGNORE_ERRORS,
    STANDARD,
    NULL_KEY_MODE,
    NULL_KEY_LITERAL,
    PLAIN_DECIMAL,
    IGNORE_NULLS,
)


class ChangeEnvelope(Envelope, ABC):
    """An envelope whose events become rows."""

    @abstractmethod
    def opened(self, events: Events) -> Mapping[str, pa.Array]:
        """The columns of all events by name."""

    @abstractmethod
    def meaning(self, events: Events) -> Meaning: ...


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before and after a row in a message."""

    before: str
    after: str


class CdcJsonFormat(ABC):
    """One JSON object a message, which holds rows and what happened to them."""

    name: str
    options: tuple[Option[Any], ...] = JSON_OPTIONS
    changelog = ChangelogMode.RETRACT
    keys: Mapping[str, Key]

    @property
    def metadata(self) -> Mapping[str, DataType]:
        return {name: key.type for name, key in self.keys.items()}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        refuse_unwritable(columns, choice)

    @abstractmethod
    def envelope(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> ChangeEnvelope: ...

    @abstractmethod
    def frames(self, ignore_nulls: bool) -> tuple[Frame, Frame]:
        """Around a row that is there (+I, +U), and around one that is gone (-U, -D)."""

    def decoder(
        self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice, least: int = MIN_ROWS
    ) -> Decoder:
        envelope = self.envelope(columns, metadata, choice)
        reading = JsonReading(
            ignore_errors=value(choice, IGNORE_ERRORS),
            standard=value(choice, STANDARD),
            streaming=False,
            exact_reals=any(holds_decimal(c.type) for c in columns),
        )
        schema = decoded_schema(columns, metadata, self.metadata)
        return CdcDecoder(envelope, reading, schema, {name: self.keys[name] for name in metadata}, least)

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        written = writing(choice)
        return CdcEncoder(columns, written, *self.frames(written.ignore_nulls))


def metadata_fields(keys: Mapping[str, Key], metadata: Sequence[str]) -> tuple[Field, ...]:
    """What these keys need of an envelope, each once."""
    return tuple({keys[name].field.name: keys[name].field for name in metadata}.values())


class CdcDecoder:
    """Messages to rows with their kinds: all rows of a message, or none."""

    def __init__(
        self, envelope: ChangeEnvelope, reading: JsonReading, schema: pa.Schema, keys: Mapping[str, Key], least: int
    ) -> None:
        self._envelope = envelope
        self._ignore = reading.ignore_errors
        self._schema = schema
        self._keys = keys
        self._reader = EventReader(envelope, reading, least)

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        events = self._reader.read(payloads)
        metadata, failed = self._metadata(events)
        meaning = self._envelope.meaning(events)
        failed |= meaning.failures
        good = np.ones(len(events.message), np.bool_)
        good[list(failed)] = False
        made = changes(meaning.images, meaning.operations, good)
        take = pa.array(made.event)
        columns = [*made.rows.flatten(), *(column.take(take) for column in metadata)]
        message = events.message[made.event]
        return Decoded(
            self._batch(columns, made),
            None if _whole(message, len(payloads)) else pa.array(message, pa.int32()),
            made.kinds,
            self._bad(events, failed),
            events.ignored + (len(failed) if self._ignore else 0),
        )

    def _metadata(self, events: Events) -> tuple[list[pa.Array], Failures]:
        columns, failed = [], {}
        found = self._envelope.opened(events)
        for name, key in self._keys.items():
            column, odd = key.make(found[key.field.name])
            columns.append(column)
            for event in np.flatnonzero(odd).tolist():
                failed[event] = f"\"{key.field.name}\" does not hold what 'value.{name}' is read from"
        return columns, failed

    def _batch(self, columns: Sequence[pa.Array], made: Changes) -> pa.RecordBatch:
        if not columns:
            return pa.RecordBatch.from_struct_array(made.rows)
        fitting = [c if c.type.equals(f.type) else c.cast(f.type) for c, f in zip(columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(fitting, schema=self._schema)

    def _bad(self, events: Events, failed: Failures) -> tuple[BadMessage, ...]:
        if self._ignore:
            return ()
        unfit = [BadMessage(int(events.message[i]), corrupt(self._envelope, reason)) for i, reason in failed.items()]
        return tuple(sorted([*events.bad, *unfit], key=lambda bad: bad.index))


def _whole(message: Ints, messages: int) -> bool:
    """Whether every message gave exactly one row."""
    return len(message) == messages and bool((message == np.arange(messages)).all())


class CdcEncoder:
    """Rows to messages, one each; an update is never written as one: its rows go and come."""

    def __init__(self, columns: Sequence[Field], writing: JsonWriting, there: Frame, gone: Frame) -> None:
        self._row = JsonEncoder(columns, writing)
        self._there, self._gone = there, gone

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        texts = self._row.encode(rows)
        there, gone = self._there, self._gone
        if kinds is None or not len(kinds):
            return _framed(there.before, texts, there.after)
        adds = pc.is_in(kinds, pa.array([k for k in RowKind if k.adds], kinds.type))
        before, after = (pc.if_else(adds, a, b) for a, b in ((there.before, gone.before), (there.after, gone.after)))
        return _framed(before, texts, after)


def _framed(before: Any, texts: pa.BinaryArray, after: Any) -> pa.BinaryArray:
    parts = (pa.scalar(p.encode()) if isinstance(p, str) else p.cast(pa.binary()) for p in (before, after))
    first, last = parts
    return pc.binary_join_element_wise(first, texts, last, b"")
