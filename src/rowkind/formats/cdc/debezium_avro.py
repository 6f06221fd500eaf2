"""`debezium-avro-confluent`: Debezium's change events as Avro datums in a registry's frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.avro.confluent import AvroConfluentEncoder, DatumReader, TableSchema, subject
from rowkind.formats.avro.encode import RecordWriter
from rowkind.formats.contract import BadMessage, Decoded, Decoder, Encoder, FormatChoice
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.schema_registry import SchemaRegistry, registry
from rowkind.formats.schema_registry_access import OPTIONS, RegistryAccess
from rowkind.formats.spans import Bools, Ints, spans, valid
from rowkind.kinds import ChangelogMode, RowKind
from rowkind.types import STRING, DataType, Field, row

_BEFORE_IS_NULL = (
    'The "before" field of {} message is null; with Debezium for Postgres, the table needs REPLICA IDENTITY FULL.'
)


class DebeziumAvroConfluentFormat:
    """The `debezium-avro-confluent` format."""

    name = "debezium-avro-confluent"
    options = OPTIONS
    changelog = ChangelogMode.RETRACT
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        TableSchema.of(envelope(columns), choice)
        RegistryAccess.of(choice)
        if choice.context.sink:
            subject(choice)

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        schema = TableSchema.of(envelope(columns), choice)
        return DebeziumAvroDecoder(columns, DatumReader(schema, registry(RegistryAccess.of(choice))))

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        schema = TableSchema.of(envelope(columns), choice)
        return DebeziumAvroEncoder(schema, registry(RegistryAccess.of(choice)), subject(choice))


def envelope(columns: Sequence[Field]) -> DataType:
    """A nullable row of what was, what is, and the operation."""
    image = row(*columns)
    return row(("before", image), ("after", image), ("op", STRING))


class DebeziumAvroDecoder:
    """Change events to rows with their kinds; an empty message is a tombstone and gives none."""

    def __init__(self, columns: Sequence[Field], reader: DatumReader) -> None:
        self.schema = decoded_schema(columns)
        self.reader = reader

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        filled = valid(payloads) & (np.diff(spans(payloads)[1]) > 0)
        index = np.flatnonzero(filled)
        present = payloads if len(index) == len(payloads) else payloads.filter(pa.array(filled))
        events, message, bad = self.reader.read(present, index)
        before, after, op = events.columns
        failed = self._failures(before, after, op)
        bad += [BadMessage(int(message[i]), reason) for i, reason in failed.items()]
        good = np.ones(len(message), np.bool_)
        good[list(failed)] = False
        return self._rows(events, message, good, sorted(bad, key=lambda b: b.index))

    def _failures(self, before: pa.Array, after: pa.Array, op: pa.Array) -> dict[int, str]:
        """Events that cannot become rows, by their place."""
        found: dict[int, str] = {}
        for i in np.flatnonzero(_is(op, "c", "r", "u") & ~valid(after)).tolist():
            found[i] = 'The "after" field is null.'
        for i in np.flatnonzero(_is(op, "u", "d") & ~valid(before)).tolist():
            found[i] = _BEFORE_IS_NULL.format("UPDATE" if op[i].as_py() == "u" else "DELETE")
        for i in np.flatnonzero(~_is(op, "c", "r", "u", "d")).tolist():
            found[i] = f'Unknown "op" value "{op[i]}".'
        return found

    def _rows(self, events: pa.RecordBatch, message: Ints, good: Bools, bad: list[BadMessage]) -> Decoded:
        op, size = events.column(2), events.num_rows
        new, update, gone = (np.flatnonzero(good & _is(op, *o)) for o in (("c", "r"), ("u",), ("d",)))
        # An image before is at its event's place, an image after one round later.
        places = np.concatenate([new + size, update, update + size, gone])
        events_of = np.concatenate([new, update, update, gone])
        kinds = np.repeat(
            np.array([RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE], np.int8),
            [len(new), len(update), len(update), len(gone)],
        )
        order = np.lexsort((kinds, events_of))
        images = pa.concat_arrays([events.column(0), events.column(1)]).take(pa.array(places[order]))
        rows = pa.RecordBatch.from_arrays(images.flatten(), schema=self.schema)
        indices = pa.array(message[events_of[order]], pa.int32())
        return Decoded(rows, indices, pa.array(kinds[order], pa.int8()), tuple(bad))


def _is(op: pa.StringArray, *letters: str) -> Bools:
    return np.asarray(pc.is_in(op, pa.array(letters, pa.string())))


class DebeziumAvroEncoder(AvroConfluentEncoder):
    """Rows to change events: `c` with the row after for +I and +U, `d` with the row before for -U and -D."""

    def __init__(self, table: TableSchema, registry: SchemaRegistry, subject: str) -> None:
        super().__init__(table, registry, subject)
        place = next(i for i, branch in enumerate(table.schema.branches) if branch.kind == "record")
        self.mark = bytes([2 * place])
        self.writer = RecordWriter(table.schema.branches[place], table.type, table.table)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        if rows.num_rows == 0:
            return pa.array([], pa.binary())
        gone = np.zeros(rows.num_rows, np.bool_)
        if kinds is not None:
            gone = np.isin(np.asarray(kinds), (RowKind.UPDATE_BEFORE, RowKind.DELETE))
        fields = list(rows.schema)
        before = pa.StructArray.from_arrays(rows.columns, fields=fields, mask=pa.array(~gone))
        after = pa.StructArray.from_arrays(rows.columns, fields=fields, mask=pa.array(gone))
        op = pa.array(np.where(gone, "d", "c"), pa.string())
        return self.writer.write([before, after, op], self.header() + self.mark)
