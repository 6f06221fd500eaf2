"""How texts of a job file's options are read, beyond what options of tables need."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rowkind.ingest.selectors import Selector, listed, selector
from rowkind.options.declarations import integer

MAX_SERVER_ID = 2**32 - 1


@dataclass(frozen=True, slots=True)
class ServerIds:
    """Ids under which connections register as replicas, both ends included.

    >>> len(server_ids("5400-5408"))
    9
    """

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __str__(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class ChunkKey:
    """The column by which tables are cut into chunks."""

    tables: Selector
    column: str


def server_ids(value: str) -> ServerIds:
    match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", value)
    if not match:
        raise ValueError("it is neither a number nor a range such as 5400-5408")
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= MAX_SERVER_ID:
        raise ValueError(f"ids run from 1 to {MAX_SERVER_ID}, the smaller end first")
    return ServerIds(first, last)


def chunk_keys(value: str) -> tuple[ChunkKey, ...]:
    """`database.table:column;database.table:column`."""
    found = []
    for part in value.split(";"):
        if not part.strip():
            continue
        tables, colon, column = part.partition(":")
        if not colon or ":" in column or not column.strip():
            raise ValueError(f"'{part.strip()}' is not of the form database.table:column")
        found.append(ChunkKey(selector(tables.strip()), column.strip()))
    return tuple(found)


def at_least(least: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        number = integer(value)
        if number < least:
            raise ValueError(f"it must be at least {least}")
        return number

    return parse


def port(value: str) -> int:
    number = integer(value)
    if not 1 <= number <= 65535:
        raise ValueError("a port is a number from 1 to 65535")
    return number


def fraction(least: float, most: float) -> Callable[[str], float]:
    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"'{value}' is not a number") from None
        if not least <= number <= most:
            raise ValueError(
                f"it must be from {least:g} to {most:g}" if most < 1e300 else f"it must be at least {least:g}"
            )
        return number

    return parse


def names(value: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(listed(value))


def filled(value: str) -> str:
    """A text that says something."""
    if not value.strip():
        raise ValueError("it is empty")
    return value


def metadata_names(value: str) -> tuple[str, ...]:
    found = names(value)
    for name in found:
        if name != "op_ts":
            raise ValueError(f"'{name}' cannot be found in mysql metadata; there is: op_ts")
    return found
