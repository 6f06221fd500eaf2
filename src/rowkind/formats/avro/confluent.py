"""`avro-confluent`: a zero byte, the id of the writer's schema in a registry, and the datum."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.formats.avro.decode import read_datums
from rowkind.formats.avro.encode import RecordWriter
from rowkind.formats.avro.readers import Node
from rowkind.formats.avro.resolve import resolve
from rowkind.formats.avro.schema import AvroType, SchemaError, derive, parse, schema_text, sql_type
from rowkind.formats.contract import BadMessage, Decoded, Decoder, Encoder, FormatChoice
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.schema_registry import SchemaRegistry, UnknownSchema, registry
from rowkind.formats.schema_registry_access import OPTIONS, RegistryAccess
from rowkind.formats.spans import Ints, spans, valid
from rowkind.kinds import ChangelogMode
from rowkind.types import DataType, Field, Root, row

HEADER = 5
"""Bytes before the datum."""


class AvroConfluentFormat:
    """The `avro-confluent` format."""

    name = "avro-confluent"
    options = OPTIONS
    changelog = ChangelogMode.INSERT_ONLY
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        TableSchema.of(row(*columns).not_null(), choice)
        RegistryAccess.of(choice)
        if choice.context.sink:
            subject(choice)

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        schema = TableSchema.of(row(*columns).not_null(), choice)
        return AvroConfluentDecoder(DatumReader(schema, registry(RegistryAccess.of(choice))))

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        schema = TableSchema.of(row(*columns).not_null(), choice)
        return AvroConfluentEncoder(schema, registry(RegistryAccess.of(choice)), subject(choice))


def subject(choice: FormatChoice) -> str:
    """The subject that a sink registers under."""
    given = choice.options.get("subject")
    if given:
        return str(given)
    if choice.context.topic is None:
        raise RowkindError("AVRO_SUBJECT_MISSING", table=choice.context.table, format=choice.name)
    return f"{choice.context.topic}-{'key' if choice.context.key else 'value'}"


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The schema by which a table reads and writes, given or derived, and the row type it stands for."""

    type: DataType
    schema: AvroType
    text: str
    table: str

    @classmethod
    def of(cls, type: DataType, choice: FormatChoice) -> TableSchema:
        table, given = choice.context.table, choice.options.get("schema")
        if given is None:
            text = schema_text(derive(type, table))
            return cls(type, parse(text), text, table)
        try:
            schema = parse(given)
            found = sql_type(schema)
        except SchemaError as e:
            raise RowkindError("AVRO_SCHEMA_INVALID", table=table, format=choice.name, reason=e) from None
        # As text, which leaves out comments.
        if str(found if type.nullable else found.not_null()) != str(type):
            raise RowkindError("AVRO_SCHEMA_MISMATCH", table=table, format=choice.name, schema=found, columns=type)
        _refuse_long_times(found, table, "")
        return cls(type, schema, schema_text(json.loads(given)), table)


def _refuse_long_times(type: DataType, table: str, column: str) -> None:
    if type.root is Root.TIME and (type.precision or 0) > 3:
        raise RowkindError("AVRO_UNSUPPORTED_TYPE", table=table, column=column, type=type)
    for f in type.fields:
        _refuse_long_times(f.type, table, f"{column}.{f.name}" if column else f.name)
    if type.element:
        _refuse_long_times(type.element, table, column)


class DatumReader:
    """Reads framed datums of any writer's schema as the table's; plans of reading are kept by schema id."""

    def __init__(self, table: TableSchema, registry: SchemaRegistry) -> None:
        self.table = table
        self.registry = registry
        self.schema = decoded_schema(table.type.fields)
        self._plans: dict[int, Node] = {}

    def read(self, payloads: pa.BinaryArray, index: Ints) -> tuple[pa.RecordBatch, Ints, list[BadMessage]]:
        """Rows of payloads, none of them null, each row's index, and the bad ones."""
        data, at = spans(payloads)
        framed = np.diff(at) >= HEADER
        framed[framed] = data[at[:-1][framed]] == 0
        bad = [
            BadMessage(int(i), "the message does not start with a zero byte and a schema id") for i in index[~framed]
        ]
        places = at[:-1, None][framed] + np.arange(1, HEADER)
        ids = data[places].view(">i4")[:, 0] if len(places) else np.zeros(0, np.int32)
        rows = np.flatnonzero(framed)
        groups = [self._group(int(id), payloads, index, rows[ids == id]) for id in np.unique(ids)]
        return merged(groups, self.schema, bad)

    def _group(
        self, id: int, payloads: pa.BinaryArray, index: Ints, rows: Ints
    ) -> tuple[pa.RecordBatch, Ints, list[BadMessage]]:
        try:
            plan = self._plan(id)
        except UnknownSchema as e:
            return _none(self.schema), np.zeros(0, np.int64), [BadMessage(int(i), str(e)) for i in index[rows]]
        some = payloads if len(rows) == len(payloads) else payloads.take(pa.array(rows))
        batch, message, bad = read_datums(plan, self.schema, some, index[rows], HEADER)
        return batch, message, [BadMessage(b.index, f"{b.reason} (writer's schema id {id})") for b in bad]

    def _plan(self, id: int) -> Node:
        if id not in self._plans:
            self._plans[id] = resolve(self.registry.schema(id), self.table.schema, self.table.type)
        return self._plans[id]


def _none(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema)


def merged(
    groups: list[tuple[pa.RecordBatch, Ints, list[BadMessage]]], schema: pa.Schema, bad: list[BadMessage]
) -> tuple[pa.RecordBatch, Ints, list[BadMessage]]:
    """Rows of several groups in the order of their messages."""
    bad = sorted([*bad, *(b for _, _, failed in groups for b in failed)], key=lambda b: b.index)
    if len(groups) == 1:
        return groups[0][0], groups[0][1], bad
    if not groups:
        return _none(schema), np.zeros(0, np.int64), bad
    message = np.concatenate([index for _, index, _ in groups])
    order = np.argsort(message, kind="stable")
    return pa.concat_batches([rows for rows, _, _ in groups]).take(pa.array(order)), message[order], bad


class AvroConfluentDecoder:
    """Framed datums to rows."""

    def __init__(self, reader: DatumReader) -> None:
        self.reader = reader

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        index = np.flatnonzero(valid(payloads))
        present = payloads if len(index) == len(payloads) else payloads.drop_null()
        rows, message, bad = self.reader.read(present, index)
        whole = len(message) == len(payloads)
        return Decoded(rows, None if whole else pa.array(message, pa.int32()), None, tuple(bad))


class AvroConfluentEncoder:
    """Rows to framed datums; the schema is registered with the first rows."""

    def __init__(self, table: TableSchema, registry: SchemaRegistry, subject: str) -> None:
        self.table = table
        self.registry = registry
        self.subject = subject
        self.writer = RecordWriter(table.schema, table.type, table.table)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        if rows.num_rows == 0:
            return pa.array([], pa.binary())
        return self.writer.write(rows.columns, self.header())

    def header(self) -> bytes:
        return b"\0" + self.registry.register(self.subject, self.table.text).to_bytes(4, "big", signed=True)
