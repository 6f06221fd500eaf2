"""The fast way from JSON messages to columns, for the rows whose shape proves that the exact way says the same.

DuckDB parses the messages and hands out each field's token. It is more lenient than Jackson and keeps less of a
number's text, so a row is taken only when nothing of that can matter to it. Every other row is left to the exact path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.duck import compute
from rowkind.formats.json.cells import JsonReading
from rowkind.formats.json.nested import Doubts, Objects, taken
from rowkind.formats.json.tree import MAX_DEPTH, MAX_DIGITS, MAX_STRING
from rowkind.formats.spans import Bools, Ints, is_utf8, spans, valid
from rowkind.types import DataType, Field

MIN_ROWS = 128
"""A smaller batch is done sooner by the exact path."""
_LENIENT = r"(?i),[ \t\r\n]*[}\]]|[:\[,][ \t\r\n]*-?(?:nan|inf)"
"""What DuckDB takes for JSON and Jackson does not. Finding it inside a string only costs time."""
_MINUS_ZERO = r"-0[^.0-9eE]"
_BLANKS = np.frombuffer(b", \t\r\n", np.uint8)


@dataclass(frozen=True, slots=True)
class Fast:
    """Rows read, the message each came from (ascending), and the messages left to the exact path."""

    rows: pa.RecordBatch
    message: Ints
    left: Ints


class FastReader:
    """Reads whole batches of messages."""

    def __init__(
        self, columns: Sequence[Field], schema: pa.Schema, reading: JsonReading, least: int = MIN_ROWS
    ) -> None:
        self._schema = schema
        self._least = least
        self._possible = bool(columns) and all(c.name and _named(c.type) for c in columns)
        self._objects = Objects(columns, reading)

    def read(self, payloads: pa.BinaryArray) -> Fast:
        rows = _objects(payloads) if self._possible and len(payloads) >= self._least else np.empty(0, np.int64)
        texts = taken(payloads, rows).cast(pa.string())
        try:
            return self._read(texts, rows, len(payloads))
        except duckdb.Error:
            good = np.asarray(compute(texts, "json_valid(t)")[0].to_numpy(zero_copy_only=False), np.bool_)
            return self._read(texts.filter(pa.array(good)), rows[good], len(payloads))

    def _read(self, texts: pa.StringArray, rows: Ints, messages: int) -> Fast:
        if not len(rows):
            return Fast(pa.RecordBatch.from_pylist([], self._schema), rows, np.arange(messages))
        doubts = Doubts.none(len(texts))
        columns = self._objects.read(texts, np.arange(len(texts)), doubts)
        batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        odd = doubts.odd | _breaks_rules(texts, doubts)
        if odd.any():
            batch, rows = batch.filter(pa.array(~odd)), rows[~odd]
        left = np.ones(messages, np.bool_)
        left[rows] = False
        return Fast(batch, rows, np.flatnonzero(left))


def _named(type: DataType) -> bool:
    """DuckDB knows no field without a name."""
    inner = (type.element, *(f.type for f in type.fields))
    return all(f.name for f in type.fields) and all(_named(t) for t in inner if t)


def _objects(payloads: pa.BinaryArray) -> Ints:
    """The messages that begin as an object, in UTF-8."""
    data, at = spans(payloads)
    candidates = np.flatnonzero(valid(payloads) & (np.diff(at) > 1))
    rows: Ints = candidates[data[at[candidates]] == ord("{")]
    return rows[is_utf8(taken(payloads, rows))]


def _breaks_rules(texts: pa.StringArray, doubts: Doubts) -> Bools:
    """Messages that DuckDB has read and Jackson may refuse or read otherwise."""
    data, at = spans(texts)
    size = np.diff(at)
    # Without nested values and unknown keys, a comma too many can only stand at the end.
    lenient = doubts.lenient | np.isin(data[at[1:] - 2], _BLANKS) | (data[at[1:] - 1] != ord("}"))
    broken = size > MAX_STRING
    _mark(broken, texts, np.flatnonzero(lenient), lambda t: pc.match_substring_regex(t, _LENIENT))
    _mark(broken, texts, np.flatnonzero(doubts.zero), lambda t: pc.match_substring_regex(t, _MINUS_ZERO))
    _mark(broken, texts, np.flatnonzero(size > min(MAX_DEPTH, MAX_DIGITS)), _breaks_limits)
    return broken


def _mark(broken: Bools, texts: pa.StringArray, rows: Ints, test: Callable[[pa.StringArray], pa.BooleanArray]) -> None:
    if len(rows):
        found = np.asarray(test(taken(texts, rows)).to_numpy(zero_copy_only=False), np.bool_)
        broken[rows[found]] = True


def _breaks_limits(texts: pa.StringArray) -> pa.BooleanArray:
    brackets = pc.add(pc.count_substring(texts, "["), pc.count_substring(texts, "{"))
    long_number = pc.match_substring_regex(texts, rf"[0-9.eE+-]{{{MAX_DIGITS}}}")
    return pc.or_(pc.greater(brackets, MAX_DEPTH), long_number)
