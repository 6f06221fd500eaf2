"""JSON messages to rows: the exact path, row by row, and the place where the fast path's rows join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.formats.contract import BadMessage, Decoded
from rowkind.formats.json.cells import Cells, JsonReading
from rowkind.formats.json.fast_decode import FastReader
from rowkind.formats.json.tree import Members, Unreadable, parse, room_for, text_of
from rowkind.formats.row_schema import decoded_schema
from rowkind.types import Field


@dataclass(slots=True)
class Exact:
    """What the exact path made of some messages."""

    rows: list[list[Any]] = field(default_factory=list)
    message: list[int] = field(default_factory=list)
    bad: list[BadMessage] = field(default_factory=list)
    ignored: int = 0


class ExactReader:
    """Reads one message at a time, by the letter."""

    def __init__(self, columns: Sequence[Field], reading: JsonReading) -> None:
        self._reading = reading
        self._cells = Cells(reading)
        self._row = self._cells.row(columns)

    def read(self, payloads: pa.BinaryArray, indices: Iterable[int]) -> Exact:
        result = Exact()
        for index in indices:
            payload = payloads[index].as_py()
            if payload:
                self._read_one(index, payload, result)
        return result

    def _read_one(self, index: int, payload: bytes, result: Exact) -> None:
        before = self._cells.ignored
        try:
            rows = self._rows(payload)
        except ValueError as error:
            if self._reading.ignore_errors:
                result.ignored += 1
            else:
                result.bad.append(BadMessage(index, str(error)))
            return
        result.ignored += self._cells.ignored - before
        result.rows += rows
        result.message += [index] * len(rows)

    def _rows(self, payload: bytes) -> list[list[Any]]:
        text = text_of(payload)
        if not self._reading.streaming and not text.strip(" \t\r\n"):
            return []
        with room_for(text):
            value = parse(text)
            if value is None and not self._reading.streaming:
                return []
            if isinstance(value, list) and not isinstance(value, Members):
                return self._elements(value)
            return [self._row(value)]

    def _elements(self, elements: list[Any]) -> list[list[Any]]:
        """The rows of a top-level array; when errors are ignored, one bad element does not take the others along."""
        rows = []
        for position, element in enumerate(elements):
            try:
                rows.append(self._row(element))
            except ValueError as error:
                if not self._reading.ignore_errors:
                    raise Unreadable(f"element {position}: {error}") from None
                self._cells.ignored += 1
        return rows


class JsonDecoder:
    """Decodes a batch: the fast path takes the rows it can prove, the exact path the others."""

    def __init__(self, columns: Sequence[Field], reading: JsonReading) -> None:
        self.schema = decoded_schema(columns)
        self._exact = ExactReader(columns, reading)
        self._fast = FastReader(columns, self.schema, reading)

    def decode(self, payloads: pa.BinaryArray) -> Decoded:
        fast = self._fast.read(payloads)
        if fast.rows.num_rows == len(payloads):
            return Decoded(fast.rows)
        exact = self._exact.read(payloads, fast.left.tolist())
        rows = (
            pa.RecordBatch.from_arrays(
                [pa.array([row[i] for row in exact.rows], f.type) for i, f in enumerate(self.schema)],
                schema=self.schema,
            )
            if len(self.schema)
            else fast.rows
        )
        message = np.concatenate([fast.message, np.array(exact.message, np.int32)]).astype(np.int32)
        order = np.argsort(message, kind="stable")
        merged = pa.concat_batches([fast.rows, rows]).take(pa.array(order)) if len(exact.rows) else fast.rows
        whole = len(message) == len(payloads) and bool((message[order] == np.arange(len(payloads))).all())
        return Decoded(merged, None if whole else pa.array(message[order]), None, tuple(exact.bad), exact.ignored)
