"""`avro`: a bare Avro datum, without header or schema; both sides derive the schema from the table's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.errors import RowkindError
from rowkind.formats.avro.decode import read_datums
from rowkind.formats.avro.encode import RecordWriter
from rowkind.formats.avro.resolve import resolve
from rowkind.formats.avro.schema import AvroType, derive, parse, schema_text
from rowkind.formats.contract import Decoded, Decoder, Encoder, FormatChoice
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.spans import valid
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, boolean, text
from rowkind.types import DataType, Field, row

OPTIONS: tuple[Option[Any], ...] = (
    Option("encoding", text, "string", "binary", "`binary`, or `json` for Avro's own JSON encoding."),
    Option(
        "timestamp_mapping.legacy",
        boolean,
        "boolean",
        True,
        "true: TIMESTAMP(0-3) is timestamp-millis, and there is no TIMESTAMP_LTZ. false: TIMESTAMP is "
        "local-timestamp-millis or -micros, TIMESTAMP_LTZ is timestamp-millis or -micros. "
        "As in Flink 2.2 the number written is milliseconds, also where the schema says micros.",
    ),
)


class AvroFormat:
    """The `avro` format."""

    name = "avro"
    options = OPTIONS
    changelog = ChangelogMode.INSERT_ONLY
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        _schema(columns, choice)
        _is_json(choice)

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        if _is_json(choice):
            from rowkind.formats.avro.json_encoding import AvroJsonDecoder

            return AvroJsonDecoder(columns, _schema(columns, choice))
        return AvroDecoder(columns, _schema(columns, choice))

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        if _is_json(choice):
            from rowkind.formats.avro.json_encoding import AvroJsonEncoder

            return AvroJsonEncoder(columns, _schema(columns, choice), choice.context.table)
        return AvroEncoder(columns, _schema(columns, choice), choice.context.table)


def _schema(columns: Sequence[Field], choice: FormatChoice) -> AvroType:
    legacy = choice.options.get("timestamp_mapping.legacy") is not False
    return parse(schema_text(derive(row(*columns).not_null(), choice.context.table, legacy)))


def _is_json(choice: FormatChoice) -> bool:
    encoding = choice.options.get("encoding") or "binary"
    if encoding.lower() not in ("binary", "json"):
        raise RowkindError("AVRO_UNKNOWN_ENCODING", table=choice.context.table, encoding=encoding)
    return bool(encoding.lower() == "json")


class AvroDecoder:
    """Bare datums to rows."""

    def __init__(self, columns: Sequence[Field], schema: AvroType) -> None:
        self.schema = decoded_schema(columns)
        self.node = resolve(schema, schema, row(*columns).not_null())

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        index = np.flatnonzero(valid(payloads))
        present = payloads if len(index) == len(payloads) else payloads.drop_null()
        rows, message, bad = read_datums(self.node, self.schema, present, index)
        whole = len(message) == len(payloads)
        return Decoded(rows, None if whole else pa.array(message, pa.int32()), None, tuple(bad))


class AvroEncoder:
    """Rows to bare datums."""

    def __init__(self, columns: Sequence[Field], schema: AvroType, table: str) -> None:
        self.writer = RecordWriter(schema, row(*columns), table)

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        return self.writer.write(rows.columns)
