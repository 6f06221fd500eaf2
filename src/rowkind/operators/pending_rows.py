"""Rows that wait until their window closes, by the time of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Ints, column_array, group
from rowkind.operators.timers import Now, by_close
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, hash_rows

_KEPT = pa.schema([("h1", pa.int64()), ("h2", pa.int64()), ("__sequence", pa.int64()), ("__weight", pa.int64())])


@dataclass(frozen=True, slots=True)
class PendingRows:
    """Rows of a changelog: how many of each, in which order they came, and when they are due."""

    rows: pa.Table
    weight: Ints
    sequence: Ints
    close: Ints

    def take(self, at: Ints) -> PendingRows:
        return PendingRows(self.rows.take(pa.array(at)), self.weight[at], self.sequence[at], self.close[at])


def release(given: PendingRows, name: str, state: StateTables, due: Ints, now: Now) -> tuple[PendingRows, Ints, int]:
    """Rows whose time has come, each once with its number; when the others are due; and retractions without a row.

    What stays is only written: rows that are taken back later meet those that they take back when the time comes.
    """
    schema = pa.schema([*_KEPT, *given.rows.schema])
    table = state.table(name, schema, ("close",), ("h1", "h2", "__sequence"))
    found = table.lookup(by_close(due))
    stays = np.flatnonzero(given.close > now.after)
    goes = given.take(np.flatnonzero(given.close <= now.after))
    stored = found.entries
    columns = stored.select(given.rows.column_names)
    numbers = [column_array(stored, name).to_numpy() for name in ("__weight", "__sequence")]
    together = PendingRows(
        pa.concat_tables([columns, goes.rows]).combine_chunks(),
        np.concatenate([numbers[0], goes.weight]),
        np.concatenate([numbers[1], goes.sequence]),
        np.concatenate([due[found.key_index], goes.close]),
    )
    left = _netted(given.take(stays))
    table.write(
        _entries(left, schema), stored, upsert_keys=by_close(left.close), delete_keys=by_close(due[found.key_index])
    )
    net = _netted(together)
    some = np.flatnonzero(net.weight > 0)
    return net.take(some), left.close, int(-net.weight[net.weight < 0].sum())


def _netted(waiting: PendingRows) -> PendingRows:
    """Equal rows once, at the place of the first that was added; those that cancel out left out."""
    rows = group(hash_rows(waiting.rows))
    net = rows.sum(waiting.weight)
    first = np.full(len(rows), np.iinfo(np.int64).max)
    adds = waiting.weight > 0
    np.minimum.at(first, rows.index[adds], waiting.sequence[adds])
    anyone = np.full(len(rows), np.iinfo(np.int64).max)
    np.minimum.at(anyone, rows.index, waiting.sequence)
    sequence = np.where(first < np.iinfo(np.int64).max, first, anyone)
    some = np.flatnonzero(net)
    at = rows.first[some]
    return PendingRows(waiting.rows.take(pa.array(at)), net[some], sequence[some], waiting.close[at])


def _entries(waiting: PendingRows, schema: pa.Schema) -> pa.Table:
    hashes: KeyHashes = hash_rows(waiting.rows)
    kept = [hashes.h1.view(np.int64), hashes.h2.view(np.int64), waiting.sequence, waiting.weight]
    return pa.Table.from_arrays([*map(pa.array, kept), *waiting.rows.columns], schema=schema)


def sequences(places: Ints, version: int) -> Ints:
    """Places in a batch's input as numbers that grow with the batches."""
    number = np.empty(len(places), dtype=np.int64)
    number[np.argsort(places, kind="stable")] = (version << 32) + np.arange(len(places))
    return number
