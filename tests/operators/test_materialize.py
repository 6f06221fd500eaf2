"""The sink's rows against a replay of what is live, by key of the sink, in order of arrival."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.changes import STALE
from rowkind.operators.materialize import Materialize, OnConflict
from tests.operators.harness import Change, Engine, Row, Table, delta_of
from tests.operators.tables import KIND, Changing, identity
from tests.seeds import seeds

INPUT = pa.schema([("pk", pa.string()), ("id", pa.int64()), ("v", pa.int32()), KIND])


def a_row(pk: str, id: int, v: int = 0) -> Row:
    return {"pk": pk, "id": id, "v": v}


def symbols(out: pa.Table) -> list[tuple[str, int]]:
    return [(RowKind(row[KIND_COLUMN]).symbol, row["id"]) for row in out.to_pylist()]


def insert(*rows: Row) -> pa.Table:
    return delta_of([(RowKind.INSERT, row) for row in rows], INPUT)


def delete(*rows: Row) -> pa.Table:
    return delta_of([(RowKind.DELETE, row) for row in rows], INPUT)


def test_the_newest_row_is_shown_and_then_the_one_before(tmp_path: Path) -> None:
    engine = Engine([Materialize(INPUT, ("pk",))], tmp_path)
    assert symbols(engine.batch(insert(a_row("a", 1)))) == [("+I", 1)]
    assert symbols(engine.batch(insert(a_row("a", 2), a_row("a", 3)))) == [("+U", 3)]
    assert symbols(engine.batch(delete(a_row("a", 2)))) == []
    assert symbols(engine.batch(delete(a_row("a", 3)))) == [("+U", 1)]
    assert symbols(engine.batch(delete(a_row("a", 1)))) == [("-D", 1)]
    assert not engine.counters[STALE]
    engine.batch(delete(a_row("a", 1)))
    assert engine.counters[STALE] == 1


def test_do_nothing_shows_the_first(tmp_path: Path) -> None:
    engine = Engine([Materialize(INPUT, ("pk",), on_conflict=OnConflict.NOTHING)], tmp_path)
    assert symbols(engine.batch(insert(a_row("a", 1), a_row("a", 2)))) == [("+I", 1)]
    assert symbols(engine.batch(insert(a_row("a", 3)))) == []
    assert symbols(engine.batch(delete(a_row("a", 1)))) == [("+U", 2)]


def test_error_names_the_key_and_leaves_a_batch_that_nets_out(tmp_path: Path) -> None:
    engine = Engine([Materialize(INPUT, ("pk",), on_conflict=OnConflict.ERROR, table="t")], tmp_path)
    assert symbols(engine.batch(insert(a_row("a", 1), a_row("b", 1)))) == [("+I", 1), ("+I", 1)]
    moved = [(RowKind.INSERT, a_row("a", 2)), (RowKind.DELETE, a_row("a", 1))]
    assert symbols(engine.batch(delta_of(moved, INPUT))) == [("+U", 2)]
    with pytest.raises(RowkindError) as error:
        engine.batch(insert(a_row("a", 3)))
    assert error.value.condition == "SINK_KEY_CONFLICT"
    assert error.value.params["key"] == "pk = 'a'"


@pytest.mark.parametrize("seed", seeds(12))
def test_random_changelogs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    by_id = rng.random() < 0.5
    on_conflict = rng.choice([OnConflict.DEDUPLICATE, OnConflict.NOTHING])
    engine = Engine([Materialize(INPUT, ("pk",), ("id",) if by_id else None, on_conflict)], tmp_path, 2, rng)
    source = Changing(
        rng, lambda: a_row(rng.choice("abc"), rng.randrange(8), rng.randrange(2)), ("id",) if by_id else None
    )
    live: list[Row] = []
    table = Table(("pk",), upsert=True)
    for _ in range(rng.randrange(3, 8)):
        # one change a row and batch, so that the replay need not know how changes of one row meet
        changes = source.changes(1) if by_id else source.changes(rng.choice([0, 1, 6]))
        table.apply(engine.batch(delta_of(changes, INPUT), tasks=rng.choice([1, 3])))
        live = live if by_id and unchanged(changes) else replay(live, changes)
        shown = {row["pk"]: row for row in (live if on_conflict is OnConflict.DEDUPLICATE else live[::-1])}
        assert Counter(map(identity, table.rows.values())) == Counter(map(identity, shown.values()))
    assert not engine.counters[STALE]


def unchanged(changes: list[Change]) -> bool:
    return len(changes) == 2 and changes[0][1] == changes[1][1]


def replay(live: list[Row], changes: list[Change]) -> list[Row]:
    live = [*live, *(row for kind, row in changes if kind.adds)]
    for kind, row in changes:
        if not kind.adds:
            live.remove(row)
    return live
