"""Envelopes that hold a row before and a row after the change, as those of Debezium and Oracle GoldenGate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from rowkind.formats.cdc.events import Events
from rowkind.formats.cdc.format import ChangeEnvelope
from rowkind.formats.cdc.images import Images, Meaning, Operation, missing, operations, unknown
from rowkind.types import STRING, Field, row

_BEFORE_IS_NULL = (
    'The "before" field of {} message is null; with a source that reads Postgres, the table needs REPLICA IDENTITY FULL'
)


class BeforeAfterEnvelope(ChangeEnvelope):
    """`before`, `after` and the operation, at the root or inside of `inside`."""

    def __init__(
        self,
        title: str,
        operation: str,
        names: Mapping[str, Operation],
        columns: Sequence[Field],
        metadata: Sequence[Field] = (),
        inside: str | None = None,
        root_metadata: Sequence[Field] = (),
    ) -> None:
        self.title = title
        self._operation = operation
        self._names = names
        self._inside = inside
        image = row(*columns)
        fields = (Field("before", image), Field("after", image), Field(operation, STRING), *metadata)
        self.fields = (*((Field(inside, row(*fields)),) if inside else fields), *root_metadata)

    def opened(self, events: Events) -> dict[str, pa.Array]:
        columns = dict(zip(events.columns.schema.names, events.columns.columns, strict=True))
        if self._inside is not None:
            wrapped = columns.pop(self._inside)
            columns |= dict(zip((f.name for f in wrapped.type), wrapped.flatten(), strict=True))
        return columns

    def meaning(self, events: Events) -> Meaning:
        columns = self.opened(events)
        named = columns[self._operation]
        codes = operations(named, self._names)
        images = Images(columns["before"], columns["after"], np.arange(len(named)))
        return Meaning(images, codes, missing(images, codes, self._complaint) | unknown(named, codes, self._operation))

    def _complaint(self, operation: Operation, before: bool) -> str:
        if before:
            return _BEFORE_IS_NULL.format(operation.name)
        return f'The "after" field of {operation.name} message is null'
