"""csv messages to rows: Arrow's csv reader where it reads as Flink does, `record` and `field_values` for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from rowkind.formats.contract import BadMessage, Decoded
from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.csv.field_columns import read_column
from rowkind.formats.csv.field_values import FieldReader
from rowkind.formats.csv.record import RecordReader
from rowkind.formats.row_schema import decoded_schema, relaxed
from rowkind.formats.spans import Bools, Bytes, Ints, is_utf8, spans, valid
from rowkind.types import Field


class CsvDecoder:
    """Payloads to rows, one record a payload."""

    def __init__(self, columns: tuple[Field, ...], dialect: Dialect) -> None:
        self.columns = tuple(Field(c.name, relaxed(c.type)) for c in columns)
        self.dialect = dialect
        self.schema = decoded_schema(columns)
        self.records = RecordReader(dialect, len(columns))
        self.fields = FieldReader(columns, dialect)

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        present = valid(payloads)
        index, fast = self._fast(payloads, present)
        slow = present.copy()
        slow[index] = False
        rest = np.flatnonzero(slow)
        if len(rest) == 0:
            return Decoded(self._batch(fast), None if len(index) == len(payloads) else pa.array(index, pa.int32()))
        return self._with_slow(payloads, index, fast, rest)

    def _with_slow(self, payloads: pa.BinaryArray, index: Ints, fast: list[pa.Array], rest: Ints) -> Decoded:
        ignored = self.fields.ignored
        kept, rows, bad = self._slow(payloads, rest)
        order = np.concatenate([index, np.array(kept, np.int64)])
        by_message = pa.array(np.argsort(order, kind="stable"))
        slow = [pa.array([r[i] for r in rows], type) for i, type in enumerate(self.schema.types)]
        merged = [pa.concat_arrays([f, s]).take(by_message) for f, s in zip(fast, slow, strict=True)]
        dropped = 0
        if self.dialect.ignore_errors:
            dropped, bad = len(bad), []
        message = None if len(order) == len(payloads) else pa.array(np.sort(order), pa.int32())
        return Decoded(self._batch(merged), message, None, tuple(bad), self.fields.ignored - ignored + dropped)

    def _slow(self, payloads: pa.BinaryArray, rest: Ints) -> tuple[list[int], list[list[Any]], list[BadMessage]]:
        kept: list[int] = []
        rows: list[list[Any]] = []
        bad: list[BadMessage] = []
        for i, payload in zip(rest.tolist(), payloads.take(pa.array(rest)).to_pylist(), strict=True):
            try:
                rows.append(self.fields.read(self.records.read(payload)))
                kept.append(i)
            except ValueError as e:
                bad.append(BadMessage(i, str(e)))
        return kept, rows, bad

    def _batch(self, columns: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _fast(self, payloads: pa.BinaryArray, present: Bools) -> tuple[Ints, list[pa.Array]]:
        """Which payloads were read fast, and their columns."""
        plain = present & plain_rows(payloads, self.dialect) if readable(self.dialect) else np.zeros_like(present)
        index = np.flatnonzero(plain)
        if len(index) == 0:
            return index, [pa.nulls(0, t) for t in self.schema.types]
        index, texts = self._split(payloads if plain.all() else payloads.filter(pa.array(plain)), index)
        read = [read_column(text, c.type, self.dialect) for text, c in zip(texts, self.columns, strict=True)]
        columns = [values for values, _ in read]
        holds = np.ones(len(index), np.bool_)
        for _, mask in read:
            if mask is not None:
                holds &= np.asarray(mask)
        if not holds.all():
            columns = [c.filter(pa.array(holds)) for c in columns]
            index = index[holds]
        return index, columns

    def _split(self, payloads: pa.BinaryArray, index: Ints) -> tuple[Ints, list[pa.StringArray]]:
        """Fields as text columns, without the rows that have too many or too few of them."""
        names = [str(i) for i in range(len(self.columns))]
        lines = pc.binary_join_element_wise(payloads, b"\n", b"").buffers()[2]
        ragged: list[int] = []

        def skip(row: Any) -> str:
            ragged.append(row.number - 1)
            return "skip"

        table = pyarrow.csv.read_csv(
            pa.BufferReader(lines),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(lines) + 1, column_names=names),
            pyarrow.csv.ParseOptions(
                delimiter=self.dialect.delimiter,
                quote_char=self.dialect.quote or False,
                double_quote=False,
                ignore_empty_lines=False,
                invalid_row_handler=skip,
            ),
            pyarrow.csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[],
                strings_can_be_null=False,
            ),
        ).combine_chunks()
        texts = [c.chunk(0) if c.num_chunks else pa.nulls(0, pa.string()) for c in table.columns]
        return (np.delete(index, ragged) if ragged else index), texts


def readable(dialect: Dialect) -> bool:
    """Whether Arrow's reader can take this dialect at all."""
    marks = [dialect.delimiter, dialect.quote or '"', dialect.escape or "\\"]
    return all(m.isascii() and m not in "\r\n\0" for m in marks) and len(set(marks)) == len(marks)


def plain_rows(payloads: pa.BinaryArray, dialect: Dialect) -> Bools:
    """Payloads that are one line of plain text, with every quote at the edge of its field."""
    data, at = spans(payloads)
    used = data[: at[-1]]
    plain = (np.diff(at) > 0) & is_utf8(payloads)
    special = np.zeros(256, np.bool_)
    special[list(b"\r\n\0" + (dialect.escape or "").encode())] = True
    if dialect.trim:
        special[:33] = True
    first = data[np.minimum(at[:-1], max(len(data) - 1, 0))] if len(data) else np.zeros(len(plain), np.uint8)
    plain &= first != 0xEF
    if dialect.comments:
        plain &= (first != ord("#")) & (first != ord(" "))
    _exclude(plain, at, np.flatnonzero(special[used]))
    if dialect.quote:
        _check_quotes(plain, used, at, ord(dialect.quote), ord(dialect.delimiter))
    return plain


def _exclude(plain: Bools, at: Ints, positions: Ints) -> None:
    positions = positions[positions >= at[0]]
    plain[np.searchsorted(at, positions, "right") - 1] = False


def _check_quotes(plain: Bools, data: Bytes, at: Ints, quote: int, delimiter: int) -> None:
    """A row stays plain when its quotes alternate between the start and the end of a field."""
    where = np.flatnonzero(data == quote)
    where = where[where >= at[0]]
    if len(where) == 0:
        return
    row = np.searchsorted(at, where, "right") - 1
    counts = np.bincount(row, minlength=len(plain))
    opens = (np.arange(len(where)) - np.repeat(np.cumsum(counts) - counts, counts)) % 2 == 0
    starts = (where == at[row]) | (data[np.maximum(where - 1, 0)] == delimiter)
    ends = (where + 1 == at[row + 1]) | (data[np.minimum(where + 1, len(data) - 1)] == delimiter)
    plain[row[~np.where(opens, starts, ends)]] = False
    plain &= counts % 2 == 0
