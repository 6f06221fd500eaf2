"""A table cut into chunks by ranges of one key column, one bound at a time, so that reading starts at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any, Self

from rowkind.connectors.mysql.connection import quoted, rows
from rowkind.connectors.mysql.keys import chunk_key, in_range
from rowkind.connectors.mysql.schemas import TableId, TableSchema

if TYPE_CHECKING:
    import pymysql

CHUNK_SIZE = 8096


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows whose key is at or above `low` and below `high`; None is no bound. Bounds are the key's text."""

    table: TableId
    index: int
    key: str
    low: str | None = None
    high: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "table": list(self.table)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        return cls(**{**record, "table": TableId(*record["table"])})

    def where(self, schema: TableSchema) -> str:
        return in_range(chunk_key(schema, self.key), self.low, self.high)


class ChunkSplitter:
    """Gives the chunks of one table in the order of their key."""

    def __init__(
        self,
        schema: TableSchema,
        key_column: str | None = None,
        size: int = CHUNK_SIZE,
        lower: float = 0.05,
        upper: float = 1000.0,
        state: dict[str, Any] | None = None,
    ) -> None:
        self._schema = schema
        self._key = chunk_key(schema, key_column)
        self._size, self._lower, self._upper = size, lower, upper
        self._state = dict(state or {"index": 0, "low": None, "done": False})

    @property
    def state(self) -> dict[str, Any]:
        """JSON from which another splitter goes on."""
        return dict(self._state)

    @property
    def table(self) -> str:
        return f"{quoted(self._schema.id.database)}.{quoted(self._schema.id.table)}"

    def next(self, connection: pymysql.Connection[Any]) -> Chunk | None:
        """The next chunk, or None when there are no more."""
        state = self._state
        if state["done"]:
            return None
        if "rows" not in state:
            state |= self._survey(connection)
        low = state["low"]
        high = self._even_bound(low) if state.get("step") else self._walked_bound(connection, low)
        chunk = Chunk(self._schema.id, state["index"], self._key.column.column.name, low, high)
        state |= {"index": state["index"] + 1, "low": high, "done": high is None}
        return chunk

    def estimate(self, connection: pymysql.Connection[Any]) -> int:
        """About how many chunks there will be."""
        if "rows" not in self._state:
            self._state |= self._survey(connection)
        state = self._state
        if state["max"] is None or state["min"] == state["max"]:
            return 1
        if state.get("step"):
            return int((Decimal(state["max"]) - Decimal(state["min"])) / Decimal(state["step"])) + 1
        return max(1, -(-int(state["rows"]) // self._size))

    def _survey(self, connection: pymysql.Connection[Any]) -> dict[str, Any]:
        """How the keys lie: their ends, about how many, and the step where they lie evenly."""
        id = self._schema.id
        estimated = rows(
            connection,
            "SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
            id.database,
            id.table,
        )
        count = int(estimated[0][0] or 0) if estimated else 0
        low, high = self._end(connection, ""), self._end(connection, " DESC")
        found: dict[str, Any] = {"rows": count, "min": low, "max": high, "step": None}
        if self._key.numeric and low is not None and high is not None and low != high and count > self._size:
            span = Decimal(high) - Decimal(low) + 1
            factor = span / count
            if Decimal(self._lower) <= factor <= Decimal(self._upper):
                step = (factor * self._size).to_integral_value(ROUND_CEILING)
                found["step"] = f"{max(step, Decimal(1)):f}"
        return found

    def _end(self, connection: pymysql.Connection[Any], direction: str) -> str | None:
        key = self._key
        found = rows(
            connection,
            f"SELECT {key.selected} FROM {self.table} WHERE {key.name} IS NOT NULL "
            f"ORDER BY {self._order(direction)} LIMIT 1",
        )
        return found[0][0] if found else None

    def _order(self, direction: str = "") -> str:
        # An ENUM or SET is ordered by its number as it is, which an index serves.
        return f"{self._key.name}{direction}"

    def _even_bound(self, low: str | None) -> str | None:
        state = self._state
        bound = Decimal(state["min"] if low is None else low) + Decimal(state["step"])
        return f"{bound:f}" if bound <= Decimal(state["max"]) else None

    def _walked_bound(self, connection: pymysql.Connection[Any], low: str | None) -> str | None:
        """The largest of the next so many keys, unless the chunk would be empty: then the next larger one."""
        state, key = self._state, self._key
        if state["max"] is None or state["min"] == state["max"]:
            return None
        above = f"{key.expression} >= {key.literal(low)}" if low is not None else f"{key.name} IS NOT NULL"
        found = self._one(connection, f"{above} ORDER BY {self._order()} LIMIT {self._size}, 1")
        if found is None:
            return None
        start = low if low is not None else state["min"]
        if not self._above(connection, found, start):
            found = self._one(connection, f"{key.expression} > {key.literal(start)} ORDER BY {self._order()} LIMIT 1")
        return found

    def _one(self, connection: pymysql.Connection[Any], rest: str) -> str | None:
        found = rows(connection, f"SELECT {self._key.selected} FROM {self.table} WHERE {rest}")
        return found[0][0] if found else None

    def _above(self, connection: pymysql.Connection[Any], text: str, start: str) -> bool:
        """Whether a key is above another one, by the server's own order."""
        key = self._key
        condition = f"{key.expression} > {key.literal(start)} AND {key.expression} <= {key.literal(text)}"
        return bool(rows(connection, f"SELECT 1 FROM {self.table} WHERE {condition} LIMIT 1"))
