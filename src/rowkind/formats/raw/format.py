"""`raw`: one column, whose bytes are the message. NULL is a null payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.errors import RowkindError
from rowkind.formats.charsets import Charset, charset, utf8_texts
from rowkind.formats.contract import BadMessage, Decoded, FormatChoice
from rowkind.formats.row_schema import decoded_schema
from rowkind.formats.spans import fixed, spans, valid
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, text
from rowkind.types import BINARIES, CHARACTERS, DataType, Field, Root, arrow_type

_WIDTHS = {
    Root.BOOLEAN: "u1",
    Root.TINYINT: "i1",
    Root.SMALLINT: "i2",
    Root.INT: "i4",
    Root.BIGINT: "i8",
    Root.FLOAT: "f4",
    Root.DOUBLE: "f8",
}
_ENDS = {"big-endian": ">", "little-endian": "<"}

OPTIONS: tuple[Option[Any], ...] = (
    Option("charset", text, "string", "UTF-8", "Character set of a character column."),
    Option("endianness", text, "string", "big-endian", "Byte order of numbers: big-endian or little-endian."),
    Option(
        "line-delimiter",
        text,
        "string",
        None,
        "Reading: one row per part between delimiters. Writing: the delimiter follows every value. Taken literally.",
    ),
)


class RawFormat:
    """The `raw` format."""

    name = "raw"
    options = OPTIONS
    changelog = ChangelogMode.INSERT_ONLY
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        Layout.of(columns, choice)

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> RawDecoder:
        return RawDecoder(Layout.of(columns, choice))

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> RawEncoder:
        return RawEncoder(Layout.of(columns, choice))


@dataclass(frozen=True, slots=True)
class Layout:
    """How the one column lies in the message: `numpy` is the number's type, None for text and bytes."""

    column: Field
    numpy: str | None
    charset: Charset
    delimiter: bytes | None

    @classmethod
    def of(cls, columns: Sequence[Field], choice: FormatChoice) -> Layout:
        table = choice.context.table
        if len(columns) != 1:
            found = ", ".join(f"`{c.name}` {c.type}" for c in columns)
            raise RowkindError("RAW_NEEDS_ONE_COLUMN", table=table, columns=found)
        column = columns[0]
        root = column.type.root
        if root not in _WIDTHS and root not in CHARACTERS | BINARIES:
            raise RowkindError("RAW_UNSUPPORTED_TYPE", table=table, column=column.name, type=column.type)
        name = choice.options.get("charset") or "UTF-8"
        chars = charset(name)
        if chars is None:
            raise RowkindError("RAW_UNSUPPORTED_CHARSET", table=table, charset=name)
        order = choice.options.get("endianness") or "big-endian"
        if order.lower() not in _ENDS:
            raise RowkindError("RAW_UNSUPPORTED_ENDIANNESS", table=table, endianness=order)
        delimiter = choice.options.get("line-delimiter")
        return cls(
            column,
            _ENDS[order.lower()] + _WIDTHS[root] if root in _WIDTHS else None,
            chars,
            chars.encode(delimiter) if delimiter else None,
        )

    @property
    def text(self) -> bool:
        return self.column.type.root in CHARACTERS

    @property
    def arrow(self) -> pa.DataType:
        return arrow_type(self.column.type)


class RawDecoder:
    """Payloads to the one column."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        message = None
        if self.layout.delimiter is not None:
            payloads, message = self._split(payloads, self.layout.delimiter)
        if self.layout.numpy is not None:
            return self._numbers(payloads, message, np.dtype(self.layout.numpy))
        if not self.layout.text:
            values = payloads
        elif self.layout.charset.utf8:
            values = utf8_texts(payloads)
        else:
            decode = self.layout.charset.decode
            values = pa.array([None if p is None else decode(p) for p in payloads.to_pylist()], pa.string())
        return Decoded(self._batch(values), _indices(message))

    def _split(self, payloads: pa.BinaryArray, delimiter: bytes) -> tuple[pa.BinaryArray, np.ndarray[Any, Any]]:
        chars = self.layout.charset
        parts: list[bytes] = []
        message: list[int] = []
        for index, payload in enumerate(payloads.to_pylist()):
            if payload is None:
                continue
            found = chars.split(payload, delimiter)
            if found[-1] == b"":
                found.pop()
            parts += found
            message += [index] * len(found)
        return pa.array(parts, pa.binary()), np.array(message, np.int32)

    def _numbers(
        self, payloads: pa.BinaryArray, message: np.ndarray[Any, Any] | None, number: np.dtype[Any]
    ) -> Decoded:
        _, at = spans(payloads)
        present = valid(payloads)
        sized = np.diff(at) == number.itemsize
        wrong = present & ~sized
        source = np.arange(len(payloads), dtype=np.int32) if message is None else message
        spoiled = np.unique(source[wrong])
        keep = ~np.isin(source, spoiled) if len(spoiled) else None
        if keep is not None:
            payloads, present, source = payloads.filter(pa.array(keep)), present[keep], source[keep]
        data, at = spans(payloads.filter(pa.array(present)))
        values = np.zeros(len(payloads), number.newbyteorder("="))
        values[present] = np.frombuffer(data[at[0] : at[-1]].tobytes(), number)
        array = pa.array(values if number.kind != "u" else values != 0, self.layout.arrow, mask=~present)
        reason = f"the size of {self.layout.column.type.root} data is not {number.itemsize}"
        bad = tuple(BadMessage(int(i), reason) for i in spoiled)
        return Decoded(self._batch(array), _indices(source if message is not None or bad else None), None, bad)

    def _batch(self, values: pa.Array) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([values], schema=decoded_schema([self.layout.column]))


class RawEncoder:
    """The one column to payloads."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def encode(self, rows: pa.RecordBatch, kinds: pa.Int8Array | None = None) -> pa.BinaryArray:
        values = self._bytes(rows.column(0))
        if self.layout.delimiter is None:
            return values
        return pc.binary_join_element_wise(values, pa.scalar(self.layout.delimiter), pa.scalar(b""))

    def _bytes(self, column: pa.Array) -> pa.BinaryArray:
        if self.layout.numpy is not None:
            missing = ~valid(column)
            if self.layout.column.type.root is Root.BOOLEAN:
                column = column.cast(pa.uint8())
            filled = column.fill_null(0) if missing.any() else column
            return fixed(np.asarray(filled).astype(self.layout.numpy), missing)
        if not self.layout.text:
            return column
        if self.layout.charset.utf8:
            return column.view(pa.binary())
        encode = self.layout.charset.encode
        return pa.array([None if v is None else encode(v) for v in column.to_pylist()], pa.binary())


def _indices(message: np.ndarray[Any, Any] | None) -> pa.Int32Array | None:
    return None if message is None else pa.array(message, pa.int32())
