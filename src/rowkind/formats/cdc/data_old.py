"""Envelopes that hold rows, and of updated ones the columns that changed: Maxwell's, and Canal's with several rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.cdc.events import Events, Root
from rowkind.formats.cdc.format import ChangeEnvelope
from rowkind.formats.cdc.images import Images, Meaning, Operation, completed, missing, operations, unknown
from rowkind.formats.duck import compute
from rowkind.formats.spans import Bools, Ints, valid
from rowkind.types import STRING, Field, array, row

DATA, OLD, TYPE = "data", "old", "type"
_OLD_TEXT = "CAST(json_extract(t, '$.old') AS VARCHAR)"


class DataOldEnvelope(ChangeEnvelope):
    """`data`, `old` and `type`. A column that `old` does not name has not changed; one that it gives as null was NULL.

    Flink looks for the name in all of `old`, other rows and nested objects included; here it is looked for in the very
    row, because otherwise an unchanged column of one row is lost when it changed in another.
    """

    def __init__(
        self,
        title: str,
        names: Mapping[str, Operation],
        columns: Sequence[Field],
        metadata: Sequence[Field] = (),
        several: bool = False,
    ) -> None:
        self.title = title
        self._names = names
        self._columns = [c.name for c in columns]
        self._several = several
        image = array(row(*columns)) if several else row(*columns)
        self.fields = (Field(DATA, image), Field(OLD, image), Field(TYPE, STRING), *metadata)

    def finish(self, root: Root, row: list[Any]) -> None:
        data, old = row[0], row[1]
        if data is None or old is None:
            return
        for now, was, given in zip(data, old, root[OLD], strict=False) if self._several else [(data, old, root[OLD])]:
            if now is not None and was is not None:
                named = {name for name, _ in given}
                was.update((name, now[name]) for name in self._columns if name not in named)

    def doubtful(self, texts: pa.StringArray, events: pa.RecordBatch) -> Bools:
        """Columns do not tell whether `old` has a null or leaves the column out."""
        rows = np.flatnonzero(valid(events.column(1)))
        found = np.zeros(len(texts), np.bool_)
        if len(rows):
            old = compute(texts.take(pa.array(rows)), _OLD_TEXT)[0]
            found[rows] = np.asarray(pc.match_substring(old, "null").fill_null(True).to_numpy(zero_copy_only=False))
        return found

    def opened(self, events: Events) -> dict[str, pa.Array]:
        return dict(zip(events.columns.schema.names, events.columns.columns, strict=True))

    def meaning(self, events: Events) -> Meaning:
        named = events.columns.column(2)
        codes = operations(named, self._names)
        images = self._images(events, codes)
        failures = missing(images, codes, self._complaint)
        if self._several:
            for i in np.flatnonzero((codes <= Operation.DELETE) & ~valid(events.columns.column(0))).tolist():
                failures[i] = self._complaint(Operation(int(codes[i])), False)
        return Meaning(images, codes, failures | unknown(named, codes, TYPE))

    def _images(self, events: Events, codes: Ints) -> Images:
        data, old, event = self._pairs(events.columns.column(0), events.columns.column(1))
        deleted = codes[event] == Operation.DELETE
        before = completed(old, data, events.exact[event])
        if deleted.any():
            both = pa.concat_arrays([before, data])
            before = both.take(pa.array(np.arange(len(event)) + np.where(deleted, len(event), 0)))
        return Images(before, data, event)

    def _pairs(self, data: pa.Array, old: pa.Array) -> tuple[pa.StructArray, pa.StructArray, Ints]:
        """Each row of `data` with its counterpart in `old`, null where there is none, and its event."""
        if not self._several:
            return data, old, np.arange(len(data))
        counts, available = _lengths(data), _lengths(old)
        event = np.repeat(np.arange(len(data)), counts)
        within = np.arange(len(event)) - np.repeat(np.cumsum(counts) - counts, counts)
        place = (np.cumsum(available) - available)[event] + within
        absent = within >= available[event]
        return data.flatten(), old.flatten().take(pa.array(place, mask=absent)), event

    def _complaint(self, operation: Operation, before: bool) -> str:
        field = OLD if before and operation is Operation.UPDATE else DATA
        part = "or one of its rows " if self._several else ""
        return f'the "{field}" field {part}of the {operation.name} message is null or missing'


def _lengths(lists: pa.ListArray) -> Ints:
    """How many elements each list has; a null one has none."""
    return np.asarray(pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False), np.int64)
