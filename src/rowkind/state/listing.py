"""The listing of a version: which runs make up each table of an operator's partition. It is what makes files state.

A file that no listing names does not exist for readers, so leftovers of a batch that never finished are harmless.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from rowkind.state.files import Folder
from rowkind.state.sorted_run import Place, RunInfo


@dataclass(frozen=True, slots=True)
class Listing:
    """Runs by table, oldest first, and the definition each table was written with."""

    tables: dict[str, tuple[RunInfo, ...]] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    base: int | None = None
    """The version this one was built on."""

    @property
    def names(self) -> set[str]:
        return {run.name for runs in self.tables.values() for run in runs}


def listing_name(version: int) -> str:
    return f"{version}.json"


def write_listing(folder: Folder, version: int, listing: Listing, checkpoint: str = "") -> None:
    body = {
        "checkpoint": checkpoint,
        "base": listing.base,
        "definitions": listing.definitions,
        "tables": {
            table: [[run.first, run.last, run.rows, run.bytes, run.crc, run.clock, run.content] for run in runs]
            for table, runs in listing.tables.items()
        },
    }
    folder.write_bytes(listing_name(version), orjson.dumps(body))


def read_listing(folder: Folder, version: int, place: Place) -> Listing:
    """Of a committed version. It must be there, and be of this checkpoint: nothing else is ever taken for state."""
    path = folder.path(listing_name(version))
    try:
        body = orjson.loads(folder.read_bytes(listing_name(version)))
        if body["checkpoint"] != place.checkpoint:
            raise place.foreign(path, body["checkpoint"])
        return Listing(
            {table: tuple(RunInfo(table, *run) for run in runs) for table, runs in body["tables"].items()},
            body["definitions"],
            body["base"],
        )
    except FileNotFoundError:
        raise place.missing(path) from None
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise place.damaged(path, f"not a listing: {error}") from None
