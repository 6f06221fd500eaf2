"""Which chunk a key belongs to, by the same comparison that cut the chunks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql.arrays import Ints
from rowkind.connectors.mysql.chunks import Chunk
from rowkind.connectors.mysql.connection import rows
from rowkind.connectors.mysql.keys import chunk_key, compared
from rowkind.connectors.mysql.schemas import TableSchema

if TYPE_CHECKING:
    import pymysql

PAIRS = 500
"""Comparisons in one statement."""


class ChunkIndex:
    """The chunks of one table, found by key. `chunks` are consecutive, in the order they were cut."""

    def __init__(self, schema: TableSchema, chunks: Sequence[Chunk]) -> None:
        self._key = chunk_key(schema, chunks[0].key)
        self._bounds = [bound for bound in (chunks[0].low, *(chunk.high for chunk in chunks)) if bound is not None]
        self._first = 0 if chunks[0].low is None else -1

    def places(self, connection: pymysql.Connection[Any], column: pa.Array) -> Ints:
        """The place of each key among the chunks; below the first it is -1, beyond the last their number."""
        texts = self._key.texts(column)
        different = sorted({text for text in texts if text is not None})
        found = self._found_here(different) if self._key.compared_here else self._found_there(connection, different)
        return np.array([0 if text is None else found[text] for text in texts], np.int64) + self._first

    def _found_here(self, texts: Sequence[str]) -> dict[str, int]:
        bounds = [self._key.comparable(bound) for bound in self._bounds]
        return {text: bisect_right(bounds, self._key.comparable(text)) for text in texts}

    def _found_there(self, connection: pymysql.Connection[Any], texts: Sequence[str]) -> dict[str, int]:
        """Halving for all keys at once: as many rounds as the number of chunks has bits."""
        low = dict.fromkeys(texts, 0)
        high = dict.fromkeys(texts, len(self._bounds))
        while open := [text for text in texts if low[text] < high[text]]:
            for first in range(0, len(open), PAIRS):
                asked = open[first : first + PAIRS]
                middles = [(low[text] + high[text]) // 2 for text in asked]
                statement = compared(self._key, asked, [self._bounds[middle] for middle in middles])
                for text, middle, above in zip(asked, middles, rows(connection, statement)[0], strict=True):
                    if above:
                        low[text] = middle + 1
                    else:
                        high[text] = middle
        return low
