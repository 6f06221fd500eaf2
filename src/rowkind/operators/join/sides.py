"""The state of one side of a join: its rows by join key, and how many of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Bools, Groups, Ints, group
from rowkind.operators.join.two_sided import Side
from rowkind.state.hashing import KeyHashes, concat_hashes, extend

MATCHES = "__matches"


class Multiplicity(Enum):
    """What the planner knows of the rows of a side; the more, the less state and the fewer reads."""

    ONE_PER_KEY = "one per key"
    """The join key holds an upsert key of the side. Where it is that upsert key, there is at most one change of a key
    in a batch, and the key is never NULL (or the join drops such rows), old rows (-U) may be left out and a -D may
    lack the other columns."""
    DISTINCT = "distinct"
    """The side has an upsert key, so that no row is there twice."""
    APPEND_ONLY = "append-only"
    """Nothing is ever taken back."""
    ANY = "any"


@dataclass(frozen=True)
class JoinSide(Side):
    """One input of a join: its schema, the columns that must equal the other side's, and what is known of its rows."""

    rows: Multiplicity = Multiplicity.ANY
    ttl_ms: int = 0

    @property
    def others(self) -> list[str]:
        return [name for name in self.columns.names if name not in self.keys]


@dataclass(frozen=True, slots=True)
class Arrived:
    """The rows of a batch, not yet netted: the number of the join key of each, and its weight."""

    rows: pa.Table
    key: Ints
    weight: Ints


@dataclass(frozen=True, slots=True)
class Changes:
    """What the batch does to a side: distinct rows, how many come or go, how many there are afterwards."""

    rows: pa.Table
    key: Ints
    weight: Ints
    after: Ints
    identity: KeyHashes


@dataclass(frozen=True, slots=True)
class Held:
    """Rows of a side before the batch, as stored entries."""

    entries: pa.Table
    key: Ints
    weight: Ints
    matches: Ints
    """How many rows of the other side each one matched; 0 where that is not kept."""
    identity: KeyHashes

    def take(self, rows: Bools) -> Held:
        at = np.flatnonzero(rows)
        entries = self.entries.take(pa.array(at))
        return Held(entries, self.key[at], self.weight[at], self.matches[at], self.identity.take(at))


@dataclass(slots=True)
class Counts:
    """What a side noticed: rows whose changes cancelled out, retractions without a row, second rows of one key."""

    unchanged: int = 0
    stale: int = 0
    duplicate: int = 0


class SideState(Protocol):
    """One side in one batch. Key numbers are those of the batch's touched keys."""

    changes: Changes
    counts: Counts

    def rows(self, keys: Bools) -> Held:
        """The rows of the given keys before the batch."""
        ...

    def exists(self) -> tuple[Bools, Bools]:
        """For each key, whether the side has rows of it before and after the batch. Called after `rows`."""
        ...

    def write(self, matches: Ints | None = None, held: Held | None = None, held_matches: Ints | None = None) -> None:
        """Keep the changes, with the number of matches of each changed row and of each held row, if these are kept."""
        ...


def identities(keys: Groups, key: Ints, rows: pa.Table, columns: list[str]) -> KeyHashes:
    """Hashes of whole rows, of which the join key is hashed already."""
    hashes = keys.hashes.take(key)
    return extend(hashes, [rows.column(name) for name in columns]) if columns else hashes


class Netted(NamedTuple):
    """Distinct rows that arrived, as row numbers, with their sums; `cancelled` is how many cancelled out."""

    row: Ints
    key: Ints
    weight: Ints
    identity: KeyHashes
    cancelled: int
    again: KeyHashes
    """Of those that cancelled out."""
    again_key: Ints


def netted(arrived: Arrived, identity: KeyHashes) -> Netted:
    rows = group(identity)
    total = rows.sum(arrived.weight)
    keep, zero = np.flatnonzero(total), np.flatnonzero(total == 0)
    first = rows.first[keep]
    again = rows.hashes.take(zero), arrived.key[rows.first[zero]]
    return Netted(first, arrived.key[first], total[keep], rows.hashes.take(keep), len(zero), *again)


def among(hashes: KeyHashes, known: KeyHashes) -> Bools:
    """Which hashes are among the known ones."""
    if not len(hashes) or not len(known):
        return np.zeros(len(hashes), dtype=bool)
    both = group(concat_hashes(known, hashes))
    there = np.zeros(len(both), dtype=bool)
    there[both.index[: len(known)]] = True
    return there[both.index[len(known) :]]


def with_matches(held: Held, matches: Ints, chosen: Bools) -> Held:
    """The chosen rows whose number of matches changed, with the new number in their entries."""
    chosen = chosen & (matches != held.matches)
    rows = held.take(chosen)
    at = rows.entries.schema.get_field_index(MATCHES)
    entries = rows.entries.set_column(at, MATCHES, pa.array(matches[chosen]))
    return Held(entries, rows.key, rows.weight, rows.matches, rows.identity)
