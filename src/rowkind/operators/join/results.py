"""What a batch does to the result of a join, from the changed and the held rows of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Bools, Ints, group
from rowkind.operators.join.pairs import pairs
from rowkind.operators.join.residual import Residual
from rowkind.operators.join.sides import Changes, Held
from rowkind.operators.weighted import net_of
from rowkind.state.hashing import KeyHashes, concat_hashes, hash_rows


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows of one side that results are made of: changed ones, held ones, then loose ones, whose key is NULL.

    `weight` is what the batch adds or takes away of changed and loose rows, and the number of held ones.
    """

    rows: pa.Table
    key: Ints
    """Of changed and held rows."""
    weight: Ints
    identity: KeyHashes
    changed: int
    held: Held

    @staticmethod
    def of(changes: Changes, held: Held, loose: pa.Table, loose_weight: Ints, hashed: Sequence[str]) -> Pool:
        """`hashed` are the columns in the order in which the identity of rows was made of them."""
        columns = changes.rows.column_names
        return Pool(
            pa.concat_tables([changes.rows, held.entries.select(columns), loose]).combine_chunks(),
            np.concatenate([changes.key, held.key]),
            np.concatenate([changes.weight, held.weight, loose_weight]),
            concat_hashes(changes.identity, held.identity, hash_rows(loose, hashed)),
            len(changes.key),
            held,
        )


@dataclass(frozen=True, slots=True)
class Results:
    """Result rows as row numbers of the two pools, -1 for a side that is padded, and their weights."""

    left: Ints
    right: Ints
    weight: Ints


@dataclass(frozen=True, slots=True)
class Matched:
    """Whether each changed and held row of a pool matches anything, before (of held rows) and after the batch."""

    was: Bools
    now: Bools

    @staticmethod
    def by_key(pool: Pool, exists: tuple[Bools, Bools]) -> Matched:
        was, now = exists
        return Matched(was[pool.held.key], now[pool.key])

    @staticmethod
    def by_number(pool: Pool, matches: Ints) -> Matched:
        """From the matches of changed rows, and what changed in those of held rows."""
        total = matches.copy()
        total[pool.changed :] += pool.held.matches
        return Matched(pool.held.matches > 0, total > 0)


def alone(pool: Pool, matched: Matched, wanted: bool) -> tuple[Ints, Ints]:
    """Rows that appear by themselves, and their weights: those that match (`wanted`), or those that do not.

    Loose rows match nothing.
    """
    shown = (matched.now == wanted).astype(np.int64)
    shown[pool.changed :] -= matched.was == wanted
    weight = pool.weight.copy()
    weight[: len(shown)] *= shown
    weight[len(shown) :] *= not wanted
    rows = np.flatnonzero(weight)
    return rows, weight[rows]


def joined_pairs(left: Pool, right: Pool, keys: int, residual: Residual | None) -> tuple[Ints, Ints]:
    """Pairs of changed left rows with all right rows, and of held left rows with changed right rows."""
    found: list[tuple[Ints, Ints]] = []
    for a_rows, b_rows in (
        (np.arange(left.changed), np.arange(len(right.key))),
        (np.arange(left.changed, len(left.key)), np.arange(right.changed)),
    ):
        for a, b in pairs(left.key[a_rows], right.key[b_rows], keys):
            li, ri = a_rows[a], b_rows[b]
            if residual is not None:
                true = _holds(residual, left, right, li, ri)
                li, ri = li[true], ri[true]
            found.append((li, ri))
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *(li for li, _ in found)]), np.concatenate([none, *(ri for _, ri in found)])


def _holds(residual: Residual, left: Pool, right: Pool, li: Ints, ri: Ints) -> Bools:
    columns: dict[str, pa.ChunkedArray] = {}
    for pool, rows in ((left, li), (right, ri)):
        names = [name for name in residual.columns if name in pool.rows.column_names]
        taken = pool.rows.select(names).take(pa.array(rows)) if names else pa.table({})
        columns |= {name: taken.column(name) for name in names}
    return residual.evaluate(pa.table({name: columns[name] for name in residual.columns}))


def matches_of(pool: Pool, rows: Ints, weights: Ints) -> Ints:
    """How many matches the pairs bring to each changed and held row; for held ones it is a change."""
    total = np.zeros(len(pool.key), dtype=np.int64)
    np.add.at(total, rows, weights)
    return total


def net_results(left: Pool, right: Pool | None, parts: Sequence[Results]) -> Results:
    """The results, each once, those that cancel out left out."""
    li, ri, weight = (np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "weight"))
    ids = _numbers(left, li) * (len(right.weight) + 1 if right else 1)
    if right is not None:
        ids += _numbers(right, ri)
    net = net_of(ids, weight)
    return Results(li[net.position], ri[net.position], net.weight)


def _numbers(pool: Pool, rows: Ints) -> Ints:
    """Equal numbers for equal rows; 0 for none."""
    numbers = np.zeros(len(pool.weight) + 1, dtype=np.int64)
    numbers[:-1] = group(pool.identity).index + 1
    return numbers[rows]
