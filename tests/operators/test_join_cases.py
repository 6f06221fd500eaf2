"""Joins, case by case: kinds of the output, what is counted, what is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkind.join_kind import JoinKind
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.changes import STALE, SUPPRESSED
from rowkind.operators.contract import BatchContext
from rowkind.operators.join.regular_join import DUPLICATE, Join
from rowkind.operators.join.sides import JoinSide, Multiplicity
from rowkind.state.contract import Found, State
from rowkind.state.hashing import KeyHashes
from rowkind.state.store import StateStore
from rowkind.state.table import StateTable
from tests.operators.harness import Engine, delta_of
from tests.operators.tables import KIND

LEFT = pa.schema([("k", pa.int64()), ("a", pa.string()), KIND])
RIGHT = pa.schema([("r", pa.int64()), ("b", pa.string()), KIND])
KINDS = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}


def rows(schema: pa.Schema, *changes: tuple[Any, ...]) -> pa.Table:
    """Changes written as (kind, value, value)."""
    names = schema.names[:-1]
    return delta_of([(KINDS[kind], dict(zip(names, values, strict=True))) for kind, *values in changes], schema)


def left(*changes: tuple[Any, ...]) -> pa.Table:
    return rows(LEFT, *changes)


def right(*changes: tuple[Any, ...]) -> pa.Table:
    return rows(RIGHT, *changes)


def shown(out: pa.Table) -> list[tuple[Any, ...]]:
    return [(RowKind(row.pop(KIND_COLUMN)).symbol, *row.values()) for row in out.to_pylist()]


def join(
    kind: JoinKind,
    left: Multiplicity = Multiplicity.ANY,
    right: Multiplicity = Multiplicity.ANY,
    ttl_ms: int = 0,
    **more: Any,
) -> Join:
    return Join(JoinSide(LEFT, ("k",), left, ttl_ms), JoinSide(RIGHT, ("r",), right, ttl_ms), kind, **more)


UNIQUE = (Multiplicity.ONE_PER_KEY, Multiplicity.ONE_PER_KEY)


def test_padding_is_updated_by_the_upsert_key(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.LEFT, *UNIQUE, upsert_key=("k",))], tmp_path)
    assert shown(engine.batch(left(("+I", 1, "x")), right())) == [("+I", 1, "x", None, None)]
    assert shown(engine.batch(left(), right(("+I", 1, "y")))) == [
        ("-U", 1, "x", None, None),
        ("+U", 1, "x", 1, "y"),
    ]
    both = engine.batch(left(("-U", 1, "x"), ("+U", 1, "z")), right(("-D", 1, "y")))
    assert shown(both) == [("-U", 1, "x", 1, "y"), ("+U", 1, "z", None, None)]
    assert shown(engine.batch(left(("-D", 1, "z")), right())) == [("-D", 1, "z", None, None)]


def test_without_update_before(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.INNER, *UNIQUE, upsert_key=("k",), update_before=False)], tmp_path)
    assert shown(engine.batch(left(("+I", 1, "x")), right(("+I", 1, "y")))) == [("+I", 1, "x", 1, "y")]
    assert shown(engine.batch(left(("+U", 1, "z")), right())) == [("+U", 1, "z", 1, "y")]
    assert shown(engine.batch(left(), right(("-D", 1, None)))) == [("-D", 1, "z", 1, "y")]


def test_repeated_rows_multiply(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.INNER)], tmp_path)
    out = engine.batch(left(("+I", 1, "x"), ("+I", 1, "x")), right(("+I", 1, "y"), ("+I", 1, "y")))
    assert shown(out) == [("+I", 1, "x", 1, "y")] * 4
    assert shown(engine.batch(left(("-D", 1, "x")), right(("-D", 1, "y")))) == [("-D", 1, "x", 1, "y")] * 3


def test_null_keys_match_nothing(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.FULL)], tmp_path)
    out = engine.batch(left(("+I", None, "x")), right(("+I", None, "y")))
    assert sorted(shown(out), key=str) == [("+I", None, "x", None, None), ("+I", None, None, None, "y")]
    assert shown(engine.batch(left(("-D", None, "x")), right())) == [("-D", None, "x", None, None)]


@pytest.mark.parametrize("sides", [UNIQUE, (Multiplicity.DISTINCT,) * 2, (Multiplicity.ANY,) * 2])
def test_an_update_that_changes_nothing_is_suppressed(tmp_path: Path, sides: tuple[Multiplicity, Multiplicity]) -> None:
    engine = Engine([join(JoinKind.LEFT, *sides)], tmp_path)
    engine.batch(left(("+I", 1, "x")), right(("+I", 1, "y")))
    assert shown(engine.batch(left(("-U", 1, "x"), ("+U", 1, "x")), right())) == []
    assert engine.counters[SUPPRESSED] == 1


@pytest.mark.parametrize("rows", [Multiplicity.ONE_PER_KEY, Multiplicity.ANY])
def test_a_retraction_without_a_row_is_counted(tmp_path: Path, rows: Multiplicity) -> None:
    engine = Engine([join(JoinKind.FULL, rows, rows)], tmp_path)
    engine.batch(left(("+I", 1, "x")), right())
    assert shown(engine.batch(left(("-D", 2, "x")), right(("-D", 1, "y")))) == []
    assert engine.counters[STALE] == 2


def test_a_second_row_of_a_unique_key_is_counted(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.LEFT, *UNIQUE)], tmp_path)
    out = engine.batch(left(("+I", 1, "x"), ("+I", 1, "z")), right())
    assert out.num_rows == 1
    assert engine.counters[DUPLICATE] == 1


def test_a_self_join_sees_each_change_on_both_sides(tmp_path: Path) -> None:
    engine = Engine([Join(JoinSide(LEFT, ("k",)), JoinSide(rename(LEFT), ("k2",)), JoinKind.INNER)], tmp_path)
    total = 0
    for changes, expected in [
        ([("+I", 1, "x")], 1),
        ([("+I", 1, "y")], 4),
        ([("-D", 1, "x"), ("+I", 1, "z"), ("+I", 1, "v")], 9),
    ]:
        out = engine.batch(left(*changes), rows(rename(LEFT), *changes))
        total += sum(1 if RowKind(kind).adds else -1 for kind in out.column(KIND_COLUMN).to_pylist())
        assert total == expected


def rename(schema: pa.Schema) -> pa.Schema:
    return pa.schema([f if f.name == KIND_COLUMN else f.with_name(f"{f.name}2") for f in schema])


def test_expired_rows_match_nothing(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.INNER, ttl_ms=1000)], tmp_path)
    engine.batch(left(("+I", 1, "x"), ("+I", 2, "x")), right(), clock_ms=0)
    assert engine.batch(left(), right(("+I", 1, "y")), clock_ms=999).num_rows == 1
    assert engine.batch(left(), right(("+I", 2, "y")), clock_ms=1000).num_rows == 0


def test_append_only_input_takes_nothing_back(tmp_path: Path) -> None:
    engine = Engine([join(JoinKind.INNER, Multiplicity.APPEND_ONLY, Multiplicity.APPEND_ONLY)], tmp_path)
    with pytest.raises(ValueError, match="append-only"):
        engine.batch(left(("-D", 1, "x")), right())


def test_keys_need_one_type() -> None:
    with pytest.raises(ValueError, match="types"):
        Join(JoinSide(LEFT, ("k",)), JoinSide(RIGHT, ("b",)), JoinKind.INNER)


class Counting:
    """A table that counts the entries that are read of it."""

    def __init__(self, table: StateTable, read: dict[str, int]) -> None:
        self.table, self.read, self.write = table, read, table.write

    def _counted(self, found: Found) -> Found:
        self.read[self.table.definition.name] += len(found.key_index)
        return found

    def lookup(self, keys: pa.Table | KeyHashes) -> Found:
        return self._counted(self.table.lookup(keys))

    def first(self, keys: pa.Table | KeyHashes, limit: Any, *, last: bool = False) -> Found:
        return self._counted(self.table.first(keys, limit, last=last))


class CountingStore(StateStore):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.read: dict[str, int] = {}

    def table(self, name: str, *args: Any, **more: Any) -> State:  # type: ignore[override]
        self.read.setdefault(name, 0)
        return Counting(super().table(name, *args, **more), self.read)


def reads(operator: Join, root: Path, batches: Sequence[tuple[pa.Table, pa.Table]]) -> dict[str, int]:
    """What the last of the batches reads, by table."""
    read: dict[str, int] = {}
    for version, deltas in enumerate(batches):
        store = CountingStore(str(root), "join", 0, version, base=version - 1 if version else None)
        exchanged = pa.concat_tables([operator.combine(delta, at) for at, delta in enumerate(deltas)])
        operator.process(exchanged, store, BatchContext(version))
        store.commit()
        read = store.read
    return read


HOT = 1000


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT, JoinKind.FULL, JoinKind.SEMI, JoinKind.ANTI])
def test_a_change_does_not_read_its_own_side_of_a_hot_key(tmp_path: Path, kind: JoinKind) -> None:
    hot = left(*(("+I", 1, str(n)) for n in range(HOT)))
    operator = join(kind, Multiplicity.DISTINCT, Multiplicity.ONE_PER_KEY)
    read = reads(operator, tmp_path, [(hot, right(("+I", 1, "y"))), (left(("+I", 1, "new"), ("-D", 1, "5")), right())])
    assert read["left"] <= 2, read
    assert read["right"] == 1, read


def test_semi_join_reads_rows_only_where_a_key_comes_or_goes(tmp_path: Path) -> None:
    hot = left(*(("+I", 1, str(n)) for n in range(HOT)))
    batches = [(hot, right(("+I", 1, "y"))), (left(), right(("+I", 1, "z"), ("+I", 2, "z")))]
    assert reads(join(JoinKind.SEMI), tmp_path, batches)["left"] == 0


def test_a_row_without_a_key_is_not_taken_for_one_whose_columns_hold_the_same_in_another_order(tmp_path: Path) -> None:
    """Found by a random query: (NULL, 1) with the key 1 and (1, NULL) with the key NULL became one row, twice."""
    pairs = pa.schema([("a", pa.int64()), ("k", pa.int64()), KIND])
    outer = Join(JoinSide(pairs, ("k",)), JoinSide(RIGHT, ("r",)), JoinKind.LEFT)
    out = Engine([outer], tmp_path, 1).batch(rows(pairs, ("+I", None, 1), ("+I", 1, None)), right())
    assert sorted(shown(out), key=repr) == [("+I", 1, None, None, None), ("+I", None, 1, None, None)]
